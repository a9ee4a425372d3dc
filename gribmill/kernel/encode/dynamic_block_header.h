/* How a block begins: the lengths of its codes, themselves coded, with codes that are made for them. */
#ifndef GRIBMILL_DYNAMIC_BLOCK_HEADER_H
#define GRIBMILL_DYNAMIC_BLOCK_HEADER_H

#include "code_lengths.h"
#include "bit_writer.h"

#define END_OF_BLOCK 256
#define DISTANCE_SYMBOLS 30

/* A length is told by itself, runs of one length and of zeros by these. */
#define SAME 16
#define ZEROS 17
#define MANY_ZEROS 18
#define TELLING_SYMBOLS 19
#define LEAST_SAME 3
#define MOST_SAME 6
#define LEAST_MANY 11
#define MOST_ZEROS 138
/* In which order the lengths of the codes for them are sent, and how many bits follow them. */
static const uint8_t ORDER[TELLING_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
static const uint8_t MORE_BITS[TELLING_SYMBOLS] = {[SAME] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7};

/* How many symbols the codes are told of: at least the literals and the end, and one distance. */
static inline unsigned told_symbols(const Code *symbols) { return symbols->symbols[symbols->used - 1] + 1u; }
static inline unsigned told_distances(const Code *distances) {
    return distances->used ? distances->symbols[distances->used - 1] + 1u : 1;
}

static inline void put_head(Output *output, const Code *symbols, const Code *distances, unsigned sent, int last) {
    const unsigned numbers = (told_symbols(symbols) - 257) | (told_distances(distances) - 1) << 5 | (sent - 4) << 10;
    put_number(output, (unsigned)last | 2 << 1 | numbers << 3, 17);
}

typedef struct {
    uint8_t symbol[MOST_SYMBOLS + DISTANCE_SYMBOLS + 2], more[MOST_SYMBOLS + DISTANCE_SYMBOLS + 2];
    unsigned size;
} Description;

static inline void describe_as(Description *self, unsigned symbol, unsigned more) {
    self->symbol[self->size] = (uint8_t)symbol;
    self->more[self->size++] = (uint8_t)more;
}

static inline void describe_run(Description *self, unsigned length, unsigned run) {
    if (run >= LEAST_SAME) {
        if (length) describe_as(self, length, 0), run--;
        for (const unsigned most = length ? MOST_SAME : MOST_ZEROS; run >= LEAST_SAME;) {
            const unsigned part = run < most ? run : most, symbol = length ? SAME : part < LEAST_MANY ? ZEROS : MANY_ZEROS;
            describe_as(self, symbol, part - (symbol == MANY_ZEROS ? LEAST_MANY : LEAST_SAME));
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

static inline void put_description(Output *output, const Code *symbols, const Code *distances, int last) {
    uint8_t all[MOST_SYMBOLS + DISTANCE_SYMBOLS];
    const unsigned first = told_symbols(symbols), size = first + told_distances(distances);
    memcpy(all, symbols->lengths, first);
    memcpy(all + first, distances->lengths, size - first);
    Description description = {.size = 0};
    describe(&description, all, size);
    uint32_t counts[TELLING_SYMBOLS] = {0};
    Code telling;
    for (unsigned i = 0; i < description.size; i++) counts[description.symbol[i]]++;
    make_code(&telling, counts, TELLING_SYMBOLS, 7);
    unsigned sent = TELLING_SYMBOLS;
    while (sent > 4 && !telling.lengths[ORDER[sent - 1]]) sent--;
    put_head(output, symbols, distances, sent, last);
    for (unsigned i = 0; i < sent; i++) put_number(output, telling.lengths[ORDER[i]], 3);
    Output self = *output;
    for (unsigned i = 0; i < description.size; i++) {
        const unsigned symbol = description.symbol[i], bits = telling.lengths[symbol];
        put_number(&self, telling.plain[symbol] | (uint64_t)description.more[i] << bits, bits + MORE_BITS[symbol]);
    }
    *output = self;
}

#endif
