/* Converts parsed tokens to classes of tokens with the same code, and the extra bits of their distances.

   The class of a match is distance symbol × 64 + length in words - 1. Classes from MATCH_CLASSES on are literal words,
   each by its position in the block. */
#ifndef GRIBMILL_CLASSIFY_TOKENS_H
#define GRIBMILL_CLASSIFY_TOKENS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cpu.h"
#include "match_finder.h"

#define MATCH_CLASSES 2048
/* Tokens that are classified at once; positions of literal words are stored eight at a time, some beyond the last one.
 */
#define CLASSIFIED_AT_ONCE 8

typedef struct {
    uint32_t *tokens; /* before: MATCH(position, length); after: class in the lower half, extra bits at the top */
    const uint16_t *positions; /* where in its segment each begins */
    size_t count;
    uint16_t segment;            /* where that begins in the block */
    uint16_t *literal_positions; /* out: of literal words in the block, with room for CLASSIFIED_AT_ONCE more */
} Classification;

static inline uint32_t bits_of_float(int32_t number) {
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* Deflate's distance codes are a floating-point format: of distance - 1 as a float, exponent and first bit of the
   fraction are the symbol (less the bias), the rest of the fraction are the extra bits. */
static inline size_t classify_portable(const Classification *self, size_t begin, size_t literals) {
    for (size_t i = begin; i < self->count; i++) {
        const uint32_t position = self->positions[i], length = MATCH_LENGTH(self->tokens[i]);
        const uint32_t from = MATCH_POSITION(self->tokens[i]);
        const uint32_t bits = bits_of_float((int32_t)(4 * (position - from)) - 1), symbol = (bits >> 22) - 2 * 127;
        const uint32_t match = (bits & ~UINT32_C(511)) << 10 | symbol << 6 | (length - 1);
        self->literal_positions[literals] = (uint16_t)(self->segment + position);
        literals += length == NO_MATCH;
        self->tokens[i] = length == NO_MATCH ? MATCH_CLASSES + self->segment + position : match;
    }
    return literals;
}

/* For each set of eight: a shuffle that moves the 16-bit members of the set to the front. */
static uint8_t compress_shuffles[1 << CLASSIFIED_AT_ONCE][2 * CLASSIFIED_AT_ONCE];

/* Called once, when the module is loaded. */
static void init_compress_shuffles(void) {
    for (unsigned set = 0; set < 1 << CLASSIFIED_AT_ONCE; set++)
        for (unsigned member = 0, next = 0; member < CLASSIFIED_AT_ONCE; member++) {
            if (!(set >> member & 1)) continue;
            compress_shuffles[set][next++] = (uint8_t)(2 * member);
            compress_shuffles[set][next++] = (uint8_t)(2 * member + 1);
        }
}

#ifdef WITH_AVX2
/* The same for eight tokens at a time, as long as there are eight. */
AVX2 static inline size_t classify_avx2(const Classification *self) {
    const __m256i length_mask = _mm256_set1_epi32(255), all_ones = _mm256_set1_epi32(-1);
    const __m256i bias = _mm256_set1_epi32(-2 * 127 * 64 - 1);
    const __m256i extra = _mm256_set1_epi32((int)(~UINT32_C(511) << 10));
    const __m256i literal_classes = _mm256_set1_epi32(MATCH_CLASSES);
    const __m128i segment = _mm_set1_epi16((short)self->segment);
    size_t literals = 0;
    for (size_t i = 0; i + CLASSIFIED_AT_ONCE <= self->count; i += CLASSIFIED_AT_ONCE) {
        const __m256i token = _mm256_loadu_si256((const __m256i *)(self->tokens + i));
        const __m256i length = _mm256_and_si256(token, length_mask);
        const __m128i positions = _mm_loadu_si128((const __m128i *)(self->positions + i));
        const __m128i in_block = _mm_add_epi16(positions, segment);
        const __m256i back = _mm256_sub_epi32(_mm256_cvtepu16_epi32(positions), _mm256_srli_epi32(token, 8));
        const __m256i distance = _mm256_add_epi32(_mm256_slli_epi32(back, 2), all_ones);
        const __m256i bits = _mm256_castps_si256(_mm256_cvtepi32_ps(distance));
        const __m256i symbol = _mm256_slli_epi32(_mm256_srli_epi32(bits, 22), 6);
        const __m256i match_class = _mm256_add_epi32(_mm256_add_epi32(symbol, length), bias);
        const __m256i match = _mm256_or_si256(_mm256_and_si256(_mm256_slli_epi32(bits, 10), extra), match_class);
        const __m256i is_literal = _mm256_cmpeq_epi32(length, _mm256_setzero_si256());
        const __m256i literal = _mm256_add_epi32(_mm256_cvtepu16_epi32(in_block), literal_classes);
        _mm256_storeu_si256((__m256i *)(self->tokens + i), _mm256_blendv_epi8(match, literal, is_literal));
        const unsigned set = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_literal));
        const __m128i shuffle = _mm_loadu_si128((const __m128i *)compress_shuffles[set]);
        _mm_storeu_si128((__m128i *)(self->literal_positions + literals), _mm_shuffle_epi8(in_block, shuffle));
        literals += (size_t)__builtin_popcount(set);
    }
    return literals;
}
#endif

/* Returns how many tokens are literal words. */
static inline size_t classify_tokens(const Classification *self) {
    size_t done = 0, literals = 0;
#ifdef WITH_AVX2
    if (has_avx2()) {
        done = self->count / CLASSIFIED_AT_ONCE * CLASSIFIED_AT_ONCE;
        literals = classify_avx2(self);
    }
#endif
    return classify_portable(self, done, literals);
}

#endif
