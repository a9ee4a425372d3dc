/* The CCSDS preprocessor undone: a unit-delay predictor and a prediction error mapper.

   All but the first sample of an interval are differences to the sample before, mapped to unsigned integers: even ones
   are steps up, odd ones steps down, and beyond the nearer end of the sample range only one direction is possible, so
   that the mapped error is the plain distance. */
#ifndef GRIBMILL_CCSDS_PREPROCESSOR_H
#define GRIBMILL_CCSDS_PREPROCESSOR_H

#include <stddef.h>
#include <stdint.h>

#include "../cpu.h"

/* The sample after `before`; `max_sample` is 2^bits - 1. */
static inline uint32_t unmap(uint32_t before, uint32_t mapped, uint32_t max_sample) {
    const uint32_t mirror = before & (max_sample / 2 + 1) ? max_sample : 0;
    if ((mapped >> 1) + (mapped & 1) <= (mirror ^ before)) return before + ((mapped >> 1) ^ (0u - (mapped & 1)));
    return mirror ^ mapped;
}

/* Returns the last sample, which may have more bits than are stored. */
static uint32_t unmap_portable(uint32_t last, uint32_t *samples, size_t count, uint32_t max_sample,
                               uint32_t storage_mask) {
    for (size_t i = 0; i < count; i++) {
        last = unmap(last, samples[i], max_sample);
        samples[i] = last & storage_mask;
    }
    return last;
}

#ifdef WITH_AVX2
/* Running sums of eight; the last of them in every lane of `total`. Swapping halves is cheaper than permuting lanes. */
AVX2 static inline __m256i prefix_sum_eight(__m256i x, __m256i *total) {
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
    const __m256i ends = _mm256_shuffle_epi32(x, 0xFF), swapped = _mm256_permute2x128_si256(ends, ends, 1);
    *total = _mm256_add_epi32(ends, swapped);
    return _mm256_add_epi32(x, _mm256_blend_epi32(_mm256_setzero_si256(), swapped, 0xF0));
}

/* If none of eight differences is near an end of the sample range, samples are a plain running sum. */
AVX2 static uint32_t unmap_avx2(uint32_t last, uint32_t *samples, size_t count, uint32_t max_sample,
                                uint32_t storage_mask) {
    const __m256i one = _mm256_set1_epi32(1), most = _mm256_set1_epi32((int)max_sample);
    __m256i start = _mm256_set1_epi32((int)last);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i mapped = _mm256_loadu_si256((const __m256i *)(samples + i));
        const __m256i odd = _mm256_and_si256(mapped, one), halved = _mm256_srli_epi32(mapped, 1);
        const __m256i steps = _mm256_xor_si256(halved, _mm256_sub_epi32(_mm256_setzero_si256(), odd));
        __m256i total;
        const __m256i x = _mm256_add_epi32(prefix_sum_eight(steps, &total), start), before = _mm256_sub_epi32(x, steps);
        const __m256i distance = _mm256_min_epi32(before, _mm256_sub_epi32(most, before));
        const __m256i beyond = _mm256_cmpgt_epi32(_mm256_add_epi32(halved, odd), distance);
        if (_mm256_testz_si256(beyond, beyond)) {
            _mm256_storeu_si256((__m256i *)(samples + i), x);
            start = _mm256_add_epi32(start, total);
        } else {
            last = unmap_portable((uint32_t)_mm256_cvtsi256_si32(start), samples + i, 8, max_sample, storage_mask);
            start = _mm256_set1_epi32((int)last);
        }
    }
    last = (uint32_t)_mm256_cvtsi256_si32(start);
    return unmap_portable(last, samples + i, count - i, max_sample, storage_mask);
}
#endif

/* Replaces mapped differences by samples; the first one is a sample already. */
static void unmap_samples(uint32_t *samples, size_t count, uint32_t max_sample, uint32_t storage_mask) {
    if (count < 2) return;
#ifdef WITH_AVX2
    if (has_avx2() && max_sample < UINT32_C(1) << 30) {
        unmap_avx2(samples[0], samples + 1, count - 1, max_sample, storage_mask);
        return;
    }
#endif
    unmap_portable(samples[0], samples + 1, count - 1, max_sample, storage_mask);
}

#endif
