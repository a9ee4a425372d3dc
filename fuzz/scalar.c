/* The kernel without any vector instructions. */
#define GRIBMILL_PORTABLE 1
#include "target.h"

int unpack_scalar(const Task *task) { return unpack_field(task); }

size_t deflate_scalar(const uint8_t *words, size_t count, uint8_t *out, uint32_t *marks) {
    static Deflater deflater;
    return deflate_block(&deflater, words, count, 1, out, marks);
}

int inflate_scalar(const Part *parts, size_t count, uint8_t *out) {
    static Known known[2];
    return inflate_parts(parts, count, out, known);
}
