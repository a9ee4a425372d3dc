/* Deflate (RFC 1951) for arrays of 32-bit words: matches are of whole words, everything else is four literals.

   A block holds 64 KiB of raw bytes, starts on a byte, and has dynamic codes. No match reaches from one of its segments
   of 16 KiB into another, so that a reader who knows the block's codes can start at each segment. A block is made in
   passes, with hardly a branch that depends on values: find matches, parse, classify and count, build the codes, write.
 */
#ifndef GRIBMILL_DEFLATE_BLOCK_H
#define GRIBMILL_DEFLATE_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cpu.h"
#include "bit_writer.h"
#include "block_codes.h"
#include "dynamic_block_header.h"
#include "match_finder.h"
#include "parse_greedy.h"
#include "parse_interleaved.h"
#include "prefix_code.h"
#include "preset_block_header.h"
#include "rfc1951.h"
#include "tokens.h"

/* Matches are used only if at least one in MIN_SEGMENT_MATCHED words of the first segment matches. */
#define MIN_SEGMENT_MATCHED 4
/* The maximum size of a word in bytes: four literals of 12 bits. */
#define WORD_BOUND 6

/* Bits that fit into a word of 64 beside an incomplete byte. */
#define MAX_BITS_AT_ONCE 57

/* A code with its extra bits is at the top of a 64-bit word, the number of its bits in the lowest byte. */
#define BIT_COUNT(code) ((unsigned)(uint8_t)(code))
#define CODE_ONLY(code) ((code) & ~UINT64_C(255))
/* Adds the extra bits of a token to its code, in the upper half of the word. The token's class comes along with them:
   the table of codes has it subtracted. */
#define TOKEN_BITS(token) ((uint64_t)(token) << 32)

typedef struct {
    MatchFinder finder;
    Tokens tokens;
    uint64_t token_codes[MATCH_CLASSES + BLOCK_WORDS]; /* by class */
    BlockCodes codes;
} Deflater;

/* A symbol of length 0 has no code. */
static inline uint64_t code_at_top(uint64_t code, unsigned bits) { return code << (-bits & 63) | bits; }

/* Concatenates two codes. */
static inline uint64_t join_codes(uint64_t first, uint64_t second) {
    return (CODE_ONLY(first) >> BIT_COUNT(second) | second) + BIT_COUNT(first);
}

/* By length in words - 1: the length symbol, counted from the first one, and the value of its extra bits. */
static const uint8_t WORDS_LENGTH_SYMBOL[MAX_MATCH_WORDS] = {
    1,  5,  8,  10, 12, 13, 14, 15, 16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 20, 20, 21, 21,
    21, 21, 22, 22, 22, 22, 23, 23, 23, 23, 24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25,
    25, 25, 25, 25, 26, 26, 26, 26, 26, 26, 26, 26, 27, 27, 27, 27, 27, 27, 27, 27};
static const uint8_t WORDS_LENGTH_EXTRA[MAX_MATCH_WORDS] = {
    0, 0, 1, 1,  1,  1,  1,  1,  1, 5, 1, 5,  1,  5,  1,  5,  1, 5, 9, 13, 1,  5,  9,  13, 1, 5, 9, 13, 1,  5,  9,  13,
    1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29};

typedef enum {
    PARSE_INTERLEAVED, /* all matches are found first: parse_interleaved.h */
    PARSE_GREEDY,      /* for small arrays: parse_greedy.h */
    PARSE_RUNS         /* only runs of one word, for integers: parse_greedy.h */
} Parser;

/* The input: words, and up to three bytes after the last one. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
    Parser parser;
} Words;

/* Returns how many words of the segment are literals. */
static inline size_t parse_segment(Deflater *self, const uint8_t *words, size_t segment, size_t count, size_t readable,
                                   Parser parser) {
    if (parser == PARSE_GREEDY) return parse_greedy(&self->tokens, &self->finder, words, segment, count, readable, 0);
    if (parser == PARSE_RUNS) return parse_greedy(&self->tokens, &self->finder, words, segment, count, readable, 1);
    if (!find_matches(&self->finder, words, count, readable, segment == 0)) return count;
    return parse_interleaved(&self->tokens, &self->finder, words, segment, count);
}

/* If few words of the first segment match, the others are not searched: half the time, 1 % larger. */
static inline int too_few_matches(size_t literals, size_t count) {
    return count - literals < count / MIN_SEGMENT_MATCHED;
}

static inline void parse_block(Deflater *self, const uint8_t *words, size_t count, Parser parser) {
    clear_tokens(&self->tokens);
    for (size_t start = 0; start < count; start += SEGMENT_WORDS) {
        const size_t size = count - start < SEGMENT_WORDS ? count - start : SEGMENT_WORDS;
        const size_t literals = parse_segment(self, words + 4 * start, start, size, count - start, parser);
        if (start || parser == PARSE_RUNS || !too_few_matches(literals, size)) continue;
        make_literals_only(&self->tokens, words, count);
        return;
    }
}

