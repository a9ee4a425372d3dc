/* The kernel in two builds: `_vector` with AVX2 if the processor has it, `_scalar` without vector instructions. Both
   must give the same results. */
#ifndef GRIBMILL_BOTH_BUILDS_H
#define GRIBMILL_BOTH_BUILDS_H

#include <stdio.h>
#include <stdlib.h>

#include "../gribmill/kernel/decode/decode_field.h"
#include "../gribmill/kernel/encode/encode_array.h"
#include "../gribmill/kernel/encode/inflate.h"
#include "../gribmill/kernel/encode/requantize.h"

int decode_vector(const Field *field);
int decode_scalar(const Field *field);
size_t deflate_vector(const Words *words, uint8_t *out, uint32_t *segment_bits);
size_t deflate_scalar(const Words *words, uint8_t *out, uint32_t *segment_bits);
int inflate_vector(const Segment *segments, size_t count, uint8_t *out);
int inflate_scalar(const Segment *segments, size_t count, uint8_t *out);
/* Whether the array was deflated; the list of restart points goes to `list`, its size to `list_size`. */
int encode_vector(Workspace *work, const Array *array, uint8_t *list, size_t *list_size);
int encode_scalar(Workspace *work, const Array *array, uint8_t *list, size_t *list_size);
int requantize_vector(const float *values, size_t width, const Quantization *quantization, uint16_t *row,
                      uint16_t *out);
int requantize_scalar(const float *values, size_t width, const Quantization *quantization, uint16_t *row,
                      uint16_t *out);

static inline void fail(const char *reason) {
    fprintf(stderr, "%s\n", reason);
    abort();
}

/* At least one byte, so that NULL always means out of memory. */
static inline void *allocate(size_t size) {
    void *memory = calloc(size ? size : 1, 1);
    if (!memory) abort();
    return memory;
}

/* In memory of exactly its size, so that the sanitizer sees a read past the end. */
static inline ByteSpan exact_copy(const uint8_t *bytes, size_t size) {
    uint8_t *memory = allocate(size);
    if (size) memcpy(memory, bytes, size);
    return (ByteSpan){memory, size};
}

#endif
