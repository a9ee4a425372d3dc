/* Which of all repeats that were found are used, for large arrays: fields of many points have short repeats that cannot
   be foretold, so that there is hardly a jump here. */
#ifndef GRIBMILL_PARSE_INTERLEAVED_H
#define GRIBMILL_PARSE_INTERLEAVED_H

#include "tokens.h"

/* No repeat reaches from one strand of a piece into the next. Each token waits for the one before it to tell where it
   begins: four strands at once wait a quarter as long. */
typedef struct {
    size_t at[STRANDS], end[STRANDS]; /* where in the piece the next token begins, and where the strand ends */
    size_t first[STRANDS];            /* the number of its first token */
    size_t tokens;                    /* that each of them has */
} Choices;

/* Out of the way of all others. */
static __attribute__((noinline)) uint32_t long_repeat(const uint8_t *words, size_t at, size_t from, size_t end) {
    return longest_from(words, at, from, end);
}

/* For how many tokens no strand can have fewer than LANES words left. */
static inline size_t sure_steps(const Choices *self) {
    size_t least = PIECE_WORDS;
    for (unsigned k = 0; k < STRANDS; k++) {
        const size_t left = self->end[k] - self->at[k];
        least = left < least ? left : least;
    }
    return least < LANES ? 0 : (least - LANES) / LONGEST_WORDS + 1;
}

/* The first repeat that comes is used, as long as it is. */
static inline void choose_together(Tokens *self, const Repeats *repeats, const uint8_t *words, Choices *choices) {
    Choices own = *choices;
    for (size_t sure; (sure = sure_steps(&own));)
        for (; sure; sure--, own.tokens++)
#pragma GCC unroll 4
            for (unsigned k = 0; k < STRANDS; k++) {
                const size_t at = own.at[k];
                uint32_t found = repeats->found[at];
                if (SELDOM((found & 255) == LANES)) found = long_repeat(words, at, found >> 8, own.end[k]);
                add_token(self, own.first[k] + own.tokens, at, found);
                own.at[k] = behind(at, found);
            }
    *choices = own;
}

/* What is left of a strand, with nothing past its end. Returns how many tokens it has. */
static inline size_t choose_rest(Tokens *self, const Repeats *repeats, const uint8_t *words, const Choices *choices, unsigned k) {
    const size_t end = choices->end[k];
    size_t at = choices->at[k], tokens = choices->tokens;
    while (at < end) {
        uint32_t found = repeats->found[at];
        if ((found & 255) == LANES || (found & 255) > end - at) found = longest_from(words, at, found >> 8, end);
        add_token(self, choices->first[k] + tokens++, at, found);
        at = behind(at, found);
    }
    return tokens;
}

/* Returns how many words of the piece that begins at the block's word `piece` are new. */
static inline size_t choose_strands(Tokens *self, const Repeats *repeats, const uint8_t *words, size_t piece, size_t count) {
    const size_t length = (count + STRANDS - 1) / STRANDS;
    Choices choices = {.tokens = 0};
    size_t fresh = 0;
    for (unsigned k = 0; k < STRANDS; k++) {
        choices.at[k] = k * length < count ? k * length : count;
        choices.end[k] = count - choices.at[k] < length ? count : choices.at[k] + length;
        choices.first[k] = piece + choices.at[k];
    }
    choose_together(self, repeats, words, &choices);
    for (unsigned k = 0; k < STRANDS; k++) {
        const size_t tokens = choose_rest(self, repeats, words, &choices, k);
        fresh += end_strand(self, words, piece, choices.first[k], tokens);
    }
    return fresh;
}

#endif
