/* Deflate for arrays of 32-bit words: what is repeated is whole words, what is new is four literals.

   64 KiB make a block, which starts on a byte. No repeat reaches from one 16 KiB of it into the next, so that a reader
   who knows the block's codes may begin at any of them. A block is made in passes, with hardly a jump that depends on
   the values: look for repeats, settle and count them, work out the codes, put them out. */
#ifndef GRIBMILL_DEFLATE_BLOCK_H
#define GRIBMILL_DEFLATE_BLOCK_H

#include "preset_block_header.h"
#include "parse_greedy.h"
#include "parse_interleaved.h"

#define LITERALS 256
#define LENGTH_SYMBOLS 29
/* Of so many words of the first piece one must repeat, for repeats to be looked for in others. */
#define LEAST_REPEATED 4
/* What a block may take at most: for each word, and for the codes' lengths and the end. */
#define WORD_BOUND 6
#define DESCRIPTION_BOUND 512

/* A byte's rest before them leaves room for so many bits in a word. */
#define MOST_AT_ONCE 57

/* Codes with their extra bits lie at the top of a word, their number of bits in its lowest byte. The first one is moved
   down as others come in above it. */
#define BITS_OF(code) ((unsigned)(uint8_t)(code))
#define WITHOUT_NUMBER(code) ((code) & ~UINT64_C(255))
/* A token's extra bits belong to the upper half of its code. Its kind comes along with them, and is taken off before. */
#define TOKEN_BITS(token) ((uint64_t)(token) << 32)

typedef struct {
    Repeats repeats;
    Tokens tokens;
    uint64_t codes[KINDS + BLOCK_WORDS];
    uint32_t counts[MOST_SYMBOLS], distance_counts[DISTANCE_SYMBOLS];
    Code symbols, distances;
} Deflater;

/* Without any bits there is no code either. */
static inline uint64_t at_top(uint64_t code, unsigned bits) { return code << (-bits & 63) | bits; }

/* One code after another, each with the number of bits of both at the bottom. */
static inline uint64_t joined(uint64_t first, uint64_t second) {
    return (WITHOUT_NUMBER(first) >> BITS_OF(second) | second) + BITS_OF(first);
}

static const uint8_t LENGTH_EXTRA[LENGTH_SYMBOLS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

/* The symbol of each length in words, from one on, and by how much the length exceeds the symbol's least. */
static const uint8_t LENGTH_SYMBOL[LONGEST_WORDS] = {
    1, 5, 8, 10, 12, 13, 14, 15, 16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 23, 23, 23, 23,
    24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 25, 26, 26, 26, 26, 26, 26, 26, 26, 27, 27, 27, 27, 27, 27, 27, 27};
static const uint8_t LENGTH_EXCESS[LONGEST_WORDS] = {
    0, 0, 1, 1, 1, 1, 1, 1, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 9, 13, 1, 5, 9, 13, 1, 5, 9, 13, 1, 5, 9, 13,
    1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29};

static inline unsigned distance_extra(unsigned symbol) { return symbol < 2 ? 0 : symbol / 2 - 1; }

/* Which repeats are looked for. */
typedef enum {
    FOUND,  /* of every word, all found before any is used: strands.h */
    RECENT, /* where the same word was last, for small arrays: recent.h */
    RUNS    /* of the word right before, for integers: recent.h */
} Search;

/* What is deflated: words, and behind the last ones up to three bytes more. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
    Search search;
} Words;

/* Returns how many words of a piece are new. */
static inline size_t choose_piece(Deflater *self, const uint8_t *words, size_t piece, size_t count, size_t readable,
                                  Search search) {
    if (search == RECENT) return choose_recent(&self->tokens, &self->repeats, words, piece, count, readable, 0);
    if (search == RUNS) return choose_recent(&self->tokens, &self->repeats, words, piece, count, readable, 1);
    if (!find_repeats(&self->repeats, words, count, readable, piece == 0)) return count;
    return choose_strands(&self->tokens, &self->repeats, words, piece, count);
}

/* Where few words of the first piece repeat, the others are not searched: half the time, a hundredth more. */
static inline int too_few(size_t fresh, size_t count) { return count - fresh < count / LEAST_REPEATED; }

static inline void choose_tokens(Deflater *self, const uint8_t *words, size_t count, Search search) {
    forget_tokens(&self->tokens);
    for (size_t start = 0; start < count; start += PIECE_WORDS) {
        const size_t size = count - start < PIECE_WORDS ? count - start : PIECE_WORDS;
        const size_t fresh = choose_piece(self, words + 4 * start, start, size, count - start, search);
        if (start || search == RUNS || !too_few(fresh, size)) continue;
        choose_literals(&self->tokens, words, count);
        return;
    }
}

static inline void count_literals(uint32_t *counts, const Tokens *tokens) {
    /* Eight tables, so that no byte waits for the count of another: the first ones of two words are often the same. */
    uint16_t planes[8][LITERALS];
    memset(planes, 0, sizeof planes);
    for (unsigned s = 0; s < tokens->strand_count; s++) {
        const uint8_t *bytes = (const uint8_t *)(tokens->literals + tokens->strands[s].start);
        const size_t size = 4 * tokens->strands[s].literals, even = size & ~(size_t)7;
        for (size_t i = 0; i < even; i += 8)
            for (unsigned k = 0; k < 8; k++) planes[k][bytes[i + k]]++;
        for (size_t i = even; i < size; i++) planes[i % 8][bytes[i]]++;
    }
    for (unsigned i = 0; i < LITERALS; i++) {
        const uint16_t first = (uint16_t)(planes[0][i] + planes[1][i] + planes[2][i] + planes[3][i]);
        const uint16_t second = (uint16_t)(planes[4][i] + planes[5][i] + planes[6][i] + planes[7][i]);
        counts[i] = (uint32_t)first + second;
    }
}

static inline void count_symbols(Deflater *self) {
    memset(self->counts, 0, sizeof self->counts);
    memset(self->distance_counts, 0, sizeof self->distance_counts);
    count_literals(self->counts, &self->tokens);
    self->counts[END_OF_BLOCK] = 1;
    if (self->tokens.plain) return;
    uint32_t of_length[LONGEST_WORDS] = {0};
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < LONGEST_WORDS; i++) {
            const unsigned kind = LONGEST_WORDS * symbol + i;
            const uint32_t count = (uint32_t)self->tokens.kind_counts[0][kind] + self->tokens.kind_counts[1][kind];
            sum += count;
            of_length[i] += count;
        }
        self->distance_counts[symbol] = sum;
    }
    for (unsigned i = 0; i < LONGEST_WORDS; i++) self->counts[END_OF_BLOCK + 1 + LENGTH_SYMBOL[i]] += of_length[i];
}

