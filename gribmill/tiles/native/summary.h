/* The least, the greatest and the sum of what is there. */
#ifndef GRIBMILL_SUMMARY_H
#define GRIBMILL_SUMMARY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Sums run in eight lanes, value by value: in the same order everywhere, so that a mean is the same to the last bit. */
#define SUM_LANES 8

typedef struct {
    float least, greatest;
    double sums[SUM_LANES];
    size_t missing;
} Summary;

static void summarize_portable(Summary *self, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float value = values[i];
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
AVX2 static size_t summarize_avx2(Summary *self, const float *values, size_t count) {
    __m256 least = _mm256_set1_ps(INFINITY), greatest = _mm256_set1_ps(-INFINITY);
    __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
    size_t i = 0, present = 0;
    for (; i + SUM_LANES <= count; i += SUM_LANES) {
        const __m256 all = _mm256_loadu_ps(values + i), here = _mm256_cmp_ps(all, all, _CMP_ORD_Q);
        const __m256 or_zero = _mm256_and_ps(all, here);
        /* Of a number and what is none, these take the second. */
        least = _mm256_min_ps(all, least);
        greatest = _mm256_max_ps(all, greatest);
        low = _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(or_zero)));
        high = _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps(or_zero, 1)));
        present += (size_t)__builtin_popcount((unsigned)_mm256_movemask_ps(here));
    }
    float leasts[SUM_LANES], greatests[SUM_LANES];
    _mm256_storeu_ps(leasts, least);
    _mm256_storeu_ps(greatests, greatest);
    for (int lane = 0; lane < SUM_LANES; lane++) {
        if (leasts[lane] < self->least) self->least = leasts[lane];
        if (greatests[lane] > self->greatest) self->greatest = greatests[lane];
    }
    _mm256_storeu_pd(self->sums, low);
    _mm256_storeu_pd(self->sums + 4, high);
    self->missing = i - present;
    return i;
}
#endif

static Summary summarize(const float *values, size_t count) {
    Summary found = {INFINITY, -INFINITY, {0}, 0};
    size_t done = 0;
#ifdef WITH_AVX2
    if (has_avx2()) done = summarize_avx2(&found, values, count);
#endif
    summarize_portable(&found, values + done, count - done);
    return found;
}

static double sum_of(const Summary *summary) {
    double sum = 0;
    for (int lane = 0; lane < SUM_LANES; lane++) sum += summary->sums[lane];
    return sum;
}

#endif
