/* Running sums: differences undone, folded differences undone. Eight numbers at a time where there is AVX2. */
#ifndef GRIBMILL_SUMS_H
#define GRIBMILL_SUMS_H

#include "cpu.h"
#include "octets.h"

/* Sums of differences are taken modulo 2^64, as ecCodes takes them. A result beyond 30 bits taints the run. */
typedef struct {
    int order;
    uint64_t bias, slope, last;
} Sums;

static inline uint64_t beyond(uint64_t sum) { return (sum + (UINT64_C(1) << 30)) >> 31; }

/* Both return whether the run is tainted. */
static int sum_portable(Sums *sums, uint32_t *numbers, size_t count) {
    uint64_t taint = 0, last = sums->last, slope = sums->slope;
    const uint64_t bias = sums->bias;
    if (sums->order == 1) {
        for (size_t i = 0; i < count; i++) {
            last += numbers[i] + bias;
            taint |= beyond(last);
            numbers[i] = (uint32_t)last;
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            slope += numbers[i] + bias;
            last += slope;
            taint |= beyond(last);
            numbers[i] = (uint32_t)last;
        }
    }
    sums->last = last;
    sums->slope = slope;
    return taint != 0;
}

/* One folded difference undone; `largest` is 2^bits - 1. */
static inline uint32_t unfolded(uint32_t before, uint32_t folded, uint32_t largest) {
    const uint32_t mirror = before & (largest / 2 + 1) ? largest : 0;
    if ((folded >> 1) + (folded & 1) <= (mirror ^ before)) return before + ((folded >> 1) ^ (0u - (folded & 1)));
    return mirror ^ folded;
}

/* Returns the last sample, which may have more bits than are stored. */
static uint32_t unfold_portable(uint32_t last, uint32_t *samples, size_t count, uint32_t largest, uint32_t stored) {
    for (size_t i = 0; i < count; i++) {
        last = unfolded(last, samples[i], largest);
        samples[i] = last & stored;
    }
    return last;
}

#ifdef WITH_AVX2
/* Running sums of eight; their last one in every lane of `total`. Swapping halves is cheaper than permuting lanes. */
AVX2 static inline __m256i prefix8(__m256i x, __m256i *total) {
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
    const __m256i ends = _mm256_shuffle_epi32(x, 0xFF), swapped = _mm256_permute2x128_si256(ends, ends, 1);
    *total = _mm256_add_epi32(ends, swapped);
    return _mm256_add_epi32(x, _mm256_blend_epi32(_mm256_setzero_si256(), swapped, 0xF0));
}

/* In 32 bits. Each step adds two numbers that are proven to lie within 30 bits, so that no sum can wrap unseen:
   the top bit of any number + 2^30 tells. */
AVX2 static inline int sum_avx2(Sums *sums, const int order, uint32_t *numbers, size_t count) {
    const __m256i half = _mm256_set1_epi32(1 << 30), bias = _mm256_set1_epi32((int)(uint32_t)sums->bias);
    __m256i last = _mm256_set1_epi32((int)(uint32_t)sums->last);
    __m256i slope = _mm256_set1_epi32((int)(uint32_t)sums->slope);
    __m256i taint = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i x = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(numbers + i)), bias);
        taint = _mm256_or_si256(taint, _mm256_add_epi32(x, half));
        /* What one round hands to the next is a single addition away. */
        __m256i total;
        if (order == 2) {
            x = _mm256_add_epi32(prefix8(x, &total), slope);
            slope = _mm256_add_epi32(slope, total);
            taint = _mm256_or_si256(taint, _mm256_add_epi32(x, half));
        }
        x = _mm256_add_epi32(prefix8(x, &total), last);
        last = _mm256_add_epi32(last, total);
        taint = _mm256_or_si256(taint, _mm256_add_epi32(x, half));
        _mm256_storeu_si256((__m256i *)(numbers + i), x);
    }
    sums->last = (uint64_t)(int64_t)_mm256_cvtsi256_si32(last);
    sums->slope = (uint64_t)(int64_t)_mm256_cvtsi256_si32(slope);
    const int wrapped = _mm256_movemask_ps(_mm256_castsi256_ps(taint));
    return sum_portable(sums, numbers + i, count - i) || wrapped;
}

AVX2 static int sum_first(Sums *sums, uint32_t *numbers, size_t count) { return sum_avx2(sums, 1, numbers, count); }
AVX2 static int sum_second(Sums *sums, uint32_t *numbers, size_t count) { return sum_avx2(sums, 2, numbers, count); }

/* Where no difference of eight is folded at an end of the range, they are a plain running sum. */
AVX2 static uint32_t unfold_avx2(uint32_t last, uint32_t *samples, size_t count, uint32_t largest, uint32_t stored) {
    const __m256i one = _mm256_set1_epi32(1), most = _mm256_set1_epi32((int)largest);
    __m256i start = _mm256_set1_epi32((int)last);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i folded = _mm256_loadu_si256((const __m256i *)(samples + i));
        const __m256i odd = _mm256_and_si256(folded, one), halved = _mm256_srli_epi32(folded, 1);
        const __m256i steps = _mm256_xor_si256(halved, _mm256_sub_epi32(_mm256_setzero_si256(), odd));
        __m256i total;
        const __m256i x = _mm256_add_epi32(prefix8(steps, &total), start), before = _mm256_sub_epi32(x, steps);
        const __m256i room = _mm256_min_epi32(before, _mm256_sub_epi32(most, before));
        const __m256i over = _mm256_cmpgt_epi32(_mm256_add_epi32(halved, odd), room);
        if (_mm256_testz_si256(over, over)) {
            _mm256_storeu_si256((__m256i *)(samples + i), x);
            start = _mm256_add_epi32(start, total);
        } else {
            last = unfold_portable((uint32_t)_mm256_cvtsi256_si32(start), samples + i, 8, largest, stored);
            start = _mm256_set1_epi32((int)last);
        }
    }
    last = (uint32_t)_mm256_cvtsi256_si32(start);
    return unfold_portable(last, samples + i, count - i, largest, stored);
}
#endif

static int sum_run(Sums *sums, uint32_t *numbers, size_t count) {
#ifdef WITH_AVX2
    if (has_avx2() && !beyond(sums->bias) && !beyond(sums->slope) && !beyond(sums->last))
        return sums->order == 1 ? sum_first(sums, numbers, count) : sum_second(sums, numbers, count);
#endif
    return sum_portable(sums, numbers, count);
}

static void unfold_run(uint32_t *samples, size_t count, uint32_t largest, uint32_t stored) {
    if (count < 2) return;
#ifdef WITH_AVX2
    if (has_avx2() && largest < UINT32_C(1) << 30) {
        unfold_avx2(samples[0], samples + 1, count - 1, largest, stored);
        return;
    }
#endif
    unfold_portable(samples[0], samples + 1, count - 1, largest, stored);
}

#endif
