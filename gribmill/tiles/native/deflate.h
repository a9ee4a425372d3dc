/* Deflate for arrays of 32-bit words: what is repeated is whole words, what is new is four literals.

   64 KiB make a block, which starts on a byte. No repeat reaches from one 16 KiB of it into the next, so that a reader
   who knows the block's codes may begin at any of them. A block is made in four passes, with hardly a jump that depends
   on the values: look for repeats, choose which to use and count, work out the codes, put them out. */
#ifndef GRIBMILL_DEFLATE_H
#define GRIBMILL_DEFLATE_H

#include "description.h"
#include "huffman.h"
#include "repeats.h"

#define BLOCK_WORDS 16384
#define PIECES (BLOCK_WORDS / PIECE_WORDS)
#define STRANDS (BLOCK_WORDS / STRAND_WORDS)
#define LITERALS 256
#define LENGTH_SYMBOLS 29
/* Four literals then take at most 48 bits, and a byte's rest before them leaves room in a word of 64. */
#define LONGEST_USED 12
#define LONGEST_WORDS 64
/* Of so many words one must repeat, for repeats to be looked for. */
#define LEAST_REPEATED 4
/* A token's kind is its place in the table of codes: distance symbol × 64 + length in words - 1; and from here on the
   literals, one after the other. */
#define KINDS 2048
#define KIND_MASK 0x7FFF
/* What a block may take at most: for each word, and for the codes' lengths and the end. */
#define WORD_BOUND 6
#define DESCRIPTION_BOUND 512

/* Codes with their extra bits lie at the top of a word, their number of bits at its bottom. The first one is moved
   down as others come in above it. */
#define BITS_OF(code) ((unsigned)(code) & 63)

typedef struct {
    Repeats repeats;
    uint32_t tokens[BLOCK_WORDS]; /* a kind, and a distance's extra bits at the top */
    uint64_t codes[KINDS + BLOCK_WORDS];
    uint32_t literals[BLOCK_WORDS];
    uint64_t code_of[LITERALS];
    uint32_t kinds[KINDS + 8]; /* how many tokens of each; literals in eight places, so that none waits for another */
    uint32_t counts[MOST_SYMBOLS], distance_counts[DISTANCE_SYMBOLS];
    uint8_t lengths[MOST_SYMBOLS], distance_lengths[DISTANCE_SYMBOLS];
    uint16_t plain[MOST_SYMBOLS], distance_plain[DISTANCE_SYMBOLS]; /* codes, first bit lowest */
    uint32_t token_counts[STRANDS], literal_counts[STRANDS]; /* a strand's begin where its words do */
    int plain_words; /* nothing but literals, without tokens */
} Deflater;

/* Without any bits there is no code either. */
static inline uint64_t at_top(uint64_t code, unsigned bits) { return code << (-bits & 63) | bits; }

