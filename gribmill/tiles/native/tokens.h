/* What a block of words is made of: words that are new, and repeats of words before them. */
#ifndef GRIBMILL_TOKENS_H
#define GRIBMILL_TOKENS_H

#include "description.h"
#include "repeats.h"

#define BLOCK_WORDS 16384
#define PIECES (BLOCK_WORDS / PIECE_WORDS)
#define MOST_STRANDS (BLOCK_WORDS / STRAND_WORDS)
#define LONGEST_WORDS 64
/* A token's kind is its place in the table of codes: distance symbol × 64 + length in words - 1; and from here on the
   literals, one after the other. Those are counted in eight places, so that none waits for another. */
#define KINDS 2048
#define KIND_MASK 0x7FFF
#define LITERAL_PLACES 8
#define NO_LENGTH 0

/* Words at whose end a token ends: where they begin in the block, and so their tokens and literals do in theirs; and how
   many of those there are. */
typedef struct {
    uint32_t start, tokens, literals;
} Strand;

typedef struct {
    /* A kind, and a distance's extra bits at the top; until they are settled, words back << 8 | words alike, or a
       literal's number << 8. */
    uint32_t all[BLOCK_WORDS];
    uint32_t literals[BLOCK_WORDS];
    Strand strands[MOST_STRANDS];
    unsigned strand_count;
    int plain;                                    /* literals alone */
    uint16_t kinds[PIECE_WORDS];                  /* of one strand's */
    uint32_t kind_counts[KINDS + LITERAL_PLACES]; /* of all */
} Tokens;

/* Where the choice has come to in a piece. */
typedef struct {
    size_t at, end;
    uint32_t *token, literal; /* the next ones */
} Choice;

static inline void forget_tokens(Tokens *self) {
    memset(self->kind_counts, 0, sizeof self->kind_counts);
    self->strand_count = 0;
    self->plain = 0;
}

static inline Choice begin_choice(Tokens *self, size_t piece, size_t start, size_t end) {
    return (Choice){start, end, self->all + piece + start, (uint32_t)(piece + start)};
}

static inline uint32_t float_bits(int32_t number) {
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* As a float's, a distance's bits are what deflate wants: exponent and first bit of the fraction are its symbol (from the
   bias on), the rest of the fraction its extra bits. */
static inline void settle(Tokens *self, uint32_t *tokens, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t number = tokens[i] >> 8, alike = tokens[i] & 255, fresh = 0u - (uint32_t)(alike == NO_LENGTH);
        const uint32_t bits = float_bits((int32_t)(4 * number) - 1), symbol = (bits >> 22) - 2 * 127;
        const uint32_t kind = symbol << 6 | (alike - 1), repeat = (bits & ~UINT32_C(511)) << 10 | kind;
        tokens[i] = (repeat & ~fresh) | ((KINDS + number) & fresh);
        self->kinds[i] = (uint16_t)((kind & ~fresh) | ((KINDS + i % LITERAL_PLACES) & fresh));
    }
    for (size_t i = 0; i < count; i++) self->kind_counts[self->kinds[i]]++;
}

/* What was chosen from `start` on is a strand. Returns how many of its words are new. */
static inline size_t end_choice(Tokens *self, const Choice *choice, size_t start) {
    const size_t made = (size_t)(choice->token - self->all) - start, fresh = choice->literal - start;
    self->strands[self->strand_count++] = (Strand){(uint32_t)start, (uint32_t)made, (uint32_t)fresh};
    settle(self, self->all + start, made);
    return fresh;
}

/* Without a single repeat, the literals themselves are the tokens. */
static inline void choose_literals(Tokens *self, const uint8_t *words, size_t count) {
    forget_tokens(self);
    self->plain = 1;
    for (size_t i = 0; i < count; i++) self->literals[i] = word_of(words, i);
    for (size_t start = 0; start < count; start += PIECE_WORDS) {
        const uint32_t own = (uint32_t)(count - start < PIECE_WORDS ? count - start : PIECE_WORDS);
        self->strands[self->strand_count++] = (Strand){(uint32_t)start, own, own};
    }
}

#endif
