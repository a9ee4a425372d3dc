/* The kernel behind one name for each build of it. */
#ifndef GRIBMILL_TARGET_H
#define GRIBMILL_TARGET_H

#include "../gribmill/tiles/native/deflate.h"
#include "../gribmill/tiles/native/field.h"
#include "../gribmill/tiles/native/inflate.h"

int unpack_vector(const Task *task);
int unpack_scalar(const Task *task);
size_t deflate_vector(const uint8_t *words, size_t count, uint8_t *out, uint32_t *marks);
size_t deflate_scalar(const uint8_t *words, size_t count, uint8_t *out, uint32_t *marks);
int inflate_vector(const Part *parts, size_t count, uint8_t *out);
int inflate_scalar(const Part *parts, size_t count, uint8_t *out);

#endif
