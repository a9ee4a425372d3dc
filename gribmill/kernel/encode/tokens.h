/* What a block of words is made of: words that are new, and repeats of words before them. */
#ifndef GRIBMILL_TOKENS_H
#define GRIBMILL_TOKENS_H

#include "dynamic_block_header.h"
#include "match_finder.h"
#include "classify_tokens.h"

#define BLOCK_WORDS 16384
#define PIECES (BLOCK_WORDS / PIECE_WORDS)
/* In a piece. */
#define STRANDS 4
#define LONGEST_WORDS 64
#define NEW_WORD SEEN_AT(0, NO_LENGTH)
/* Two tokens that follow each other are not counted in the same place: there, one would wait for the other. */
#define COUNTERS 2

/* Words at whose end a token ends: where their tokens and new words begin in the lists of them, which is where the words
   begin in the block; and how many of those there are. */
typedef struct {
    uint32_t start, tokens, literals;
} Strand;

typedef struct {
    uint32_t all[BLOCK_WORDS];
    uint16_t places[BLOCK_WORDS]; /* where in its piece each begins */
    uint32_t literals[BLOCK_WORDS];
    uint16_t literal_places[BLOCK_WORDS + SETTLED]; /* in the block */
    Strand strands[PIECES * STRANDS];
    unsigned strand_count;
    int plain; /* literals alone */
    /* Of kinds. New words are counted as well, which nobody reads: to leave them out takes longer. */
    uint16_t kind_counts[COUNTERS][KINDS + BLOCK_WORDS];
} Tokens;

static inline void forget_tokens(Tokens *self) {
    for (unsigned i = 0; i < COUNTERS; i++) memset(self->kind_counts[i], 0, KINDS * sizeof **self->kind_counts);
    self->strand_count = 0;
    self->plain = 0;
}

/* As many words as are alike, up to an end. */
static inline uint32_t longest_from(const uint8_t *words, size_t at, size_t from, size_t end) {
    const size_t left = end - at;
    return SEEN_AT(from, (uint32_t)alike_from(words, at, from, left < LONGEST_WORDS ? left : LONGEST_WORDS));
}

/* A token of this number begins at a place of its piece. */
static inline void add_token(Tokens *self, size_t number, size_t at, uint32_t found) {
    self->places[number] = (uint16_t)at;
    self->all[number] = found;
}

/* Where the one behind it begins. */
static inline size_t behind(size_t at, uint32_t found) {
    const size_t alike = found & 255;
    return at + alike + (alike == NO_LENGTH);
}

static inline void count_kinds(Tokens *self, const uint32_t *tokens, size_t count) {
    size_t i = 0;
    for (; i + COUNTERS <= count; i += COUNTERS)
        for (size_t k = 0; k < COUNTERS; k++) self->kind_counts[k][(uint16_t)tokens[i + k]]++;
    for (; i < count; i++) self->kind_counts[0][(uint16_t)tokens[i]]++;
}

/* The tokens from `start` on are a strand of the piece that begins at the block's word `piece`. Returns how many of its
   words are new. */
static inline size_t end_strand(Tokens *self, const uint8_t *words, size_t piece, size_t start, size_t count) {
    uint32_t *tokens = self->all + start;
    uint16_t *places = self->literal_places + start;
    const size_t fresh = settle(&(Unsettled){tokens, self->places + start, count, (uint16_t)piece, places});
    for (size_t i = 0; i < fresh; i++) self->literals[start + i] = word_of(words, places[i] - piece);
    count_kinds(self, tokens, count);
    self->strands[self->strand_count++] = (Strand){(uint32_t)start, (uint32_t)count, (uint32_t)fresh};
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
