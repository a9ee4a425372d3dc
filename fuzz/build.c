/* One build of the kernel behind names of its own. Compiled twice: as it is, with AVX2 where the processor has it, and
   with GRIBMILL_PORTABLE, without any vector instructions. */
#include "target.h"

#ifdef GRIBMILL_PORTABLE
#define NAMED(name) name##_scalar
#else
#define NAMED(name) name##_vector
#endif

int NAMED(unpack)(const Task *task) { return unpack_field(task); }

size_t NAMED(deflate)(const Words *words, uint8_t *out, uint32_t *marks) {
    static Deflater deflater;
    prepare();
    return deflate_block(&deflater, words, 1, out, marks);
}

int NAMED(encode)(Bench *bench, const Raw *raw, uint8_t *list, size_t *listed) {
    prepare();
    const int deflated = deflate_array(bench, raw);
    *listed = list_places(bench, raw, deflated, list);
    return deflated;
}

int NAMED(pack)(const float *values, size_t width, const PackedAs *how, uint16_t *row, uint16_t *out) {
    return pack_values(values, 1, width, how, row, out);
}

int NAMED(inflate)(const Part *parts, size_t count, uint8_t *out) {
    static Known known[2];
    return inflate_parts(parts, count, out, known);
}
