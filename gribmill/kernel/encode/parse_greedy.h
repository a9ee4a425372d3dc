/* The parser of small arrays, and of integers. Words are only looked up where a token begins, since much of a small
   field is one value again and again; and only the last position of the same word is tried. */
#ifndef GRIBMILL_PARSE_GREEDY_H
#define GRIBMILL_PARSE_GREEDY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "match_finder.h"
#include "tokens.h"

/* The last position of words with the same hash, which becomes this one. Position 0 also stands for none: the words
   have to be compared. With `runs_only`, the word right before. */
static inline size_t last_position(MatchFinder *self, const uint8_t *words, size_t position, int runs_only) {
    if (runs_only) return position - 1;
    uint16_t *last = self->last_word + (word_at(words, position) * WORD_FACTOR >> (32 - HASH_BITS));
    const size_t before = *last;
    *last = (uint16_t)position;
    return before;
}

/* Where in the segment the next token begins, where the segment ends, and the number of the next token. */
typedef struct {
    size_t at, end, token;
} ParseState;

/* Greedy: the match at a token's position is used in its full length; the last of its words may be matched later. */
static inline void parse_until(Tokens *self, MatchFinder *finder, const uint8_t *words, ParseState *state, size_t safe,
                               int runs_only) {
    ParseState own = *state;
    while (own.at < safe) {
        const size_t from = last_position(finder, words, own.at, runs_only);
        if (pair_at(words, own.at) != pair_at(words, from)) {
            /* A literal word or a match of one word, which cannot be predicted: there is no branch for it. */
            const uint32_t length = word_at(words, own.at) == word_at(words, from);
            add_token(self, own.token++, own.at++, MATCH(from, length));
            continue;
        }
        const uint32_t match = extend_match(words, own.at, from, own.end);
        add_token(self, own.token++, own.at, match);
        own.at = token_end(own.at, match);
        if (own.at < safe) last_position(finder, words, own.at - 1, runs_only);
    }
    *state = own;
}

/* Returns how many words of the segment that begins at the block's word `segment` are literals: all, with nothing of
   use, where matches are rare at the start of the first segment. Up to `readable` words may be read. */
static inline size_t parse_greedy(Tokens *self, MatchFinder *finder, const uint8_t *words, size_t segment, size_t count,
                                  size_t readable, int runs_only) {
    const size_t safe = count < readable ? count : readable - 1;
    ParseState state = {0, count, segment};
    if (!runs_only) memset(finder->last_word, 0, sizeof finder->last_word);
    add_token(self, state.token++, state.at++, LITERAL_WORD);
    parse_until(self, finder, words, &state, safe < SAMPLE_WORDS ? safe : SAMPLE_WORDS, runs_only);
    if (!runs_only && !segment) {
        const size_t literals = state.token - count_matches(self->tokens, state.token);
        if (matches_are_rare(state.at - literals, state.at, words, count)) return count;
    }
    parse_until(self, finder, words, &state, safe, runs_only);
    while (state.at < count) add_token(self, state.token++, state.at++, LITERAL_WORD);
    return end_run(self, words, segment, segment, state.token - segment);
}

#endif
