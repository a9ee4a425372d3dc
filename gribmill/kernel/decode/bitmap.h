/* The bitmap: one bit for each point, set where it has a value. */
#ifndef GRIBMILL_BITMAP_H
#define GRIBMILL_BITMAP_H

#include "bit_reader.h"
#include "scaling.h"

#define BITMAP_FOLLOWS 0
#define NO_BITMAP 255

/* A bitmap, if `octets.bytes`, and the line of the grid that is at hand. */
typedef struct {
    Octets octets;
    uint32_t line;
} Bits;

/* How many of `count` points from `start` on have a value. */
static uint64_t count_present(Octets octets, uint64_t start, uint64_t count) {
    uint64_t present = 0;
    while (count) {
        const unsigned skip = (unsigned)(start & 7), whole = 64 - skip;
        const unsigned part = count < whole ? (unsigned)count : whole;
        const uint64_t word = word_at(octets, (size_t)(start >> 3)) << skip;
        present += ones(word >> (64 - part));
        start += part;
        count -= part;
    }
    return present;
}

static Verdict open_bitmap(Octets section, uint32_t points, uint32_t coded, Octets *bits) {
    if (section.bytes[5] == NO_BITMAP) return coded == points ? DONE : DECLINED_POINTS;
    if (section.bytes[5] != BITMAP_FOLLOWS) return DECLINED_BITMAP;
    const Octets found = {section.bytes + 6, section.size - 6};
    if ((uint64_t)found.size * 8 < points) return DECLINED_BITMAP;
    if (count_present(found, 0, points) > coded) return DECLINED_BITMAP;
    *bits = found;
    return DONE;
}

/* Puts values to the points that have one; NaN to the others. */
static void spread_present(Octets octets, uint64_t start, size_t count, const float *values, float *out) {
    const float nothing = not_a_number();
    size_t next = 0;
    for (size_t i = 0; i < count;) {
        const unsigned skip = (unsigned)(start & 7), whole = 64 - skip;
        const size_t part = count - i < whole ? count - i : whole;
        uint64_t word = word_at(octets, (size_t)(start >> 3)) << skip;
        for (size_t end = i + part; i < end; i++, word <<= 1) {
            const size_t present = (size_t)(word >> 63);
            /* One value more than there are may be looked at, never used: the buffer is a piece long. */
            out[i] = present ? values[next] : nothing;
            next += present;
        }
        start += part;
    }
}

#endif
