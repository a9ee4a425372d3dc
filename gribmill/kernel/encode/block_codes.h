/* The two prefix codes of a deflate block: for literals and lengths, and for distances. */
#ifndef GRIBMILL_BLOCK_CODES_H
#define GRIBMILL_BLOCK_CODES_H

#include <stdint.h>
#include <string.h>

#include "bit_writer.h"
#include "prefix_code.h"
#include "rfc1951.h"

/* The maximum size of a block's header and end in bytes. */
#define BLOCK_OVERHEAD 512

typedef struct {
    uint32_t counts[LITERAL_LENGTH_SYMBOLS], distance_counts[DISTANCE_SYMBOLS];
    PrefixCode literals, distances;
} BlockCodes;

static inline void clear_counts(BlockCodes *self) {
    memset(self->counts, 0, sizeof self->counts);
    memset(self->distance_counts, 0, sizeof self->distance_counts);
}

static inline void build_block_codes(BlockCodes *self) {
    build_code(&self->literals, self->counts, LITERAL_LENGTH_SYMBOLS, MAX_CODE_LENGTH);
    build_code(&self->distances, self->distance_counts, DISTANCE_SYMBOLS, MAX_CODE_LENGTH);
}

static inline void put_symbol(BitWriter *writer, const PrefixCode *code, unsigned symbol) {
    put_bits(writer, code->codes[symbol], code->lengths[symbol]);
}

#endif
