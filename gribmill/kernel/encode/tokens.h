/* The tokens of a block: literal words (four literals) and matches of words before them. */
#ifndef GRIBMILL_TOKENS_H
#define GRIBMILL_TOKENS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "classify_tokens.h"
#include "match_finder.h"

#define BLOCK_WORDS 16384
#define BLOCK_SEGMENTS (BLOCK_WORDS / SEGMENT_WORDS)
/* Runs of a segment: the interleaved parser makes four. */
#define SEGMENT_RUNS 4
/* Deflate allows 258 bytes. */
#define MAX_MATCH_WORDS 64
#define LITERAL_WORD MATCH(0, NO_MATCH)
/* Tables of class counts: neighbouring tokens are counted in different ones, so that no count waits for the one
   before. */
#define COUNT_TABLES 2

/* Consecutive words at whose end a token ends. Its tokens and its literal words start in their lists at the index at
   which its words start in the block. */
typedef struct {
    uint32_t start, tokens, literals;
} TokenRun;

typedef struct {
    uint32_t tokens[BLOCK_WORDS];
    uint16_t positions[BLOCK_WORDS]; /* where in its segment each begins */
    uint32_t literal_words[BLOCK_WORDS];
    uint16_t literal_positions[BLOCK_WORDS + CLASSIFIED_AT_ONCE]; /* in the block */
    TokenRun runs[BLOCK_SEGMENTS * SEGMENT_RUNS];
    unsigned run_count;
    int literals_only;
    /* Literal words are counted too, though not used: leaving them out takes longer. */
    uint16_t class_counts[COUNT_TABLES][MATCH_CLASSES + BLOCK_WORDS];
} Tokens;

static inline void clear_tokens(Tokens *self) {
    for (unsigned i = 0; i < COUNT_TABLES; i++)
        memset(self->class_counts[i], 0, MATCH_CLASSES * sizeof **self->class_counts);
    self->run_count = 0;
    self->literals_only = 0;
}

/* The match of words at `at` with those at `from`, as long as they are equal and before `end`. */
static inline uint32_t extend_match(const uint8_t *words, size_t at, size_t from, size_t end) {
    const size_t left = end - at, most = left < MAX_MATCH_WORDS ? left : MAX_MATCH_WORDS;
    return MATCH(from, (uint32_t)equal_words(words, at, from, most));
}

static inline void add_token(Tokens *self, size_t number, size_t position, uint32_t match) {
    self->positions[number] = (uint16_t)position;
    self->tokens[number] = match;
}

/* Where the token after this one begins. */
static inline size_t token_end(size_t position, uint32_t match) {
    const size_t length = MATCH_LENGTH(match);
    return position + length + (length == NO_MATCH);
}

static inline void count_classes(Tokens *self, const uint32_t *tokens, size_t count) {
    size_t i = 0;
    for (; i + COUNT_TABLES <= count; i += COUNT_TABLES)
        for (size_t k = 0; k < COUNT_TABLES; k++) self->class_counts[k][(uint16_t)tokens[i + k]]++;
    for (; i < count; i++) self->class_counts[0][(uint16_t)tokens[i]]++;
}

/* Turns the tokens from `start` on into a run of the segment that begins at the block's word `segment`. Returns how
 * many of them are literal words. */
static inline size_t end_run(Tokens *self, const uint8_t *words, size_t segment, size_t start, size_t count) {
    uint32_t *tokens = self->tokens + start;
    uint16_t *positions = self->literal_positions + start;
    const size_t literals =
        classify_tokens(&(Classification){tokens, self->positions + start, count, (uint16_t)segment, positions});
    for (size_t i = 0; i < literals; i++) self->literal_words[start + i] = word_at(words, positions[i] - segment);
    count_classes(self, tokens, count);
    self->runs[self->run_count++] = (TokenRun){(uint32_t)start, (uint32_t)count, (uint32_t)literals};
    return literals;
}

/* Without any match, the literal words themselves are the tokens. */
static inline void make_literals_only(Tokens *self, const uint8_t *words, size_t count) {
    clear_tokens(self);
    self->literals_only = 1;
    for (size_t i = 0; i < count; i++) self->literal_words[i] = word_at(words, i);
    for (size_t start = 0; start < count; start += SEGMENT_WORDS) {
        const uint32_t own = (uint32_t)(count - start < SEGMENT_WORDS ? count - start : SEGMENT_WORDS);
        self->runs[self->run_count++] = (TokenRun){(uint32_t)start, own, own};
    }
}

#endif
