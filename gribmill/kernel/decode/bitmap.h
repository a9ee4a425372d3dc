/* Section 6: the bitmap, one bit for each grid point, set where the point has a value. */
#ifndef GRIBMILL_BITMAP_H
#define GRIBMILL_BITMAP_H

#include <stddef.h>
#include <stdint.h>

#include "../byte_reader.h"
#include "decode_status.h"
#include "scaling.h"

/* Bitmap indicator, code table 6.0. */
#define BITMAP_FOLLOWS 0
#define NO_BITMAP 255

/* How many of `count` points from `start` on have a value. */
static uint64_t count_present(ByteSpan bitmap, uint64_t start, uint64_t count) {
    uint64_t present = 0;
    while (count) {
        const unsigned skip = (unsigned)(start & 7), available = 64 - skip;
        const unsigned part = count < available ? (unsigned)count : available;
        const uint64_t word = be64_at(bitmap, (size_t)(start >> 3)) << skip;
        present += popcount64(word >> (64 - part));
        start += part;
        count -= part;
    }
    return present;
}

/* Leaves `bitmap` unchanged if the field has none. */
static DecodeStatus open_bitmap(ByteSpan section, uint32_t points, uint32_t packed_values, ByteSpan *bitmap) {
    if (section.bytes[5] == NO_BITMAP) return packed_values == points ? DECODED : DECLINED_POINTS;
    if (section.bytes[5] != BITMAP_FOLLOWS) return DECLINED_BITMAP;
    const ByteSpan found = {section.bytes + 6, section.size - 6};
    if ((uint64_t)found.size * 8 < points) return DECLINED_BITMAP;
    if (count_present(found, 0, points) > packed_values) return DECLINED_BITMAP;
    *bitmap = found;
    return DECODED;
}

/* Distributes values to the points that have one; the others become NaN. */
static void scatter_present(ByteSpan bitmap, uint64_t start, size_t count, const float *values, float *out) {
    const float missing = missing_float();
    size_t next = 0;
    for (size_t i = 0; i < count;) {
        const unsigned skip = (unsigned)(start & 7), available = 64 - skip;
        const size_t part = count - i < available ? count - i : available;
        uint64_t word = be64_at(bitmap, (size_t)(start >> 3)) << skip;
        for (size_t end = i + part; i < end; i++, word <<= 1) {
            const size_t present = (size_t)(word >> 63);
            /* May read one value too many, which is not used: the buffer has a value for every point. */
            out[i] = present ? values[next] : missing;
            next += present;
        }
        start += part;
    }
}

#endif
