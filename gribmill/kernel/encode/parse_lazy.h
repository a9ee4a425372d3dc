/* The smaller and slower deflate of `compact`, for small arrays: matches of any bytes, with lazy evaluation (a match is
   only used where none that begins a byte later is better). Fields repeat whole words, so that bytes are only matched
   with bytes at the same position within a word, which skips most chance matches. */
#ifndef GRIBMILL_PARSE_LAZY_H
#define GRIBMILL_PARSE_LAZY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "../cpu.h"
#include "bit_writer.h"
#include "block_codes.h"
#include "dynamic_block_header.h"
#include "rfc1951.h"

/* The size of deflate's window: distances need no limit, and positions fit 16 bits. */
#define MAX_LAZY_BYTES 32768
#define LAZY_HASH_BITS 14
/* How many earlier positions are tried, from which length on a match is good enough, and how near one of three bytes
   has to be: its distance would take more bits than three literals. */
#define MAX_CHAIN 10
#define NICE_LENGTH 32
#define MAX_SHORT_DISTANCE 4096
/* No matches begin in the last bytes, so that sixteen can always be read. */
#define LAZY_TAIL 16
/* A match of three bytes takes less than twice as much, whatever its codes are. */
#define LAZY_BOUND(size) (2 * (size) + BLOCK_OVERHEAD)

/* Positions count from 1: 0 stands for none. */
typedef struct {
    uint16_t last_three[1 << LAZY_HASH_BITS], last_six[1 << LAZY_HASH_BITS]; /* by hash: the last position */
    uint16_t three[MAX_LAZY_BYTES],
        six[MAX_LAZY_BYTES]; /* by position: the last one with the same three or six bytes */
    uint32_t tokens[MAX_LAZY_BYTES];
    const uint8_t *bytes;
    uint32_t size, count; /* of bytes, and of tokens */
} LazyParser;

/* Length 0 for none. */
typedef struct {
    uint32_t length, distance;
} ByteMatch;

static inline unsigned top_bit(uint32_t number) { return 31u - (unsigned)__builtin_clz(number); }

/* Counted from the first length symbol. */
static inline unsigned length_symbol(unsigned length) {
    const unsigned excess = length - MIN_MATCH_BYTES;
    if (excess < 8) return excess;
    if (length == MAX_MATCH_BYTES) return LENGTH_SYMBOLS - 1;
    return 4 * (top_bit(excess) - 1) + (excess >> (top_bit(excess) - 2) & 3);
}

static inline unsigned distance_symbol(unsigned distance) {
    const unsigned excess = distance - 1;
    return excess < 4 ? excess : 2 * top_bit(excess) + (excess >> (top_bit(excess) - 1) & 1);
}

/* The first three or six of eight bytes. */
#define FIRST_THREE(bytes) ((bytes) << 40)
#define FIRST_SIX(bytes) ((bytes) << 16)

/* With the position within a word; the factor is 2^64 divided by the golden ratio. */
static inline uint32_t hash_bytes(uint64_t bytes, uint32_t position) {
    return (uint32_t)((bytes | (position & 3)) * UINT64_C(0x9E3779B185EBCA87) >> (64 - LAZY_HASH_BITS));
}

/* Whether sixteen bytes repeat the word before them. */
static inline int repeats_word(const uint8_t *here) {
    return load_le64(here) == load_le64(here - 4) && load_le64(here + 8) == load_le64(here + 4);
}

/* Fills `three` and `six` for all positions before anything is parsed, so that no lookup waits for a token. */
static inline void link_positions(LazyParser *self, uint32_t end) {
    memset(self->last_three, 0, sizeof self->last_three);
    memset(self->last_six, 0, sizeof self->last_six);
    for (uint32_t position = 1; position < end; position++) {
        if (position > 4 && repeats_word(self->bytes + position)) {
            self->three[position] = self->six[position] = (uint16_t)(position - 4);
            continue;
        }
        const uint64_t bytes = load_le64(self->bytes + position);
        uint16_t *last_three = self->last_three + hash_bytes(FIRST_THREE(bytes), position);
        uint16_t *last_six = self->last_six + hash_bytes(FIRST_SIX(bytes), position);
        const uint32_t three = *last_three, six = *last_six;
        *last_three = *last_six = (uint16_t)position;
        /* Other bytes may have the same hash. */
        const uint32_t same_three = FIRST_THREE(load_le64(self->bytes + three) ^ bytes) == 0;
        const uint32_t same_six = FIRST_SIX(load_le64(self->bytes + six) ^ bytes) == 0;
        self->three[position] = (uint16_t)(three & (0u - same_three));
        self->six[position] = (uint16_t)(six & (0u - same_six));
    }
}