static inline void make_codes(Deflater *self) {
    make_code(&self->symbols, self->counts, MOST_SYMBOLS, LONGEST_CODE);
    make_code(&self->distances, self->distance_counts, DISTANCE_SYMBOLS, LONGEST_CODE);
}

/* The code of every kind of token that there may be. */
static inline void code_kinds(Deflater *self) {
    uint64_t of_length[LONGEST_WORDS];
    for (unsigned i = 0; i < LONGEST_WORDS; i++) {
        const unsigned length = LENGTH_SYMBOL[i], bits = self->symbols.lengths[END_OF_BLOCK + 1 + length];
        const uint64_t code = self->symbols.plain[END_OF_BLOCK + 1 + length] | (uint64_t)LENGTH_EXCESS[i] << bits;
        of_length[i] = at_top(code, bits + LENGTH_EXTRA[length]);
    }
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        if (!self->distance_counts[symbol]) continue;
        const unsigned bits = self->distances.lengths[symbol] + distance_extra(symbol);
        const uint64_t distance = at_top(self->distances.plain[symbol], bits);
        const unsigned first = LONGEST_WORDS * symbol;
        for (unsigned i = 0; i < LONGEST_WORDS; i++)
            self->codes[first + i] = joined(of_length[i], distance) - TOKEN_BITS(first + i);
    }
}

/* Four literals, one after the other. */
static inline uint64_t code_word(const Code *code, uint32_t word) {
    const unsigned a = word & 255, b = word >> 8 & 255, c = word >> 16 & 255, d = word >> 24;
    const unsigned to_b = code->lengths[a], to_c = to_b + code->lengths[b], to_d = to_c + code->lengths[c];
    const uint64_t first = code->plain[a] | (uint64_t)code->plain[b] << to_b;
    const uint64_t second = (uint64_t)code->plain[c] << to_c | (uint64_t)code->plain[d] << to_d;
    return at_top(first | second, to_d + code->lengths[d]);
}

static inline void code_literals(Deflater *self) {
    const Tokens *tokens = &self->tokens;
    for (unsigned s = 0; !tokens->plain && s < tokens->strand_count; s++) {
        const size_t start = tokens->strands[s].start, end = start + tokens->strands[s].literals;
        for (size_t i = start; i < end; i++) {
            const unsigned kind = KINDS + tokens->literal_places[i];
            self->codes[kind] = code_word(&self->symbols, tokens->literals[i]) - TOKEN_BITS(kind);
        }
    }
}

static inline void put_words(Output *self, const Deflater *deflater, const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t code = code_word(&deflater->symbols, words[i]);
        put(self, code, BITS_OF(code));
    }
}

