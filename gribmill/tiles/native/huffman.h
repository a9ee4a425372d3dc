/* Prefix codes as deflate has them. A symbol that makes up a share of all is worth the logarithm of that share in bits:
   its code has so many, rounded where the codes just fill the room that there is. Joining the rarest, as Huffman has it,
   gives codes that are smaller by some thousandths, and takes twice the time: of a small array's, that was a fifth. */
#ifndef GRIBMILL_HUFFMAN_H
#define GRIBMILL_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOST_SYMBOLS 286
#define LONGEST_CODE 15
#define CODE_PARTS 4
/* Parts of a bit, in which is told what a symbol is worth. */
#define WHOLE_BITS 10
#define ONE_BIT (1 << WHOLE_BITS)
/* More than any symbol is worth. */
#define NOT_USED (INT32_MAX / 2)

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

/* Of the room for 2^longest codes of the greatest length, a code's part. */
static inline uint32_t room_of(int32_t worth, int32_t length, int32_t longest) {
    return worth == NOT_USED ? 0 : UINT32_C(1) << (longest - length);
}

static inline uint32_t all_room(const int32_t *worth, unsigned symbols, int32_t spared, int32_t longest) {
    uint32_t taken = 0;
    for (unsigned i = 0; i < symbols; i++) taken += room_of(worth[i], length_of(worth[i], spared, longest), longest);
    return taken;
}

/* The greatest part of a bit that all may be spared of. Lengths that are cut to the longest take too much: others may
   have to be a bit longer for it. */
static inline int32_t most_spared(const int32_t *worth, unsigned symbols, int32_t longest) {
    int32_t spared = -ONE_BIT;
    for (int32_t step = ONE_BIT; step >= ONE_BIT / 32; step /= 2)
        if (all_room(worth, symbols, spared + step, longest) <= UINT32_C(1) << longest) spared += step;
    return spared;
}

/* What is left of the room goes to those that can use it, first to those that nearly were a bit shorter: inflaters
   want it all taken. */
static inline void fill_room(const int32_t *worth, unsigned symbols, int32_t spared, uint32_t left, int32_t longest,
                             uint8_t *lengths) {
    while (left) {
        spared += ONE_BIT / 2;
        for (unsigned i = 0; left && i < symbols; i++) {
            const uint32_t more = UINT32_C(1) << (longest - lengths[i]);
            if (more > left || length_of(worth[i], spared, longest) >= lengths[i]) continue;
            lengths[i]--;
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

/* Symbols are gone through in four parts at once: each waits for the one before it with the same length. */
static inline void assign_codes(const uint8_t *lengths, unsigned symbols, uint16_t *codes) {
    uint8_t padded[MOST_SYMBOLS + CODE_PARTS] = {0};
    uint16_t next[CODE_PARTS][LONGEST_CODE + 1] = {{0}}, plain[MOST_SYMBOLS + CODE_PARTS];
    const unsigned size = (symbols + CODE_PARTS - 1) / CODE_PARTS;
    memcpy(padded, lengths, symbols);
    for (unsigned i = 0; i < size; i++)
        for (unsigned k = 0; k < CODE_PARTS; k++) next[k][padded[k * size + i]]++;
    unsigned code = 0;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        code <<= 1;
        for (unsigned k = 0; k < CODE_PARTS; k++) {
            const unsigned own = next[k][length];
            next[k][length] = (uint16_t)code;
            code += own;
        }
    }
    for (unsigned i = 0; i < size; i++)
        for (unsigned k = 0; k < CODE_PARTS; k++) plain[k * size + i] = next[k][padded[k * size + i]]++;
    for (unsigned i = 0; i < symbols; i++)
        codes[i] = (uint16_t)(lengths[i] ? mirrored16(plain[i]) >> (16 - lengths[i]) : 0);
}

/* The length and the code of every symbol, none longer than `longest`; no length where it is not used. */
static inline void make_code(const uint32_t *counts, unsigned symbols, unsigned longest, uint8_t *lengths, uint16_t *codes) {
    int32_t worth[MOST_SYMBOLS];
    uint32_t all = 0, taken = 0, used = 0;
    for (unsigned i = 0; i < symbols; i++) {
        all += counts[i];
        used += counts[i] != 0;
    }
    const int32_t of_all = bits_to_tell(all) + ONE_BIT - 1; /* lengths are rounded up */
    for (unsigned i = 0; i < symbols; i++) {
        const int32_t unused = -(int32_t)(counts[i] == 0);
        worth[i] = ((of_all - bits_to_tell(counts[i])) & ~unused) | (NOT_USED & unused);
    }
    const int32_t spared = most_spared(worth, symbols, (int32_t)longest);
    for (unsigned i = 0; i < symbols; i++) {
        const int32_t length = length_of(worth[i], spared, (int32_t)longest);
        lengths[i] = (uint8_t)(worth[i] == NOT_USED ? 0 : length);
        taken += room_of(worth[i], length, (int32_t)longest);
    }
    if (used > 1) fill_room(worth, symbols, spared, (UINT32_C(1) << longest) - taken, (int32_t)longest, lengths);
    assign_codes(lengths, symbols, codes);
}

#endif