/* How many bytes are equal, of `most` at most; the first `length` are known to be. */
static inline uint32_t equal_bytes(const uint8_t *here, const uint8_t *there, uint32_t length, uint32_t most) {
    for (; length + 8 <= most; length += 8) {
        const uint64_t difference = load_le64(here + length) ^ load_le64(there + length);
        if (difference) return length + (uint32_t)(__builtin_ctzll(difference) >> 3);
    }
    while (length < most && here[length] == there[length]) length++;
    return length;
}

/* The longest match, of more than `least` bytes, at a position where there is one of three bytes: with the last
   position of the same three bytes, or with one of those of the same six. */
static inline ByteMatch longest_match(const LazyParser *self, uint32_t position, uint32_t least, int chain) {
    const uint32_t left = self->size - position, most = left < MAX_MATCH_BYTES ? left : MAX_MATCH_BYTES;
    const uint32_t three = self->three[position], enough = most < NICE_LENGTH ? most : NICE_LENGTH;
    const uint8_t *here = self->bytes + position;
    ByteMatch best = {least, 0};
    const uint32_t first = equal_bytes(here, self->bytes + three, MIN_MATCH_BYTES, most);
    if (first > least && (first > MIN_MATCH_BYTES || position - three <= MAX_SHORT_DISTANCE))
        best = (ByteMatch){first, position - three};
    for (uint32_t six = self->six[position]; six && chain > 0 && best.length < enough; chain--, six = self->six[six]) {
        const uint8_t *there = self->bytes + six;
        /* Only a longer one is of use: the bytes that it would end with are compared first. */
        const uint32_t end = best.length < 3 ? 0 : best.length - 3;
        if (load_le32(there + end) != load_le32(here + end)) continue;
        const uint32_t length = equal_bytes(here, there, 6, most);
        if (length > best.length) best = (ByteMatch){length, position - six};
    }
    return best.distance ? best : (ByteMatch){0, 0};
}

/* Whether the match that begins a byte later is worth the literal before it, by length and by bits of the distance. */
static inline int is_better(ByteMatch next, ByteMatch now) {
    if (next.length < now.length) return 0;
    return 4 * (int)(next.length - now.length) + (int)top_bit(now.distance) - (int)top_bit(next.distance) > 2;
}

/* A token: literal/length symbol and extra bits of the length in 9 and 5 bits, distance symbol and extra bits in 5
   and 13. A literal has one more distance symbol, without any bits. */
#define NO_DISTANCE DISTANCE_SYMBOLS
#define LAZY_TOKEN(symbol, extra, distance, distance_extra)                                                            \
    ((symbol) | (extra) << 9 | (distance) << 14 | (distance_extra) << 19)

static inline void add_literal(LazyParser *self, BlockCodes *codes, uint8_t byte) {
    self->tokens[self->count++] = LAZY_TOKEN((uint32_t)byte, 0u, (uint32_t)NO_DISTANCE, 0u);
    codes->counts[byte]++;
}

static inline void add_match(LazyParser *self, BlockCodes *codes, ByteMatch match) {
    const uint32_t length = length_symbol(match.length), distance = distance_symbol(match.distance);
    const uint32_t extra = (match.length - MIN_MATCH_BYTES) & ((1u << LENGTH_EXTRA_BITS[length]) - 1);
    const uint32_t distance_extra = (match.distance - 1) & ((1u << distance_extra_bits(distance)) - 1);
    self->tokens[self->count++] = LAZY_TOKEN(FIRST_LENGTH_SYMBOL + length, extra, distance, distance_extra);
    codes->counts[FIRST_LENGTH_SYMBOL + length]++;
    codes->distance_counts[distance]++;
}

