/* Prefix codes with the canonical assignment of RFC 1951, section 3.2.2.

   A symbol with a share p of all deserves -log2(p) bits; that is rounded so that the codes just fill the code space.
   Huffman's algorithm gives codes that are a few thousandths smaller, and takes twice the time, which was a fifth of
   the time of a small array. */
#ifndef GRIBMILL_PREFIX_CODE_H
#define GRIBMILL_PREFIX_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rfc1951.h"

/* Deflate allows 15 bits. With 12, four literals take at most 48 bits, and fit into a word of 64 beside the incomplete
   byte before them. */
#define MAX_CODE_LENGTH 12
/* Fractions of a bit, in which ideal lengths are computed. */
#define FRACTION_BITS 10
#define ONE_BIT (1 << FRACTION_BITS)

typedef struct {
    /* The symbols that occur, in ascending order, and their code lengths. */
    unsigned used;
    uint16_t symbols[LITERAL_LENGTH_SYMBOLS];
    uint8_t used_lengths[LITERAL_LENGTH_SYMBOLS];
    /* By symbol: code length, 0 if it does not occur, and code, first bit lowest. */
    uint8_t lengths[LITERAL_LENGTH_SYMBOLS];
    uint16_t codes[LITERAL_LENGTH_SYMBOLS];
} PrefixCode;

/* log2 of a number below 2^24, in fractions of a bit, from its representation as a float; a parabola corrects the
   fraction. */
static inline int32_t log2_fraction(uint32_t number) {
    const float real = (float)(int32_t)number;
    int32_t bits;
    memcpy(&bits, &real, 4);
    bits = (bits >> (23 - FRACTION_BITS)) - 127 * ONE_BIT;
    const int32_t part = bits & (ONE_BIT - 1);
    return bits + (part * (ONE_BIT - part) * 355 >> 20);
}

/* The code length of a symbol with this ideal length, where all ideal lengths are shortened by `cut`. */
static inline int32_t rounded_length(int32_t ideal, int32_t cut, int32_t max_length) {
    const int32_t length = (ideal - cut) >> FRACTION_BITS;
    return length < 1 ? 1 : length < max_length ? length : max_length;
}

/* The code space that all codes take, in codes of the greatest length. */
static inline uint32_t space_taken(const int32_t *ideal, unsigned used, int32_t cut, int32_t max_length) {
    uint32_t taken = 0;
    for (unsigned i = 0; i < used; i++)
        taken += UINT32_C(1) << (max_length - rounded_length(ideal[i], cut, max_length));
    return taken;
}

/* The greatest cut with which all codes fit. It is negative where lengths that were limited to the maximum take so much
   space that others have to be longer. */
static inline int32_t greatest_cut(const int32_t *ideal, unsigned used, int32_t max_length) {
    int32_t cut = -ONE_BIT;
    for (int32_t step = ONE_BIT; step >= ONE_BIT / 32; step /= 2)
        if (space_taken(ideal, used, cut + step, max_length) <= UINT32_C(1) << max_length) cut += step;
    return cut;
}

/* Codes become a bit shorter, the shortest first, until no space is left: inflaters refuse an incomplete code. The
   longest codes can always take some of it, so that the loop ends. */
static inline void fill_space(uint8_t *lengths, unsigned used, uint32_t left, unsigned max_length) {
    for (unsigned length = 2; left; length = length < max_length ? length + 1 : 2) {
        const uint32_t more = UINT32_C(1) << (max_length - length);
        uint8_t *found = lengths;
        while (left >= more && (found = memchr(found, (int)length, used - (size_t)(found - lengths)))) {
            (*found)--;
            left -= more;
        }
    }
}

static inline uint32_t reverse16(uint32_t word) {
    word = (word & 0x5555) << 1 | (word >> 1 & 0x5555);
    word = (word & 0x3333) << 2 | (word >> 2 & 0x3333);
    word = (word & 0x0F0F) << 4 | (word >> 4 & 0x0F0F);
    return (word & 0xFF) << 8 | word >> 8;
}

/* Codes of one length are consecutive, and follow those of the shorter lengths. */
static inline void assign_codes(PrefixCode *self, unsigned symbols) {
    uint16_t next[MAX_CODE_LENGTH + 1] = {0}, codes[LITERAL_LENGTH_SYMBOLS];
    for (unsigned i = 0; i < self->used; i++) next[self->used_lengths[i]]++;
    unsigned code = 0;
    for (unsigned length = 1; length <= MAX_CODE_LENGTH; length++) {
        const unsigned count = next[length];
        code <<= 1;
        next[length] = (uint16_t)code;
        code += count;
    }
    for (unsigned i = 0; i < self->used; i++) codes[i] = next[self->used_lengths[i]]++;
    for (unsigned i = 0; i < self->used; i++)
        codes[i] = (uint16_t)(reverse16(codes[i]) >> (16 - self->used_lengths[i]));
    memset(self->lengths, 0, symbols);
    memset(self->codes, 0, symbols * sizeof *self->codes);
    for (unsigned i = 0; i < self->used; i++) {
        self->lengths[self->symbols[i]] = self->used_lengths[i];
        self->codes[self->symbols[i]] = codes[i];
    }
}

/* The code for symbols with these frequencies, no code longer than `max_length`. */
static inline void build_code(PrefixCode *self, const uint32_t *counts, unsigned symbols, unsigned max_length) {
    int32_t ideal[LITERAL_LENGTH_SYMBOLS];
    uint32_t all = 0, taken = 0;
    unsigned used = 0;
    for (unsigned i = 0; i < symbols; i++) {
        self->symbols[used] = (uint16_t)i;
        ideal[used] = (int32_t)counts[i];
        used += counts[i] != 0;
        all += counts[i];
    }
    self->used = used;
    const int32_t of_all = log2_fraction(all) + ONE_BIT - 1; /* lengths are rounded up */
    for (unsigned i = 0; i < used; i++) ideal[i] = of_all - log2_fraction((uint32_t)ideal[i]);
    const int32_t cut = greatest_cut(ideal, used, (int32_t)max_length);
    for (unsigned i = 0; i < used; i++) {
        const int32_t length = rounded_length(ideal[i], cut, (int32_t)max_length);
        self->used_lengths[i] = (uint8_t)length;
        taken += UINT32_C(1) << ((int32_t)max_length - length);
    }
    if (used > 1) fill_space(self->used_lengths, used, (UINT32_C(1) << max_length) - taken, max_length);
    assign_codes(self, symbols);
}

#endif