static inline void count_literals(uint32_t *counts, const Tokens *tokens) {
    /* Eight tables, so that no byte waits for the count of another: the first bytes of neighbouring words are often the
       same. */
    uint16_t tables[8][LITERALS];
    memset(tables, 0, sizeof tables);
    for (unsigned r = 0; r < tokens->run_count; r++) {
        const uint8_t *bytes = (const uint8_t *)(tokens->literal_words + tokens->runs[r].start);
        const size_t size = 4 * tokens->runs[r].literals, even = size & ~(size_t)7;
        for (size_t i = 0; i < even; i += 8)
            for (unsigned k = 0; k < 8; k++) tables[k][bytes[i + k]]++;
        for (size_t i = even; i < size; i++) tables[i % 8][bytes[i]]++;
    }
    for (unsigned i = 0; i < LITERALS; i++) {
        const uint16_t first = (uint16_t)(tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i]);
        const uint16_t second = (uint16_t)(tables[4][i] + tables[5][i] + tables[6][i] + tables[7][i]);
        counts[i] = (uint32_t)first + second;
    }
}

static inline void count_symbols(Deflater *self) {
    BlockCodes *codes = &self->codes;
    clear_counts(codes);
    count_literals(codes->counts, &self->tokens);
    codes->counts[END_OF_BLOCK] = 1;
    if (self->tokens.literals_only) return;
    uint32_t of_length[MAX_MATCH_WORDS] = {0};
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < MAX_MATCH_WORDS; i++) {
            const unsigned class = MAX_MATCH_WORDS * symbol + i;
            const uint32_t count = (uint32_t)self->tokens.class_counts[0][class] + self->tokens.class_counts[1][class];
            sum += count;
            of_length[i] += count;
        }
        codes->distance_counts[symbol] = sum;
    }
    for (unsigned i = 0; i < MAX_MATCH_WORDS; i++)
        codes->counts[FIRST_LENGTH_SYMBOL + WORDS_LENGTH_SYMBOL[i]] += of_length[i];
}

/* The codes of all classes of matches that may occur. */
static inline void build_match_codes(Deflater *self) {
    const PrefixCode *literals = &self->codes.literals, *distances = &self->codes.distances;
    uint64_t of_length[MAX_MATCH_WORDS];
    for (unsigned i = 0; i < MAX_MATCH_WORDS; i++) {
        const unsigned length = WORDS_LENGTH_SYMBOL[i], bits = literals->lengths[FIRST_LENGTH_SYMBOL + length];
        const uint64_t code = literals->codes[FIRST_LENGTH_SYMBOL + length] | (uint64_t)WORDS_LENGTH_EXTRA[i] << bits;
        of_length[i] = code_at_top(code, bits + LENGTH_EXTRA_BITS[length]);
    }
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        if (!self->codes.distance_counts[symbol]) continue;
        const unsigned bits = distances->lengths[symbol] + distance_extra_bits(symbol);
        const uint64_t distance = code_at_top(distances->codes[symbol], bits);
        const unsigned first = MAX_MATCH_WORDS * symbol;
        for (unsigned i = 0; i < MAX_MATCH_WORDS; i++)
            self->token_codes[first + i] = join_codes(of_length[i], distance) - TOKEN_BITS(first + i);
    }
}

/* Four literals. */
static inline uint64_t literal_word_code(const PrefixCode *code, uint32_t word) {
    const unsigned a = word & 255, b = word >> 8 & 255, c = word >> 16 & 255, d = word >> 24;
    const unsigned to_b = code->lengths[a], to_c = to_b + code->lengths[b], to_d = to_c + code->lengths[c];
    const uint64_t first = code->codes[a] | (uint64_t)code->codes[b] << to_b;
    const uint64_t second = (uint64_t)code->codes[c] << to_c | (uint64_t)code->codes[d] << to_d;
    return code_at_top(first | second, to_d + code->lengths[d]);
}

static inline void build_literal_codes(Deflater *self) {
    const Tokens *tokens = &self->tokens;
    for (unsigned r = 0; !tokens->literals_only && r < tokens->run_count; r++) {
        const size_t start = tokens->runs[r].start, end = start + tokens->runs[r].literals;
        for (size_t i = start; i < end; i++) {
            const unsigned class = MATCH_CLASSES + tokens->literal_positions[i];
            const uint64_t code = literal_word_code(&self->codes.literals, tokens->literal_words[i]);
            self->token_codes[class] = code - TOKEN_BITS(class);
        }
    }
}

static inline void put_literal_words(BitWriter *self, const Deflater *deflater, const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t code = literal_word_code(&deflater->codes.literals, words[i]);
        put_code(self, code, BIT_COUNT(code));
    }
}

static inline uint64_t token_code(const Deflater *self, uint32_t token) {
    return self->token_codes[(uint16_t)token] + TOKEN_BITS(token);
}

