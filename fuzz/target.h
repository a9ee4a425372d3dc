/* The kernel behind one name for each build of it. */
#ifndef GRIBMILL_TARGET_H
#define GRIBMILL_TARGET_H

#include "../gribmill/kernel/decode/decode_field.h"
#include "../gribmill/kernel/encode/inflate.h"
#include "../gribmill/kernel/encode/requantize.h"
#include "../gribmill/kernel/encode/encode_array.h"

/* As the module does when it is imported. */
static inline void prepare(void) {
    if (crc_tables[0][1]) return;
    fill_crc_tables();
    fill_brief();
    fill_picks();
    fill_layouts();
}

int unpack_vector(const Task *task);
int unpack_scalar(const Task *task);
size_t deflate_vector(const Words *words, uint8_t *out, uint32_t *marks);
size_t deflate_scalar(const Words *words, uint8_t *out, uint32_t *marks);
int inflate_vector(const Part *parts, size_t count, uint8_t *out);
int inflate_scalar(const Part *parts, size_t count, uint8_t *out);
/* Whether the array was deflated; the list of places goes to `list`, its size to `listed`. */
int encode_vector(Bench *bench, const Raw *raw, uint8_t *list, size_t *listed);
int encode_scalar(Bench *bench, const Raw *raw, uint8_t *list, size_t *listed);
int pack_vector(const float *values, size_t width, const PackedAs *how, uint16_t *row, uint16_t *out);
int pack_scalar(const float *values, size_t width, const PackedAs *how, uint16_t *row, uint16_t *out);

#endif