static inline void parse_lazily(LazyParser *self, BlockCodes *codes) {
    const uint32_t end = self->size > LAZY_TAIL ? self->size - LAZY_TAIL : 1;
    uint32_t position = 1;
    ByteMatch now = {0, 0};
    link_positions(self, end);
    add_literal(self, codes, self->bytes[0]);
    while (position < end) {
        if (!now.length && self->three[position]) now = longest_match(self, position, MIN_MATCH_BYTES - 1, MAX_CHAIN);
        if (!now.length) {
            add_literal(self, codes, self->bytes[position++]);
            continue;
        }
        ByteMatch next = {0, 0};
        if (now.length < NICE_LENGTH && position + 1 < end && self->three[position + 1])
            next = longest_match(self, position + 1, now.length - 1, MAX_CHAIN / 2);
        if (is_better(next, now)) {
            add_literal(self, codes, self->bytes[position++]);
            now = next;
            continue;
        }
        add_match(self, codes, now);
        position += now.length;
        now.length = 0;
    }
    while (position < self->size) add_literal(self, codes, self->bytes[position++]);
    codes->counts[END_OF_BLOCK] = 1;
}

/* Without a branch: whether a literal or a match comes next cannot be predicted. */
static inline void put_lazy_tokens(BitWriter *writer, const LazyParser *self, const BlockCodes *codes) {
    uint8_t extra[LITERAL_LENGTH_SYMBOLS] = {0};
    uint8_t distance_bits[NO_DISTANCE + 1] = {0}, distance_extra[NO_DISTANCE + 1] = {0};
    uint16_t distance_codes[NO_DISTANCE + 1] = {0};
    memcpy(extra + FIRST_LENGTH_SYMBOL, LENGTH_EXTRA_BITS, LENGTH_SYMBOLS);
    memcpy(distance_bits, codes->distances.lengths, DISTANCE_SYMBOLS);
    memcpy(distance_codes, codes->distances.codes, DISTANCE_SYMBOLS * sizeof *distance_codes);
    for (unsigned i = 0; i < DISTANCE_SYMBOLS; i++) distance_extra[i] = (uint8_t)distance_extra_bits(i);
    BitWriter own = *writer;
    for (uint32_t i = 0; i < self->count; i++) {
        const uint32_t token = self->tokens[i], symbol = token & 511, distance = token >> 14 & 31;
        const unsigned bits = codes->literals.lengths[symbol], all = bits + extra[symbol];
        const uint64_t code = codes->literals.codes[symbol] | (token >> 9 & 31) << bits;
        const uint64_t distance_code = distance_codes[distance] | (token >> 19) << distance_bits[distance];
        put_bits(&own, code | distance_code << all, all + distance_bits[distance] + distance_extra[distance]);
    }
    *writer = own;
}

static inline size_t deflate_lazily_portable(LazyParser *self, BlockCodes *codes, const uint8_t *bytes, size_t size,
                                             uint8_t *out) {
    BitWriter writer = {0, 0, out};
    clear_counts(codes);
    self->bytes = bytes;
    self->size = (uint32_t)size;
    self->count = 0;
    parse_lazily(self, codes);
    build_block_codes(codes);
    put_dynamic_header(&writer, &codes->literals, &codes->distances, 1);
    put_lazy_tokens(&writer, self, codes);
    put_symbol(&writer, &codes->literals, END_OF_BLOCK);
    align_to_byte(&writer);
    return (size_t)(writer.out - out);
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static size_t deflate_lazily_avx2(LazyParser *self, BlockCodes *codes,
                                                                const uint8_t *bytes, size_t size, uint8_t *out) {
    return deflate_lazily_portable(self, codes, bytes, size, out);
}
#endif

/* Deflates at most MAX_LAZY_BYTES as one block; `out` has room for LAZY_BOUND. Returns the size. */
static size_t deflate_lazily(LazyParser *self, BlockCodes *codes, const uint8_t *bytes, size_t size, uint8_t *out) {
#ifdef WITH_AVX2
    if (has_avx2()) return deflate_lazily_avx2(self, codes, bytes, size, out);
#endif
    return deflate_lazily_portable(self, codes, bytes, size, out);
}

#endif
