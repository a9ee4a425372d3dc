/* Prefix codes as deflate has them. A symbol that makes up a share of all is worth the logarithm of that share in bits:
   its code has so many, rounded where the codes just fill the room that there is. Joining the rarest, as Huffman has it,
   gives codes that are smaller by some thousandths, and takes twice the time: of a small array's, that was a fifth. */
#ifndef GRIBMILL_CODE_LENGTHS_H
#define GRIBMILL_CODE_LENGTHS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOST_SYMBOLS 286
/* Deflate may have codes of 15 bits. Of these, four literals take at most 48 bits, and a byte's rest before them leaves
   room in a word of 64. */
#define LONGEST_CODE 12
/* Parts of a bit, in which is told what a symbol is worth. */
#define WHOLE_BITS 10
#define ONE_BIT (1 << WHOLE_BITS)

/* The symbols that are used, in their order, and how long their codes are; and for every symbol its code, first bit
   lowest, and that code's length, which is none where the symbol is not used. */
typedef struct {
    unsigned used;
    uint16_t symbols[MOST_SYMBOLS];
    uint8_t used_lengths[MOST_SYMBOLS];
    uint8_t lengths[MOST_SYMBOLS];
    uint16_t plain[MOST_SYMBOLS];
} Code;

/* log2 of a number below 2^24, from its bits as a float: for the fraction, a parabola is near enough. */
static inline int32_t bits_to_tell(uint32_t number) {
    const float real = (float)(int32_t)number;
    int32_t bits;
    memcpy(&bits, &real, 4);
    bits = (bits >> (23 - WHOLE_BITS)) - 127 * ONE_BIT;
    const int32_t part = bits & (ONE_BIT - 1);
    return bits + (part * (ONE_BIT - part) * 355 >> 20);
}

/* Where all are spared a part of a bit. */
static inline int32_t length_of(int32_t worth, int32_t spared, int32_t longest) {
    const int32_t length = (worth - spared) >> WHOLE_BITS;
    return length < 1 ? 1 : length < longest ? length : longest;
}

/* How much all codes take of the room for 2^longest codes of the greatest length. */
static inline uint32_t all_room(const int32_t *worth, unsigned used, int32_t spared, int32_t longest) {
    uint32_t taken = 0;
    for (unsigned i = 0; i < used; i++) taken += UINT32_C(1) << (longest - length_of(worth[i], spared, longest));
    return taken;
}

/* The greatest part of a bit that all may be spared of. Lengths that are cut to the longest take too much: others may
   have to be a bit longer for it. */
static inline int32_t most_spared(const int32_t *worth, unsigned used, int32_t longest) {
    int32_t spared = -ONE_BIT;
    for (int32_t step = ONE_BIT; step >= ONE_BIT / 32; step /= 2)
        if (all_room(worth, used, spared + step, longest) <= UINT32_C(1) << longest) spared += step;
    return spared;
}

/* What is left of the room goes to codes that are then a bit shorter, the shortest first: inflaters want it all taken.
   The longest codes can always take some of it, so that it comes to an end. */
static inline void fill_room(uint8_t *lengths, unsigned used, uint32_t left, unsigned longest) {
    for (unsigned length = 2; left; length = length < longest ? length + 1 : 2) {
        const uint32_t more = UINT32_C(1) << (longest - length);
        uint8_t *found = lengths;
        while (left >= more && (found = memchr(found, (int)length, used - (size_t)(found - lengths)))) {
            (*found)--;
            left -= more;
        }
    }
}

static inline uint32_t mirrored16(uint32_t word) {
    word = (word & 0x5555) << 1 | (word >> 1 & 0x5555);
    word = (word & 0x3333) << 2 | (word >> 2 & 0x3333);
    word = (word & 0x0F0F) << 4 | (word >> 4 & 0x0F0F);
    return (word & 0xFF) << 8 | word >> 8;
}

/* Codes of one length follow each other, and those of the next length follow them. */
static inline void assign_codes(Code *self, unsigned symbols) {
    uint16_t next[LONGEST_CODE + 1] = {0}, codes[MOST_SYMBOLS];
    for (unsigned i = 0; i < self->used; i++) next[self->used_lengths[i]]++;
    unsigned code = 0;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        const unsigned own = next[length];
        code <<= 1;
        next[length] = (uint16_t)code;
        code += own;
    }
    for (unsigned i = 0; i < self->used; i++) codes[i] = next[self->used_lengths[i]]++;
    for (unsigned i = 0; i < self->used; i++) codes[i] = (uint16_t)(mirrored16(codes[i]) >> (16 - self->used_lengths[i]));
    memset(self->lengths, 0, symbols);
    memset(self->plain, 0, symbols * sizeof *self->plain);
    for (unsigned i = 0; i < self->used; i++) {
        self->lengths[self->symbols[i]] = self->used_lengths[i];
        self->plain[self->symbols[i]] = codes[i];
    }
}

/* The code for symbols that are so frequent, none longer than `longest`. */
static inline void make_code(Code *self, const uint32_t *counts, unsigned symbols, unsigned longest) {
    int32_t worth[MOST_SYMBOLS];
    uint32_t all = 0, taken = 0;
    unsigned used = 0;
    for (unsigned i = 0; i < symbols; i++) {
        self->symbols[used] = (uint16_t)i;
        worth[used] = (int32_t)counts[i];
        used += counts[i] != 0;
        all += counts[i];
    }
    self->used = used;
    const int32_t of_all = bits_to_tell(all) + ONE_BIT - 1; /* lengths are rounded up */
    for (unsigned i = 0; i < used; i++) worth[i] = of_all - bits_to_tell((uint32_t)worth[i]);
    const int32_t spared = most_spared(worth, used, (int32_t)longest);
    for (unsigned i = 0; i < used; i++) {
        const int32_t length = length_of(worth[i], spared, (int32_t)longest);
        self->used_lengths[i] = (uint8_t)length;
        taken += UINT32_C(1) << ((int32_t)longest - length);
    }
    if (used > 1) fill_room(self->used_lengths, used, (UINT32_C(1) << longest) - taken, longest);
    assign_codes(self, symbols);
}

#endif
