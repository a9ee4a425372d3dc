/* Minimum, maximum, sum and number of missing values. */
#ifndef GRIBMILL_SUMMARY_H
#define GRIBMILL_SUMMARY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cpu.h"

/* Sums run in sixteen lanes, in the same order everywhere, so that a mean is the same to the last bit. With eight, each
   addition would wait for the one before. */
#define SUM_LANES 16

typedef struct {
    float least, greatest;
    double sums[SUM_LANES];
    size_t missing;
} Summary;

static inline Summary empty_summary(void) { return (Summary){INFINITY, -INFINITY, {0}, 0}; }

static void summarize_portable(Summary *self, const uint8_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, values + sizeof value * i, sizeof value);
        if (isnan(value)) {
            self->missing++;
            continue;
        }
        if (value < self->least) self->least = value;
        if (value > self->greatest) self->greatest = value;
        self->sums[i % SUM_LANES] += value;
    }
}

#ifdef WITH_AVX2
/* Adds eight values to their lanes; returns how many are present. */
AVX2 static inline size_t add_eight(const uint8_t *values, __m256 *least, __m256 *greatest, __m256d *low,
                                    __m256d *high) {
    const __m256 all = _mm256_loadu_ps((const float *)values), present = _mm256_cmp_ps(all, all, _CMP_ORD_Q);
    const __m256 or_zero = _mm256_and_ps(all, present);
    /* If the first operand is NaN, these return the second. */
    *least = _mm256_min_ps(all, *least);
    *greatest = _mm256_max_ps(all, *greatest);
    *low = _mm256_add_pd(*low, _mm256_cvtps_pd(_mm256_castps256_ps128(or_zero)));
    *high = _mm256_add_pd(*high, _mm256_cvtps_pd(_mm256_extractf128_ps(or_zero, 1)));
    return (size_t)__builtin_popcount((unsigned)_mm256_movemask_ps(present));
}

AVX2 static void merge_extremes(Summary *self, __m256 least, __m256 greatest) {
    float leasts[8], greatests[8];
    _mm256_storeu_ps(leasts, least);
    _mm256_storeu_ps(greatests, greatest);
    for (int lane = 0; lane < 8; lane++) {
        if (leasts[lane] < self->least) self->least = leasts[lane];
        if (greatests[lane] > self->greatest) self->greatest = greatests[lane];
    }
}

/* Returns how many values it has added: complete rounds of lanes. */
AVX2 static size_t summarize_avx2(Summary *self, const uint8_t *values, size_t count) {
    __m256 least[2], greatest[2];
    __m256d sums[4];
    for (int k = 0; k < 2; k++) least[k] = _mm256_set1_ps(INFINITY), greatest[k] = _mm256_set1_ps(-INFINITY);
    for (int k = 0; k < 4; k++) sums[k] = _mm256_loadu_pd(self->sums + 4 * k);
    size_t i = 0, present = 0;
    for (; i + SUM_LANES <= count; i += SUM_LANES) {
        present += add_eight(values + 4 * i, least, greatest, sums, sums + 1);
        present += add_eight(values + 4 * i + 32, least + 1, greatest + 1, sums + 2, sums + 3);
    }
    for (int k = 0; k < 2; k++) merge_extremes(self, least[k], greatest[k]);
    for (int k = 0; k < 4; k++) _mm256_storeu_pd(self->sums + 4 * k, sums[k]);
    self->missing += i - present;
    return i;
}
#endif

/* Adds `count` floats at any address. Only the last part of an array may be an incomplete round of lanes. */
static void summarize(Summary *self, const uint8_t *values, size_t count) {
    size_t done = 0;
#ifdef WITH_AVX2
    if (has_avx2()) done = summarize_avx2(self, values, count);
#endif
    summarize_portable(self, values + 4 * done, count - done);
}

static double total_of(const Summary *summary) {
    double total = 0;
    for (int lane = 0; lane < SUM_LANES; lane++) total += summary->sums[lane];
    return total;
}

#endif
