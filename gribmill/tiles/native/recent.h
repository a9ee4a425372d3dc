/* Which repeats are used in small arrays, and in integers: words are only looked for where a token begins, as much of a
   small field is one value again and again; and only where the same word was last, from which others may follow. */
#ifndef GRIBMILL_RECENT_H
#define GRIBMILL_RECENT_H

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

static inline void use_new(Tokens *self, const uint8_t *words, Choice *choice) {
    self->literals[choice->literal] = word_of(words, choice->at++);
    *choice->token++ = choice->literal++ << 8;
}

/* Two words or more; one, at the end of a piece. */
static inline void use_repeat(const uint8_t *words, Choice *choice, size_t from) {
    const size_t left = choice->end - choice->at;
    const size_t alike = alike_from(words, choice->at, from, left < LONGEST_WORDS ? left : LONGEST_WORDS);
    *choice->token++ = (uint32_t)(choice->at - from) << 8 | (uint32_t)alike;
    choice->at += alike;
}

/* A word that is new, or one that repeats: which of them cannot be foretold, so that there is no jump for it. */
static inline void use_word(Tokens *self, const uint8_t *words, Choice *choice, size_t from) {
    const uint32_t word = word_of(words, choice->at), repeats = 0u - (uint32_t)(word == word_of(words, from));
    const uint32_t back = (uint32_t)(choice->at++ - from), literal = choice->literal;
    self->literals[literal] = word;
    *choice->token++ = ((literal ^ ((literal ^ back) & repeats)) << 8) - repeats;
    choice->literal = literal + 1 + repeats;
}

/* The first repeat that comes is used, as long as it is; the last of its words may be looked for again. */
static inline void choose_until(Tokens *self, Repeats *repeats, const uint8_t *words, Choice *choice, size_t safe, int runs) {
    Choice own = *choice;
    while (own.at < safe) {
        const size_t from = seen_last(repeats, words, own.at, runs);
        if (pair_of(words, own.at) != pair_of(words, from)) {
            use_word(self, words, &own, from);
            continue;
        }
        use_repeat(words, &own, from);
        if (own.at < safe) seen_last(repeats, words, own.at - 1, runs);
    }
    *choice = own;
}

/* Of the piece that begins at the block's word `piece`; up to `readable` words may be read. Returns how many are new: all,
   with nothing to be used, where the first ones of the first piece hardly repeat. */
static inline size_t choose_recent(Tokens *self, Repeats *repeats, const uint8_t *words, size_t piece, size_t count,
                                   size_t readable, int runs) {
    const size_t safe = count < readable ? count : readable - 1;
    Choice choice = begin_choice(self, piece, 0, count);
    if (!runs) memset(repeats->word_at, 0, sizeof repeats->word_at);
    use_new(self, words, &choice);
    choose_until(self, repeats, words, &choice, safe < EARLY_WORDS ? safe : EARLY_WORDS, runs);
    if (!runs && !piece && hardly_repeat(choice.at - choice.literal, choice.at, words, count)) return count;
    choose_until(self, repeats, words, &choice, safe, runs);
    while (choice.at < count) use_new(self, words, &choice);
    return end_choice(self, &choice, piece);
}

#endif