/* One code after another, each with the number of bits of both at the bottom. */
static inline uint64_t joined(uint64_t first, uint64_t second) {
    const uint64_t rest = ~UINT64_C(255);
    return ((first & rest) >> BITS_OF(second) | second) + BITS_OF(first);
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

/* Where the choice among a strand's repeats has come to. */
typedef struct {
    size_t at, end;
    uint32_t *tokens;
    uint32_t literals; /* where the next one goes */
} Choice;

/* One token: the first repeat that comes is used, as long as it is. */
static inline void choose_token(Deflater *self, const uint8_t *words, Choice *choice) {
    const size_t at = choice->at;
    const uint32_t found = self->repeats.found[at];
    uint32_t alike = found & ALIKE_MASK;
    if (alike == LANES) alike = alike_from(words, at, found, choice->end - at < LONGEST_WORDS ? choice->end - at : LONGEST_WORDS);
    /* As a float's, a distance's bits are what deflate wants: exponent and first bit of the fraction are its symbol
       (from the bias on), the rest of the fraction its extra bits. */
    const uint32_t fresh = 0u - (uint32_t)(found == NEW), literal = choice->literals;
    const uint32_t kind = ((found >> 22) - 2 * 127) << 6 | (alike - 1);
    const uint32_t repeat = (found & ~ALIKE_MASK) << 10 | kind;
    self->literals[literal] = word32(words, at);
    *choice->tokens++ = (repeat & ~fresh) | ((KINDS + literal) & fresh);
    self->kinds[(kind & ~fresh) | ((KINDS + literal % 8) & fresh)]++;
    choice->literals += fresh & 1;
    choice->at += alike;
}

static inline Choice begin_choice(Deflater *self, size_t piece, size_t start, size_t count) {
    const size_t end = count - start < STRAND_WORDS ? count : start + STRAND_WORDS;
    return (Choice){start, end, self->tokens + piece + start, (uint32_t)(piece + start)};
}

static inline void end_choice(Deflater *self, const uint8_t *words, Choice *choice, size_t start) {
    while (choice->at < choice->end) choose_token(self, words, choice);
    self->token_counts[start / STRAND_WORDS] = (uint32_t)(choice->tokens - self->tokens - start);
    self->literal_counts[start / STRAND_WORDS] = choice->literals - (uint32_t)start;
}

/* A piece of the block that begins at its word `piece`. Each token waits for the one before it to tell where it
   begins: two strands at once wait half as long. */
static inline void choose_tokens(Deflater *self, const uint8_t *words, size_t piece, size_t count) {
    for (size_t start = 0; start < count; start += 2 * STRAND_WORDS) {
        const size_t middle = count - start < STRAND_WORDS ? count : start + STRAND_WORDS;
        Choice one = begin_choice(self, piece, start, count), other = begin_choice(self, piece, middle, count);
        while (one.at < one.end && other.at < other.end) {
            choose_token(self, words, &one);
            choose_token(self, words, &other);
        }
        end_choice(self, words, &one, piece + start);
        if (middle < count) end_choice(self, words, &other, piece + middle);
    }
}

/* Without a single repeat, the literals themselves are the tokens. */
static void choose_literals(Deflater *self, const uint8_t *words, size_t count) {
    self->plain_words = 1;
    memcpy(self->literals, words, 4 * count);
    for (size_t start = 0; start < count; start += STRAND_WORDS) {
        const uint32_t own = (uint32_t)(count - start < STRAND_WORDS ? count - start : STRAND_WORDS);
        self->token_counts[start / STRAND_WORDS] = self->literal_counts[start / STRAND_WORDS] = own;
    }
}

static inline void choose(Deflater *self, const uint8_t *words, size_t count, int runs) {
    memset(self->kinds, 0, sizeof self->kinds);
    self->plain_words = 0;
    for (size_t start = 0; start < count; start += PIECE_WORDS) {
        const uint8_t *piece = words + 4 * start;
        const size_t size = count - start < PIECE_WORDS ? count - start : PIECE_WORDS;
        const int may_give_up = start == 0 && !runs;
        const size_t repeats = find_repeats(&self->repeats, piece, size, count - start, runs, may_give_up);
        /* Where few words of the first piece repeat, the others are not searched: half the time, a hundredth more. */
        if (may_give_up && repeats < size / LEAST_REPEATED) {
            choose_literals(self, words, count);
            return;
        }
        choose_tokens(self, piece, start, size);
    }
}

static void count_symbols(Deflater *self, size_t count) {
    /* Eight tables, so that no byte waits for the count of another: the first ones of two words are often the same. */
    uint32_t planes[8][LITERALS];
    memset(planes, 0, sizeof planes);
    for (size_t start = 0; start < count; start += STRAND_WORDS) {
        const uint32_t *literals = self->literals + start, own = self->literal_counts[start / STRAND_WORDS];
        for (uint32_t i = 0; i < own; i++)
            for (unsigned k = 0; k < 4; k++) planes[i % 2 * 4 + k][literals[i] >> 8 * k & 255]++;
    }
    memset(self->counts, 0, sizeof self->counts);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LITERALS; i++) self->counts[i] += planes[k][i];
    self->counts[END_OF_BLOCK] = 1;
    memset(self->distance_counts, 0, sizeof self->distance_counts);
    if (self->plain_words) return;
    uint32_t of_length[LONGEST_WORDS] = {0};
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        const uint32_t *row = self->kinds + LONGEST_WORDS * symbol;
        uint32_t sum = 0;
        for (unsigned i = 0; i < LONGEST_WORDS; i++) {
            sum += row[i];
            of_length[i] += row[i];
        }
        self->distance_counts[symbol] = sum;
    }
    for (unsigned i = 0; i < LONGEST_WORDS; i++) self->counts[END_OF_BLOCK + 1 + LENGTH_SYMBOL[i]] += of_length[i];
}

static inline void make_codes(Deflater *self) {
    make_code(self->counts, MOST_SYMBOLS, LONGEST_USED, self->lengths, self->plain);
    make_code(self->distance_counts, DISTANCE_SYMBOLS, LONGEST_USED, self->distance_lengths, self->distance_plain);
}

