/* Which repeats are used in small arrays, and in integers: words are only looked for where a token begins, as much of a
   small field is one value again and again; and only where the same word was last, from which others may follow. */
#ifndef GRIBMILL_PARSE_GREEDY_H
#define GRIBMILL_PARSE_GREEDY_H

#include "tokens.h"

/* Where a word may have been seen last; from now on, that is here. The first place stands for nowhere, too: what is there
   has to be compared. For `runs`, only the word right before is looked at. */
static inline size_t seen_last(Repeats *self, const uint8_t *words, size_t place, int runs) {
    if (runs) return place - 1;
    uint16_t *at = self->word_at + (word_of(words, place) * WORD_FACTOR >> (32 - HASH_BITS));
    const size_t before = *at;
    *at = (uint16_t)place;
    return before;
}

/* Where the choice has come to in a piece, and the next token in the list of all. */
typedef struct {
    size_t at, end, token;
} Choice;

/* The first repeat that comes is used, as long as it is; the last of its words may be looked for again. */
static inline void choose_until(Tokens *self, Repeats *repeats, const uint8_t *words, Choice *choice, size_t safe, int runs) {
    Choice own = *choice;
    while (own.at < safe) {
        const size_t from = seen_last(repeats, words, own.at, runs);
        if (pair_of(words, own.at) != pair_of(words, from)) {
            /* One that is new, or one that repeats: which of them cannot be foretold, so that there is no jump for it. */
            const uint32_t alike = word_of(words, own.at) == word_of(words, from);
            add_token(self, own.token++, own.at++, SEEN_AT(from, alike));
            continue;
        }
        const uint32_t found = longest_from(words, own.at, from, own.end);
        add_token(self, own.token++, own.at, found);
        own.at = behind(own.at, found);
        if (own.at < safe) seen_last(repeats, words, own.at - 1, runs);
    }
    *choice = own;
}

/* Of the piece that begins at the block's word `piece`; up to `readable` words may be read. Returns how many are new: all,
   with nothing to be used, where the first ones of the first piece hardly repeat. */
static inline size_t choose_recent(Tokens *self, Repeats *repeats, const uint8_t *words, size_t piece, size_t count,
                                   size_t readable, int runs) {
    const size_t safe = count < readable ? count : readable - 1;
    Choice choice = {0, count, piece};
    if (!runs) memset(repeats->word_at, 0, sizeof repeats->word_at);
    add_token(self, choice.token++, choice.at++, NEW_WORD);
    choose_until(self, repeats, words, &choice, safe < EARLY_WORDS ? safe : EARLY_WORDS, runs);
    if (!runs && !piece) {
        const size_t fresh = choice.token - count_repeats(self->all, choice.token);
        if (hardly_repeat(choice.at - fresh, choice.at, words, count)) return count;
    }
    choose_until(self, repeats, words, &choice, safe, runs);
    while (choice.at < count) add_token(self, choice.token++, choice.at++, NEW_WORD);
    return end_strand(self, words, piece, piece, choice.token - piece);
}

#endif
