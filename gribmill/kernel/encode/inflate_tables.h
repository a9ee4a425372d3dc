/* The decoding tables of a block with dynamic codes (RFC 1951, section 3.2.7). */
#ifndef GRIBMILL_INFLATE_TABLES_H
#define GRIBMILL_INFLATE_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "dynamic_block_header.h"
#include "prefix_code.h"
#include "rfc1951.h"

#define TABLE_SIZE (1u << MAX_CODE_LENGTH)
/* An entry of a table: in the lowest byte the bits of the code and of its extra bits together; in the next four bits
   those of the code alone; from bit 16 on the least length or distance, or a literal, which has the top bit set. 0 is
   not a code. */
#define LITERAL_FLAG (UINT32_C(1) << 31)
#define ENTRY_BITS(entry) ((entry) & 63)
#define ENTRY_CODE_BITS(entry) ((entry) >> 8 & 15)
#define ENTRY_BASE(entry) ((entry) >> 16 & 0x7FFF)
#define ENTRY(extra_bits, base) ((uint32_t)(extra_bits) | (uint32_t)(base) << 16)
#define CODE_LENGTH(bits) ((uint32_t)(bits) << 8 | (uint32_t)(bits))
/* The least number of bits after a refill: more than any token takes. */
#define REFILLED_BITS 56

typedef struct {
    uint32_t literals[TABLE_SIZE], distances[TABLE_SIZE];
    uint32_t distance_mask;
} InflateTables;

typedef struct {
    const uint8_t *in, *in_end;
    uint64_t bits;  /* the next one lowest */
    unsigned count; /* only its lowest six bits are valid */
} BitSource;

/* Where eight bytes can be read. */
static inline void refill_fast(BitSource *self) {
    self->bits |= load_le64(self->in) << (self->count & 63);
    self->in += 7 - (self->count >> 3 & 7);
    self->count |= REFILLED_BITS;
}

/* Anywhere: zeros beyond the end. */
static inline void refill(BitSource *self) {
    if (self->in_end - self->in >= 8) {
        refill_fast(self);
        return;
    }
    for (self->count &= 63; self->count < REFILLED_BITS; self->count += 8)
        if (self->in < self->in_end) self->bits |= (uint64_t)*self->in++ << self->count;
}

static unsigned take(BitSource *self, unsigned bits) {
    refill(self);
    const unsigned number = (unsigned)self->bits & ((1u << bits) - 1);
    self->bits >>= bits;
    self->count -= bits;
    return number;
}

static void seek(BitSource *self, ByteSpan stream, uint64_t bit) {
    const size_t byte = bit >> 3 < stream.size ? (size_t)(bit >> 3) : stream.size;
    self->in = stream.bytes + byte;
    self->in_end = stream.bytes + stream.size;
    self->bits = self->count = 0;
    take(self, bit & 7);
}

/* A table of 2^(greatest code length) entries: the entry of a code is at every index whose lowest bits are the code.
   The table is doubled length by length, which repeats the shorter codes. Returns its size; 0 where the lengths are not
   those of a prefix code, or exceed MAX_CODE_LENGTH. */
static unsigned build_table(const uint8_t *lengths, unsigned symbols, const uint32_t *entries, uint32_t *table) {
    uint16_t ordered[LITERAL_LENGTH_SYMBOLS];
    unsigned start[MAX_CODE_LENGTH + 2] = {0}, taken = 0, size = 1, code = 0;
    for (unsigned i = 0; i < symbols; i++) {
        if (lengths[i] > MAX_CODE_LENGTH) return 0;
        start[lengths[i] + 1]++;
    }
    for (unsigned i = 1; i <= MAX_CODE_LENGTH; i++) {
        taken += start[i + 1] << (MAX_CODE_LENGTH - i);
        start[i + 1] += start[i];
    }
    if (taken > TABLE_SIZE) return 0;
    const unsigned unused = start[1];
    for (unsigned i = 0; i < symbols; i++) ordered[start[lengths[i]]++] = (uint16_t)i;
    table[0] = 0;
    for (unsigned i = unused; i < symbols; i++) {
        const unsigned symbol = ordered[i], length = lengths[symbol];
        for (; size < 1u << length; size *= 2) memcpy(table + size, table, size * sizeof *table);
        table[code] = entries[symbol] + CODE_LENGTH(length);
        /* The next code is one more, with its bits reversed. */
        unsigned bit = size / 2;
        for (; code & bit; bit /= 2) code ^= bit;
        code |= bit;
    }
    return size;
}

