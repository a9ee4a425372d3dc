/* Prefix codes as deflate has them: lengths from counts, then the codes themselves, first bit lowest. */
#ifndef GRIBMILL_HUFFMAN_H
#define GRIBMILL_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOST_SYMBOLS 286
#define LONGEST_CODE 15

/* The used symbols, rarest first, as count << 9 | symbol: two passes over the bytes of 16-bit counts. In a small array
   nearly all counts fit a byte: those that do not are then put in their places one by one. */
static inline unsigned by_count(const uint32_t *counts, unsigned symbols, uint32_t *sorted) {
    uint32_t used[MOST_SYMBOLS + 1], large[MOST_SYMBOLS + 1];
    uint16_t places[257] = {0};
    unsigned size = 0, larger = 0;
    for (unsigned i = 0; i < symbols; i++) {
        const uint32_t count = counts[i];
        places[count < 256 ? count : 0]++;
        used[size] = large[larger] = (count < UINT16_MAX ? count : UINT16_MAX) << 9 | i;
        size += count - 1 < 255;
        larger += count > 255;
    }
    uint32_t place = 0;
    for (unsigned i = 1; i < 256; i++) {
        const uint32_t own = places[i];
        places[i] = (uint16_t)place;
        place += own;
    }
    for (unsigned i = 0; i < size; i++) sorted[places[used[i] >> 9]++] = used[i];
    for (unsigned i = 0; i < larger; i++) {
        unsigned lesser = size;
        for (unsigned j = 0; j < larger; j++) lesser += large[j] < large[i];
        sorted[lesser] = large[i];
    }
    return size + larger;
}

/* How many codes of each length, none longer than `longest`: the two rarest nodes are joined until one is left. */
static void count_lengths(const uint32_t *sorted, unsigned size, unsigned longest, uint32_t *of_length) {
    uint32_t weight[2 * MOST_SYMBOLS];
    uint16_t parent[2 * MOST_SYMBOLS], depth[2 * MOST_SYMBOLS];
    unsigned leaf = 0, joined = size;
    const unsigned root = 2 * size - 2;
    for (unsigned i = 0; i < size; i++) weight[i] = sorted[i] >> 9;
    for (unsigned node = size; node <= root; node++) {
        weight[node] = 0;
        for (int k = 0; k < 2; k++) {
            const unsigned child = leaf < size && (joined >= node || weight[leaf] <= weight[joined]) ? leaf++ : joined++;
            parent[child] = (uint16_t)node;
            weight[node] += weight[child];
        }
    }
    uint32_t taken = 0; /* of the 2^longest codes of the greatest length */
    depth[root] = 0;
    for (unsigned i = root; i-- > 0;) {
        depth[i] = (uint16_t)(depth[parent[i]] + 1);
        if (i >= size) continue;
        const unsigned length = depth[i] < longest ? depth[i] : longest;
        of_length[length]++;
        taken += UINT32_C(1) << (longest - length);
    }
    /* Codes that were cut short take too much: a shorter one grows by a bit and lets one of them in beside it. */
    for (; taken > UINT32_C(1) << longest; taken--) {
        unsigned length = longest - 1;
        while (!of_length[length]) length--;
        of_length[length]--;
        of_length[length + 1] += 2;
        of_length[longest]--;
    }
}

static void code_lengths(const uint32_t *counts, unsigned symbols, unsigned longest, uint8_t *lengths) {
    uint32_t sorted[MOST_SYMBOLS], of_length[LONGEST_CODE + 1] = {0};
    const unsigned size = by_count(counts, symbols, sorted);
    memset(lengths, 0, symbols);
    if (size == 1) of_length[1] = 1;
    if (size > 1) count_lengths(sorted, size, longest, of_length);
    unsigned next = 0;
    for (unsigned length = longest; length > 0; length--)
        for (uint32_t k = 0; k < of_length[length]; k++) lengths[sorted[next++] & 511] = (uint8_t)length;
}

static inline uint32_t mirrored16(uint32_t word) {
    word = (word & 0x5555) << 1 | (word >> 1 & 0x5555);
    word = (word & 0x3333) << 2 | (word >> 2 & 0x3333);
    word = (word & 0x0F0F) << 4 | (word >> 4 & 0x0F0F);
    return (word & 0xFF) << 8 | word >> 8;
}

static void assign_codes(const uint8_t *lengths, unsigned symbols, uint16_t *codes) {
    uint32_t of_length[LONGEST_CODE + 1] = {0}, next[LONGEST_CODE + 1], code = 0;
    for (unsigned i = 0; i < symbols; i++) of_length[lengths[i]]++;
    of_length[0] = 0;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        code = (code + of_length[length - 1]) << 1;
        next[length] = code;
    }
    for (unsigned i = 0; i < symbols; i++)
        codes[i] = lengths[i] ? (uint16_t)(mirrored16(next[lengths[i]]++) >> (16 - lengths[i])) : 0;
}

#endif
