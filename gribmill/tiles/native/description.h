/* How a block begins: the lengths of its codes, themselves coded. And how bits are put out. */
#ifndef GRIBMILL_DESCRIPTION_H
#define GRIBMILL_DESCRIPTION_H

#include "huffman.h"

#define END_OF_BLOCK 256
#define DISTANCE_SYMBOLS 30

typedef struct {
    uint64_t bits; /* at the top */
    unsigned count;
    uint8_t *out;
} Output;

static inline void put(Output *self, uint64_t code, unsigned bits) {
    self->bits = self->bits >> bits | code;
    self->count += bits;
    const uint64_t word = self->bits >> (64 - self->count);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(self->out, &word, 8);
#else
    for (int i = 0; i < 8; i++) self->out[i] = (uint8_t)(word >> 8 * i);
#endif
    self->out += self->count >> 3;
    self->count &= 7;
}

static inline void put_number(Output *self, uint64_t number, unsigned bits) {
    if (bits) put(self, number << (64 - bits), bits);
}

static void to_byte(Output *self) { put_number(self, 0, (8 - self->count) & 7); }

/* The codes' lengths, themselves coded: runs of one length, and of zeros. */
typedef struct {
    uint8_t symbol[MOST_SYMBOLS + DISTANCE_SYMBOLS + 2], more[MOST_SYMBOLS + DISTANCE_SYMBOLS + 2];
    unsigned size;
} Description;

#define SAME 16
#define ZEROS 17
#define MANY_ZEROS 18
#define DESCRIPTION_SYMBOLS 19
/* In which order their own lengths are sent, and how many bits follow them. */
static const uint8_t ORDER[DESCRIPTION_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
static const uint8_t MORE_BITS[DESCRIPTION_SYMBOLS] = {[SAME] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7};

static inline void describe_as(Description *self, unsigned symbol, unsigned more) {
    self->symbol[self->size] = (uint8_t)symbol;
    self->more[self->size++] = (uint8_t)more;
}

static inline void describe_run(Description *self, unsigned length, unsigned run) {
    if (run > 2) {
        if (length) describe_as(self, length, 0), run--;
        for (const unsigned most = length ? 6 : 138; run > 2;) {
            const unsigned part = run < most ? run : most, symbol = length ? SAME : part < 11 ? ZEROS : MANY_ZEROS;
            describe_as(self, symbol, part - (symbol == MANY_ZEROS ? 11 : 3));
            run -= part;
        }
    }
    /* None, one or two: both are written, which takes less than to ask. */
    describe_as(self, length, 0);
    describe_as(self, length, 0);
    self->size -= 2 - run;
}

static inline void describe(Description *self, const uint8_t *all, unsigned size) {
    uint16_t ends[MOST_SYMBOLS + DISTANCE_SYMBOLS];
    unsigned runs = 0, begin = 0;
    for (unsigned i = 1; i < size; i++) {
        ends[runs] = (uint16_t)i;
        runs += all[i] != all[i - 1];
    }
    ends[runs++] = (uint16_t)size;
    for (unsigned i = 0; i < runs; i++) {
        describe_run(self, all[begin], ends[i] - begin);
        begin = ends[i];
    }
}

static inline void put_description(Output *output, const uint8_t *of_symbols, const uint8_t *of_distances, int last) {
    uint8_t all[MOST_SYMBOLS + DISTANCE_SYMBOLS], lengths[DESCRIPTION_SYMBOLS];
    unsigned symbols = MOST_SYMBOLS, distances = DISTANCE_SYMBOLS, sent = DESCRIPTION_SYMBOLS;
    while (symbols > END_OF_BLOCK + 1 && !of_symbols[symbols - 1]) symbols--;
    while (distances > 1 && !of_distances[distances - 1]) distances--;
    memcpy(all, of_symbols, symbols);
    memcpy(all + symbols, of_distances, distances);
    Description description = {.size = 0};
    describe(&description, all, symbols + distances);
    uint32_t counts[2][DESCRIPTION_SYMBOLS] = {{0}};
    uint16_t codes[DESCRIPTION_SYMBOLS];
    for (unsigned i = 0; i < description.size; i++) counts[i % 2][description.symbol[i]]++;
    for (unsigned i = 0; i < DESCRIPTION_SYMBOLS; i++) counts[0][i] += counts[1][i];
    make_code(counts[0], DESCRIPTION_SYMBOLS, 7, lengths, codes);
    while (sent > 4 && !lengths[ORDER[sent - 1]]) sent--;
    put_number(output, (unsigned)last | 2 << 1, 3);
    put_number(output, (symbols - 257) | (distances - 1) << 5 | (sent - 4) << 10, 14);
    for (unsigned i = 0; i < sent; i++) put_number(output, lengths[ORDER[i]], 3);
    Output self = *output;
    for (unsigned i = 0; i < description.size; i++) {
        const unsigned symbol = description.symbol[i], bits = lengths[symbol];
        put_number(&self, codes[symbol] | (uint64_t)description.more[i] << bits, bits + MORE_BITS[symbol]);
    }
    *output = self;
}

#endif