/* `wanted` code lengths, after the `sent` code lengths of their own code. */
static int read_code_lengths(BitSource *self, unsigned wanted, unsigned sent, uint8_t *lengths) {
    uint8_t own[CODE_LENGTH_SYMBOLS] = {0};
    uint32_t entries[CODE_LENGTH_SYMBOLS], table[1 << MAX_CODE_LENGTH_CODE];
    for (unsigned i = 0; i < sent; i++) own[CODE_LENGTH_ORDER[i]] = (uint8_t)take(self, 3);
    for (unsigned i = 0; i < CODE_LENGTH_SYMBOLS; i++) entries[i] = ENTRY(0, i);
    const unsigned size = build_table(own, CODE_LENGTH_SYMBOLS, entries, table);
    for (unsigned i = 0; size && i < wanted;) {
        refill(self);
        const uint32_t entry = table[self->bits & (size - 1)];
        const unsigned symbol = ENTRY_BASE(entry);
        if (!ENTRY_BITS(entry)) return 0;
        take(self, ENTRY_BITS(entry));
        if (symbol < COPY_PREVIOUS) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        const unsigned least = symbol == REPEAT_ZERO_LONG ? MIN_REPEAT_LONG : MIN_REPEAT;
        const unsigned run = least + take(self, CODE_LENGTH_EXTRA_BITS[symbol]);
        if (run > wanted - i || (symbol == COPY_PREVIOUS && !i)) return 0;
        memset(lengths + i, symbol == COPY_PREVIOUS ? lengths[i - 1] : 0, run);
        i += run;
    }
    return size != 0;
}

/* The tables of the block that begins here; 0 where it has no dynamic codes, or codes that deflate_block.h does not
   make. */
static int read_tables(BitSource *self, InflateTables *tables) {
    uint8_t lengths[MAX_CODE_LENGTHS];
    uint32_t entries[LITERAL_LENGTH_SYMBOLS];
    if (take(self, 3) >> 1 != BTYPE_DYNAMIC) return 0;
    const unsigned symbols = 257 + take(self, 5), distances = 1 + take(self, 5), sent = 4 + take(self, 4);
    if (symbols > LITERAL_LENGTH_SYMBOLS || distances > DISTANCE_SYMBOLS) return 0;
    if (!read_code_lengths(self, symbols + distances, sent, lengths)) return 0;
    for (unsigned i = 0; i < LITERALS; i++) entries[i] = ENTRY(0, i) | LITERAL_FLAG;
    entries[END_OF_BLOCK] = 0;
    for (unsigned i = 0, least = MIN_MATCH_BYTES; i < LENGTH_SYMBOLS; i++) {
        /* The last symbol is length 258, which is not one of whole words. */
        entries[FIRST_LENGTH_SYMBOL + i] = i + 1 < LENGTH_SYMBOLS ? ENTRY(LENGTH_EXTRA_BITS[i], least) : 0;
        least += 1u << LENGTH_EXTRA_BITS[i];
    }
    /* Always of full size, so that its mask is a constant. */
    uint32_t size = build_table(lengths, symbols, entries, tables->literals);
    for (; size && size < TABLE_SIZE; size *= 2)
        memcpy(tables->literals + size, tables->literals, size * sizeof(uint32_t));
    for (unsigned i = 0, least = 1; i < DISTANCE_SYMBOLS; i++) {
        entries[i] = ENTRY(distance_extra_bits(i), least);
        least += 1u << distance_extra_bits(i);
    }
    tables->distance_mask = build_table(lengths + symbols, distances, entries, tables->distances) - 1;
    return size && tables->distance_mask != UINT32_MAX;
}

#endif
