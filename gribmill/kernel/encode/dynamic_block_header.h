/* The header of a block with dynamic codes (RFC 1951, section 3.2.7): HLIT, HDIST, HCLEN and the code lengths,
   themselves coded, here with a code length code that is built for them. */
#ifndef GRIBMILL_DYNAMIC_BLOCK_HEADER_H
#define GRIBMILL_DYNAMIC_BLOCK_HEADER_H

#include <stdint.h>
#include <string.h>

#include "bit_writer.h"
#include "prefix_code.h"
#include "rfc1951.h"

#define MAX_CODE_LENGTH_CODE 7
#define MAX_CODE_LENGTHS (LITERAL_LENGTH_SYMBOLS + DISTANCE_SYMBOLS)

/* How many code lengths are sent: up to the last symbol that occurs, which for literals and lengths is at least the end
   of the block; at least one for distances. */
static inline unsigned literal_length_count(const PrefixCode *code) { return code->symbols[code->used - 1] + 1u; }
static inline unsigned distance_count(const PrefixCode *code) {
    return code->used ? code->symbols[code->used - 1] + 1u : 1;
}

/* BFINAL, BTYPE, HLIT, HDIST, HCLEN. */
static inline void put_block_counts(BitWriter *writer, const PrefixCode *literals, const PrefixCode *distances,
                                    unsigned code_length_count, int final) {
    const unsigned hlit = literal_length_count(literals) - 257, hdist = distance_count(distances) - 1;
    const unsigned numbers = hlit | hdist << 5 | (code_length_count - 4) << 10;
    put_bits(writer, (unsigned) final | BTYPE_DYNAMIC << 1 | numbers << 3, 17);
}

/* Code lengths as symbols of the code length alphabet. */
typedef struct {
    uint8_t symbol[MAX_CODE_LENGTHS + 2], extra[MAX_CODE_LENGTHS + 2];
    unsigned size;
} RunLengths;

static inline void add_run_symbol(RunLengths *self, unsigned symbol, unsigned extra) {
    self->symbol[self->size] = (uint8_t)symbol;
    self->extra[self->size++] = (uint8_t)extra;
}

static inline void add_run(RunLengths *self, unsigned length, unsigned run) {
    if (run >= MIN_REPEAT) {
        if (length) add_run_symbol(self, length, 0), run--;
        for (const unsigned most = length ? MAX_COPY_PREVIOUS : MAX_REPEAT_ZERO; run >= MIN_REPEAT;) {
            const unsigned part = run < most ? run : most;
            const unsigned symbol = length ? COPY_PREVIOUS : part < MIN_REPEAT_LONG ? REPEAT_ZERO : REPEAT_ZERO_LONG;
            add_run_symbol(self, symbol, part - (symbol == REPEAT_ZERO_LONG ? MIN_REPEAT_LONG : MIN_REPEAT));
            run -= part;
        }
    }
    /* Zero, one or two are left: always writing two is cheaper than branching. */
    add_run_symbol(self, length, 0);
    add_run_symbol(self, length, 0);
    self->size -= 2 - run;
}

static inline void run_length_encode(RunLengths *self, const uint8_t *lengths, unsigned count) {
    uint16_t ends[MAX_CODE_LENGTHS];
    unsigned runs = 0, begin = 0;
    for (unsigned i = 1; i < count; i++) {
        ends[runs] = (uint16_t)i;
        runs += lengths[i] != lengths[i - 1];
    }
    ends[runs++] = (uint16_t)count;
    for (unsigned i = 0; i < runs; i++) {
        add_run(self, lengths[begin], ends[i] - begin);
        begin = ends[i];
    }
}

static inline void put_dynamic_header(BitWriter *writer, const PrefixCode *literals, const PrefixCode *distances,
                                      int final) {
    uint8_t lengths[MAX_CODE_LENGTHS];
    const unsigned first = literal_length_count(literals), count = first + distance_count(distances);
    memcpy(lengths, literals->lengths, first);
    memcpy(lengths + first, distances->lengths, count - first);
    RunLengths runs = {.size = 0};
    run_length_encode(&runs, lengths, count);
    uint32_t counts[CODE_LENGTH_SYMBOLS] = {0};
    PrefixCode code;
    for (unsigned i = 0; i < runs.size; i++) counts[runs.symbol[i]]++;
    build_code(&code, counts, CODE_LENGTH_SYMBOLS, MAX_CODE_LENGTH_CODE);
    unsigned sent = CODE_LENGTH_SYMBOLS;
    while (sent > 4 && !code.lengths[CODE_LENGTH_ORDER[sent - 1]]) sent--;
    put_block_counts(writer, literals, distances, sent, final);
    for (unsigned i = 0; i < sent; i++) put_bits(writer, code.lengths[CODE_LENGTH_ORDER[i]], 3);
    BitWriter self = *writer;
    for (unsigned i = 0; i < runs.size; i++) {
        const unsigned symbol = runs.symbol[i], bits = code.lengths[symbol];
        put_bits(&self, code.codes[symbol] | (uint64_t)runs.extra[i] << bits, bits + CODE_LENGTH_EXTRA_BITS[symbol]);
    }
    *writer = self;
}

#endif
