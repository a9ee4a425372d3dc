/* From what was found to tokens: what kind each is of, the extra bits of its distance, and which are new words. */
#ifndef GRIBMILL_CLASSIFY_TOKENS_H
#define GRIBMILL_CLASSIFY_TOKENS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cpu.h"

/* A token's kind is its place in the table of codes: distance symbol × 64 + length in words - 1; and from here on the new
   words, each by its place in the block. */
#define KINDS 2048
#define NO_LENGTH 0
/* So many are settled at once; the places of new words among them are written with others behind them. */
#define SETTLED 8

/* As they were found: where the same words are << 8 | how many. Settled, a kind in the lower half, extra bits at the top. */
typedef struct {
    uint32_t *tokens;
    const uint16_t *places; /* where in its piece each begins */
    size_t count;
    uint16_t piece;  /* where that begins in the block */
    uint16_t *fresh; /* the places of new words in the block, with room for SETTLED more */
} Unsettled;

static inline uint32_t float_bits(int32_t number) {
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* As a float's, a distance's bits are what deflate wants: exponent and first bit of the fraction are its symbol (from the
   bias on), the rest of the fraction its extra bits. */
static inline size_t settle_portable(const Unsettled *self, size_t begin, size_t fresh) {
    for (size_t i = begin; i < self->count; i++) {
        const uint32_t place = self->places[i], alike = self->tokens[i] & 255, from = self->tokens[i] >> 8;
        const uint32_t bits = float_bits((int32_t)(4 * (place - from)) - 1), symbol = (bits >> 22) - 2 * 127;
        const uint32_t repeat = (bits & ~UINT32_C(511)) << 10 | symbol << 6 | (alike - 1);
        self->fresh[fresh] = (uint16_t)(self->piece + place);
        fresh += alike == NO_LENGTH;
        self->tokens[i] = alike == NO_LENGTH ? KINDS + self->piece + place : repeat;
    }
    return fresh;
}

/* For each set of eight, the bytes of its members' places, one after the other. */
static uint8_t picks[1 << SETTLED][2 * SETTLED];

/* Once, before anything else is done. */
static void fill_picks(void) {
    for (unsigned set = 0; set < 1 << SETTLED; set++)
        for (unsigned member = 0, next = 0; member < SETTLED; member++) {
            if (!(set >> member & 1)) continue;
            picks[set][next++] = (uint8_t)(2 * member);
            picks[set][next++] = (uint8_t)(2 * member + 1);
        }
}

#ifdef WITH_AVX2
/* The same of eight at a time, as far as there are eight. */
AVX2 static inline size_t settle_avx2(const Unsettled *self) {
    const __m256i lengths = _mm256_set1_epi32(255), all_ones = _mm256_set1_epi32(-1);
    const __m256i no_symbol = _mm256_set1_epi32(-2 * 127 * 64 - 1), extra = _mm256_set1_epi32((int)(~UINT32_C(511) << 10));
    const __m256i new_kinds = _mm256_set1_epi32(KINDS);
    const __m128i origin = _mm_set1_epi16((short)self->piece);
    size_t fresh = 0;
    for (size_t i = 0; i + SETTLED <= self->count; i += SETTLED) {
        const __m256i found = _mm256_loadu_si256((const __m256i *)(self->tokens + i)), alike = _mm256_and_si256(found, lengths);
        const __m128i places = _mm_loadu_si128((const __m128i *)(self->places + i)), whole = _mm_add_epi16(places, origin);
        const __m256i back = _mm256_sub_epi32(_mm256_cvtepu16_epi32(places), _mm256_srli_epi32(found, 8));
        const __m256i distance = _mm256_add_epi32(_mm256_slli_epi32(back, 2), all_ones);
        const __m256i bits = _mm256_castps_si256(_mm256_cvtepi32_ps(distance));
        const __m256i symbol = _mm256_slli_epi32(_mm256_srli_epi32(bits, 22), 6);
        const __m256i kind = _mm256_add_epi32(_mm256_add_epi32(symbol, alike), no_symbol);
        const __m256i repeat = _mm256_or_si256(_mm256_and_si256(_mm256_slli_epi32(bits, 10), extra), kind);
        const __m256i is_new = _mm256_cmpeq_epi32(alike, _mm256_setzero_si256());
        const __m256i word = _mm256_add_epi32(_mm256_cvtepu16_epi32(whole), new_kinds);
        _mm256_storeu_si256((__m256i *)(self->tokens + i), _mm256_blendv_epi8(repeat, word, is_new));
        const unsigned set = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_new));
        const __m128i picked = _mm_shuffle_epi8(whole, _mm_loadu_si128((const __m128i *)picks[set]));
        _mm_storeu_si128((__m128i *)(self->fresh + fresh), picked);
        fresh += (size_t)__builtin_popcount(set);
    }
    return fresh;
}
#endif

/* Returns how many words are new. */
static inline size_t settle(const Unsettled *self) {
    size_t done = 0, fresh = 0;
#ifdef WITH_AVX2
    if (has_avx2()) {
        done = self->count / SETTLED * SETTLED;
        fresh = settle_avx2(self);
    }
#endif
    return settle_portable(self, done, fresh);
}

#endif