/* The code of every kind of token that there may be. */
static inline void code_kinds(Deflater *self) {
    uint64_t of_length[LONGEST_WORDS];
    for (unsigned i = 0; i < LONGEST_WORDS; i++) {
        const unsigned length = LENGTH_SYMBOL[i], bits = self->lengths[END_OF_BLOCK + 1 + length];
        const uint64_t code = self->plain[END_OF_BLOCK + 1 + length] | (uint64_t)LENGTH_EXCESS[i] << bits;
        of_length[i] = at_top(code, bits + LENGTH_EXTRA[length]);
    }
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        if (!self->distance_counts[symbol]) continue;
        const unsigned bits = self->distance_lengths[symbol] + distance_extra(symbol);
        const uint64_t distance = at_top(self->distance_plain[symbol], bits);
        uint64_t *codes = self->codes + LONGEST_WORDS * symbol;
        for (unsigned i = 0; i < LONGEST_WORDS; i++) codes[i] = joined(of_length[i], distance);
    }
}

/* Four literals, one after the other. */
static inline uint64_t code_word(const uint64_t *code_of, uint32_t word) {
    const uint64_t a = code_of[word & 255], b = code_of[word >> 8 & 255];
    const uint64_t c = code_of[word >> 16 & 255], d = code_of[word >> 24];
    return joined(joined(a, b), joined(c, d));
}

static inline void code_literals(Deflater *self, size_t count) {
    for (unsigned i = 0; i < LITERALS; i++) self->code_of[i] = at_top(self->plain[i], self->lengths[i]);
    for (size_t start = 0; !self->plain_words && start < count; start += STRAND_WORDS) {
        const size_t end = start + self->literal_counts[start / STRAND_WORDS];
        for (size_t i = start; i < end; i++) self->codes[KINDS + i] = code_word(self->code_of, self->literals[i]);
    }
}

static inline void put_strand(Output *output, const Deflater *deflater, size_t start) {
    const size_t end = start + deflater->token_counts[start / STRAND_WORDS];
    Output self = *output;
    if (deflater->plain_words)
        for (size_t i = start; i < end; i++) {
            const uint64_t code = code_word(deflater->code_of, deflater->literals[i]);
            put(&self, code, BITS_OF(code));
        }
    else
        for (size_t i = start; i < end; i++) {
            const uint32_t token = deflater->tokens[i], kind = token & KIND_MASK;
            const uint64_t code = deflater->codes[kind];
            put(&self, code | (uint64_t)(token ^ kind) << 32, BITS_OF(code));
        }
    *output = self;
}

static inline uint32_t place_of(const Output *output, const uint8_t *origin) {
    return (uint32_t)(8 * (size_t)(output->out - origin) + output->count);
}

/* `marks` are filled with the bit at which each piece begins. */
static inline void put_strands(Output *output, const Deflater *self, size_t count, const uint8_t *origin, uint32_t *marks) {
    for (size_t start = 0; start < count; start += STRAND_WORDS) {
        if (start % PIECE_WORDS == 0) *marks++ = place_of(output, origin);
        put_strand(output, self, start);
    }
}

/* What is deflated: words, up to three bytes more, and whether a word is only looked for right before itself. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
    int runs;
} Words;

static inline size_t make_block(Deflater *self, const Words *words, int last, uint8_t *out, uint32_t *marks) {
    const size_t count = words->size / 4, pieces = (count + PIECE_WORDS - 1) / PIECE_WORDS;
    choose(self, words->bytes, count, words->runs);
    count_symbols(self, count);
    for (size_t i = 4 * count; i < words->size; i++) self->counts[words->bytes[i]]++;
    make_codes(self);
    code_kinds(self);
    code_literals(self, count);
    Output output = {0, 0, out};
    put_description(&output, self->lengths, self->distance_lengths, last);
    put_strands(&output, self, count, out, marks);
    if (words->size > 4 * PIECE_WORDS * pieces) marks[pieces] = place_of(&output, out);
    for (size_t i = 4 * count; i < words->size; i++) put_number(&output, self->plain[words->bytes[i]], self->lengths[words->bytes[i]]);
    put_number(&output, self->plain[END_OF_BLOCK], self->lengths[END_OF_BLOCK]);
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
    const size_t repeats = find_repeats(&self->repeats, words, PIECE_WORDS, PIECE_WORDS, 0, 1);
    if (repeats >= PIECE_WORDS / LEAST_REPEATED) return 0;
    choose_literals(self, words, PIECE_WORDS);
    count_symbols(self, PIECE_WORDS);
    make_codes(self);
    size_t bits = 0;
    for (unsigned i = 0; i < LITERALS; i++) bits += (size_t)self->counts[i] * self->lengths[i];
    return bits / 8;
}

#endif
