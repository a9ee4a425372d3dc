/* Which tokens are new words. */
#ifndef GRIBMILL_FRESH_H
#define GRIBMILL_FRESH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu.h"

/* Of so many tokens, the places of new words are picked at once, and written with as many others behind them. */
#define FRESH_SLACK 8

static inline size_t fresh_portable(const uint32_t *found, const uint16_t *places, size_t count, size_t piece, uint16_t *out) {
    size_t fresh = 0;
    for (size_t i = 0; i < count; i++) {
        out[fresh] = (uint16_t)(piece + places[i]);
        fresh += (found[i] & 255) == 0;
    }
    return fresh;
}

/* For each set of eight, the bytes of its members' places, one after the other. */
static uint8_t picks[1 << FRESH_SLACK][2 * FRESH_SLACK];

/* Once, before anything else is done. */
static void fill_picks(void) {
    for (unsigned set = 0; set < 1 << FRESH_SLACK; set++)
        for (unsigned member = 0, next = 0; member < FRESH_SLACK; member++) {
            if (!(set >> member & 1)) continue;
            picks[set][next++] = (uint8_t)(2 * member);
            picks[set][next++] = (uint8_t)(2 * member + 1);
        }
}

#ifdef WITH_AVX2
AVX2 static inline size_t fresh_avx2(const uint32_t *found, const uint16_t *places, size_t count, size_t piece, uint16_t *out) {
    const __m256i none = _mm256_setzero_si256();
    const __m128i origin = _mm_set1_epi16((short)piece);
    size_t fresh = 0;
    for (size_t i = 0; i < count; i += FRESH_SLACK) {
        const __m256i alike = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)(found + i)), 24);
        const unsigned set = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(alike, none)));
        const __m128i here = _mm_add_epi16(_mm_loadu_si128((const __m128i *)(places + i)), origin);
        _mm_storeu_si128((__m128i *)(out + fresh), _mm_shuffle_epi8(here, _mm_loadu_si128((const __m128i *)picks[set])));
        fresh += (size_t)__builtin_popcount(set);
    }
    return fresh;
}
#endif

/* The places in the block of those of a piece's tokens that are new words: `out` has room for FRESH_SLACK more. Returns how
   many there are. */
static inline size_t list_fresh(const uint32_t *found, const uint16_t *places, size_t count, size_t piece, uint16_t *out) {
    size_t done = 0, fresh = 0;
#ifdef WITH_AVX2
    if (has_avx2()) {
        done = count / FRESH_SLACK * FRESH_SLACK;
        fresh = fresh_avx2(found, places, done, piece, out);
    }
#endif
    return fresh + fresh_portable(found + done, places + done, count - done, piece, out + fresh);
}

#endif
