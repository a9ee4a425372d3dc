/* The kernel without any vector instructions. */
#define GRIBMILL_PORTABLE 1
#include "target.h"

int unpack_scalar(const Task *task) { return unpack_field(task); }

size_t deflate_scalar(const Words *words, uint8_t *out, uint32_t *marks) {
    static Deflater deflater;
    prepare();
    return deflate_block(&deflater, words, 1, out, marks);
}

int encode_scalar(Bench *bench, const Raw *raw, uint8_t *list, size_t *listed) {
    prepare();
    const int deflated = deflate_array(bench, raw);
    *listed = list_places(bench, raw, deflated, list);
    return deflated;
}

int pack_scalar(const float *values, size_t width, const PackedAs *how, uint16_t *row, uint16_t *out) {
    return pack_values(values, 1, width, how, row, out);
}

int inflate_scalar(const Part *parts, size_t count, uint8_t *out) {
    static Known known[2];
    return inflate_parts(parts, count, out, known);
}