static inline uint64_t code_token(const Deflater *self, uint32_t token) {
    return self->codes[(uint16_t)token] + TOKEN_BITS(token);
}

/* Two tokens nearly always have room in one word, if their number of bits is taken out of it. */
static inline void put_pairs(Output *self, const Deflater *deflater, const uint32_t *tokens, size_t count) {
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const uint64_t one = code_token(deflater, tokens[i]), other = code_token(deflater, tokens[i + 1]);
        const unsigned bits = BITS_OF(one) + BITS_OF(other);
        if (bits <= MOST_AT_ONCE) {
            put(self, WITHOUT_NUMBER(one) >> BITS_OF(other) | WITHOUT_NUMBER(other), bits);
            continue;
        }
        put(self, one, BITS_OF(one));
        put(self, other, BITS_OF(other));
    }
    if (i < count) {
        const uint64_t code = code_token(deflater, tokens[i]);
        put(self, code, BITS_OF(code));
    }
}

static inline void put_strand(Output *output, const Deflater *deflater, const Strand *strand) {
    const Tokens *tokens = &deflater->tokens;
    Output self = *output;
    if (tokens->plain)
        put_words(&self, deflater, tokens->literals + strand->start, strand->tokens);
    else
        put_pairs(&self, deflater, tokens->all + strand->start, strand->tokens);
    *output = self;
}

static inline uint32_t place_of(const Output *output, const uint8_t *origin) {
    return (uint32_t)(8 * (size_t)(output->out - origin) + output->count);
}

/* `marks` are filled with the bit at which each piece begins. */
static inline void put_strands(Output *output, const Deflater *self, const uint8_t *origin, uint32_t *marks) {
    for (unsigned s = 0; s < self->tokens.strand_count; s++) {
        const Strand *strand = self->tokens.strands + s;
        if (strand->start % PIECE_WORDS == 0) *marks++ = place_of(output, origin);
        put_strand(output, self, strand);
    }
}

static inline void put_symbol(Output *output, const Code *code, unsigned symbol) {
    put_number(output, code->plain[symbol], code->lengths[symbol]);
}

static inline size_t make_block(Deflater *self, const Words *words, int last, uint8_t *out, uint32_t *marks) {
    const size_t count = words->size / 4, pieces = (count + PIECE_WORDS - 1) / PIECE_WORDS;
    choose_tokens(self, words->bytes, count, words->search);
    count_symbols(self);
    for (size_t i = 4 * count; i < words->size; i++) self->counts[words->bytes[i]]++;
    make_codes(self);
    code_kinds(self);
    code_literals(self);
    Output output = {0, 0, out};
    if (words->search == FOUND)
        put_description(&output, &self->symbols, &self->distances, last);
    else
        put_brief(&output, &self->symbols, &self->distances, last);
    put_strands(&output, self, out, marks);
    if (words->size > 4 * PIECE_WORDS * pieces) marks[pieces] = place_of(&output, out);
    for (size_t i = 4 * count; i < words->size; i++) put_symbol(&output, &self->symbols, words->bytes[i]);
    put_symbol(&output, &self->symbols, END_OF_BLOCK);
    /* An empty stored block ends on a byte. */
    if (!last) put_number(&output, 0, 3);
    to_byte(&output);
    if (!last) put_number(&output, UINT64_C(0xFFFF0000), 32);
    return (size_t)(output.out - out);
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static size_t block_avx2(Deflater *self, const Words *words, int last, uint8_t *out,
                                                       uint32_t *marks) {
    return make_block(self, words, last, out, marks);
}
#endif

/* Deflates up to BLOCK_WORDS words; `out` has room as the bounds tell, `marks` for each piece's first bit, counted from
   `out`. Returns the size. */
static size_t deflate_block(Deflater *self, const Words *words, int last, uint8_t *out, uint32_t *marks) {
#ifdef WITH_AVX2
    if (has_avx2()) return block_avx2(self, words, last, out, marks);
#endif
    return make_block(self, words, last, out, marks);
}

/* About how many bytes one piece of words would take; none is said where words repeat. */
static size_t sample_size(Deflater *self, const uint8_t *words) {
    forget_tokens(&self->tokens);
    const size_t fresh = choose_piece(self, words, 0, PIECE_WORDS, PIECE_WORDS, FOUND);
    if (!too_few(fresh, PIECE_WORDS)) return 0;
    choose_literals(&self->tokens, words, PIECE_WORDS);
    count_symbols(self);
    make_codes(self);
    size_t bits = 0;
    for (unsigned i = 0; i < LITERALS; i++) bits += (size_t)self->counts[i] * self->symbols.lengths[i];
    return bits / 8;
}

#endif
