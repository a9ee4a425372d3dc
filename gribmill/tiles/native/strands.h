/* Which of all repeats that were found are used, for large arrays: fields of many points have short repeats that cannot
   be foretold, so that there is hardly a jump here. */
#ifndef GRIBMILL_STRANDS_H
#define GRIBMILL_STRANDS_H

#include "tokens.h"

/* One token: the first repeat that comes is used, as long as it is. */
static inline void choose_found(Tokens *self, const Repeats *repeats, const uint8_t *words, Choice *choice) {
    const size_t at = choice->at, left = choice->end - at;
    const uint32_t found = repeats->found[at], from = found >> 8, literal = choice->literal;
    uint32_t alike = found & 255;
    if (alike == LANES) alike = (uint32_t)alike_from(words, at, from, left < LONGEST_WORDS ? left : LONGEST_WORDS);
    const uint32_t fresh = alike == NO_LENGTH, back = (uint32_t)at - from;
    self->literals[literal] = word_of(words, at);
    *choice->token++ = (back ^ ((back ^ literal) & (0u - fresh))) << 8 | alike;
    choice->literal += fresh;
    choice->at += alike + fresh;
}

/* Each token waits for the one before it to tell where it begins: two strands at once wait half as long. Returns how many
   words of the piece that begins at the block's word `piece` are new. */
static inline size_t choose_strands(Tokens *self, const Repeats *repeats, const uint8_t *words, size_t piece, size_t count) {
    size_t fresh = 0;
    for (size_t start = 0; start < count; start += 2 * STRAND_WORDS) {
        const size_t middle = count - start < STRAND_WORDS ? count : start + STRAND_WORDS;
        const size_t end = count - middle < STRAND_WORDS ? count : middle + STRAND_WORDS;
        Choice one = begin_choice(self, piece, start, middle), other = begin_choice(self, piece, middle, end);
        while (one.at < one.end && other.at < other.end) {
            choose_found(self, repeats, words, &one);
            choose_found(self, repeats, words, &other);
        }
        while (one.at < one.end) choose_found(self, repeats, words, &one);
        while (other.at < other.end) choose_found(self, repeats, words, &other);
        fresh += end_choice(self, &one, piece + start);
        if (middle < end) fresh += end_choice(self, &other, piece + middle);
    }
    return fresh;
}

#endif
