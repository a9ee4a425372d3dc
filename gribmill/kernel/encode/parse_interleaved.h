/* The parser of large arrays: which of the matches that were found are used. Fields of many points have short matches
   whose lengths a processor cannot predict, so that there is hardly a branch here. */
#ifndef GRIBMILL_PARSE_INTERLEAVED_H
#define GRIBMILL_PARSE_INTERLEAVED_H

#include <stddef.h>
#include <stdint.h>

#include "../cpu.h"
#include "match_finder.h"
#include "tokens.h"

/* A segment is parsed as four lanes, and no match reaches from one into the next. Each token has to wait for the one
   before it to know where it begins: four at once wait a quarter as long. */
#define PARSE_LANES SEGMENT_RUNS

typedef struct {
    size_t at[PARSE_LANES], end[PARSE_LANES]; /* where in the segment the next token begins, and where the lane ends */
    size_t first[PARSE_LANES];                /* the number of its first token */
    size_t tokens;                            /* how many each lane has */
} ParseLanes;

/* Out of line, to keep it out of the loop's registers. */
static __attribute__((noinline)) uint32_t extend_long_match(const uint8_t *words, size_t at, size_t from, size_t end) {
    return extend_match(words, at, from, end);
}

/* For how many tokens every lane is sure to have at least VECTOR_WORDS words left. */
static inline size_t safe_tokens(const ParseLanes *self) {
    size_t least = SEGMENT_WORDS;
    for (unsigned k = 0; k < PARSE_LANES; k++) {
        const size_t left = self->end[k] - self->at[k];
        least = left < least ? left : least;
    }
    return least < VECTOR_WORDS ? 0 : (least - VECTOR_WORDS) / MAX_MATCH_WORDS + 1;
}

/* Greedy: the match at a token's position is used in its full length. */
static inline void parse_lanes(Tokens *self, const MatchFinder *finder, const uint8_t *words, ParseLanes *lanes) {
    ParseLanes own = *lanes;
    for (size_t safe; (safe = safe_tokens(&own));)
        for (; safe; safe--, own.tokens++)
#pragma GCC unroll 4
            for (unsigned k = 0; k < PARSE_LANES; k++) {
                const size_t at = own.at[k];
                uint32_t match = finder->matches[at];
                if (UNLIKELY(MATCH_LENGTH(match) == VECTOR_WORDS))
                    match = extend_long_match(words, at, MATCH_POSITION(match), own.end[k]);
                add_token(self, own.first[k] + own.tokens, at, match);
                own.at[k] = token_end(at, match);
            }
    *lanes = own;
}

/* The rest of a lane, up to its end. Returns how many tokens the lane has. */
static inline size_t finish_lane(Tokens *self, const MatchFinder *finder, const uint8_t *words, const ParseLanes *lanes,
                                 unsigned k) {
    const size_t end = lanes->end[k];
    size_t at = lanes->at[k], tokens = lanes->tokens;
    while (at < end) {
        uint32_t match = finder->matches[at];
        if (MATCH_LENGTH(match) == VECTOR_WORDS || MATCH_LENGTH(match) > end - at)
            match = extend_match(words, at, MATCH_POSITION(match), end);
        add_token(self, lanes->first[k] + tokens++, at, match);
        at = token_end(at, match);
    }
    return tokens;
}

/* Returns how many words of the segment that begins at the block's word `segment` are literals. */
static inline size_t parse_interleaved(Tokens *self, const MatchFinder *finder, const uint8_t *words, size_t segment,
                                       size_t count) {
    const size_t length = (count + PARSE_LANES - 1) / PARSE_LANES;
    ParseLanes lanes = {.tokens = 0};
    size_t literals = 0;
    for (unsigned k = 0; k < PARSE_LANES; k++) {
        lanes.at[k] = k * length < count ? k * length : count;
        lanes.end[k] = count - lanes.at[k] < length ? count : lanes.at[k] + length;
        lanes.first[k] = segment + lanes.at[k];
    }
    parse_lanes(self, finder, words, &lanes);
    for (unsigned k = 0; k < PARSE_LANES; k++) {
        const size_t tokens = finish_lane(self, finder, words, &lanes, k);
        literals += end_run(self, words, segment, lanes.first[k], tokens);
    }
    return literals;
}

#endif