/* In pairs: two tokens nearly always fit into one word. */
static inline void put_tokens(BitWriter *self, const Deflater *deflater, const uint32_t *tokens, size_t count) {
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const uint64_t one = token_code(deflater, tokens[i]), other = token_code(deflater, tokens[i + 1]);
        const unsigned bits = BIT_COUNT(one) + BIT_COUNT(other);
        if (bits <= MAX_BITS_AT_ONCE) {
            put_code(self, CODE_ONLY(one) >> BIT_COUNT(other) | CODE_ONLY(other), bits);
            continue;
        }
        put_code(self, one, BIT_COUNT(one));
        put_code(self, other, BIT_COUNT(other));
    }
    if (i < count) {
        const uint64_t code = token_code(deflater, tokens[i]);
        put_code(self, code, BIT_COUNT(code));
    }
}

static inline void put_run(BitWriter *writer, const Deflater *deflater, const TokenRun *run) {
    const Tokens *tokens = &deflater->tokens;
    BitWriter self = *writer;
    if (tokens->literals_only)
        put_literal_words(&self, deflater, tokens->literal_words + run->start, run->tokens);
    else
        put_tokens(&self, deflater, tokens->tokens + run->start, run->tokens);
    *writer = self;
}

static inline uint32_t bit_position(const BitWriter *writer, const uint8_t *origin) {
    return (uint32_t)(8 * (size_t)(writer->out - origin) + writer->count);
}

/* `segment_bits` are filled with the bit at which each segment begins. */
static inline void put_runs(BitWriter *writer, const Deflater *self, const uint8_t *origin, uint32_t *segment_bits) {
    for (unsigned r = 0; r < self->tokens.run_count; r++) {
        const TokenRun *run = self->tokens.runs + r;
        if (run->start % SEGMENT_WORDS == 0) *segment_bits++ = bit_position(writer, origin);
        put_run(writer, self, run);
    }
}

static inline size_t deflate_block_portable(Deflater *self, const Words *words, int final, uint8_t *out,
                                            uint32_t *segment_bits) {
    const size_t count = words->size / 4, segments = (count + SEGMENT_WORDS - 1) / SEGMENT_WORDS;
    parse_block(self, words->bytes, count, words->parser);
    count_symbols(self);
    for (size_t i = 4 * count; i < words->size; i++) self->codes.counts[words->bytes[i]]++;
    build_block_codes(&self->codes);
    build_match_codes(self);
    build_literal_codes(self);
    BitWriter writer = {0, 0, out};
    if (words->parser == PARSE_INTERLEAVED)
        put_dynamic_header(&writer, &self->codes.literals, &self->codes.distances, final);
    else
        put_preset_header(&writer, &self->codes.literals, &self->codes.distances, final);
    put_runs(&writer, self, out, segment_bits);
    if (words->size > 4 * SEGMENT_WORDS * segments) segment_bits[segments] = bit_position(&writer, out);
    for (size_t i = 4 * count; i < words->size; i++) put_symbol(&writer, &self->codes.literals, words->bytes[i]);
    put_symbol(&writer, &self->codes.literals, END_OF_BLOCK);
    /* The next block starts on a byte: an empty stored block (3 bits of header, LEN 0, NLEN 0xFFFF) leads to it. */
    if (!final) put_bits(&writer, 0, 3);
    align_to_byte(&writer);
    if (!final) put_bits(&writer, UINT64_C(0xFFFF0000), 32);
    return (size_t)(writer.out - out);
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static size_t deflate_block_avx2(Deflater *self, const Words *words, int final,
                                                               uint8_t *out, uint32_t *segment_bits) {
    return deflate_block_portable(self, words, final, out, segment_bits);
}
#endif

/* Deflates up to BLOCK_WORDS words; `out` has room for WORD_BOUND bytes a word and BLOCK_OVERHEAD, `segment_bits` for
   the first bit of each segment, counted from `out`. Returns the size. */
static size_t deflate_block(Deflater *self, const Words *words, int final, uint8_t *out, uint32_t *segment_bits) {
#ifdef WITH_AVX2
    if (has_avx2()) return deflate_block_avx2(self, words, final, out, segment_bits);
#endif
    return deflate_block_portable(self, words, final, out, segment_bits);
}

/* About how many bytes one segment of words would take without matches; 0 if it has matches. */
static size_t sampled_size(Deflater *self, const uint8_t *words) {
    clear_tokens(&self->tokens);
    const size_t literals = parse_segment(self, words, 0, SEGMENT_WORDS, SEGMENT_WORDS, PARSE_INTERLEAVED);
    if (!too_few_matches(literals, SEGMENT_WORDS)) return 0;
    make_literals_only(&self->tokens, words, SEGMENT_WORDS);
    count_symbols(self);
    build_block_codes(&self->codes);
    size_t bits = 0;
    for (unsigned i = 0; i < LITERALS; i++) bits += (size_t)self->codes.counts[i] * self->codes.literals.lengths[i];
    return bits / 8;
}

#endif
