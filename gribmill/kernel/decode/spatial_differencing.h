/* Running sums: differences undone, folded differences undone. Eight numbers at a time where there is AVX2. */
#ifndef GRIBMILL_SPATIAL_DIFFERENCING_H
#define GRIBMILL_SPATIAL_DIFFERENCING_H

#include "../cpu.h"
#include "../byte_reader.h"

/* Sums of differences. A result beyond 30 bits taints the run: ecCodes' arithmetic is wider. */
#define SUM_BITS 30
/* The caller gives differences of fewer bits than that, with their sign. So no sum out of bounds can come round in 32
   bits and be taken for a good one: to step over 2^31 numbers, the two steps before it would have been so long that
   they cannot both have stayed in bounds. */
#define DIFFERENCE_BITS 29

typedef struct {
    int order;
    int64_t slope, last;
} Sums;

static inline uint64_t beyond(int64_t sum) {
    return ((uint64_t)sum + (UINT64_C(1) << SUM_BITS)) >> (SUM_BITS + 1);
}

/* All return whether the run is tainted. */
static int sum_portable(Sums *sums, uint32_t *numbers, size_t count) {
    uint64_t taint = 0, last = (uint64_t)sums->last, slope = (uint64_t)sums->slope;
    for (size_t i = 0; i < count; i++) {
        const uint64_t difference = (uint64_t)(int32_t)numbers[i];
        slope = sums->order == 2 ? slope + difference : difference;
        last += slope;
        taint |= beyond((int64_t)last);
        numbers[i] = (uint32_t)last;
    }
    sums->last = (int64_t)last;
    sums->slope = (int64_t)slope;
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

AVX2 static inline __m256i numbers_at(const uint32_t *place) { return _mm256_loadu_si256((const __m256i *)place); }

/* A sum of two: this number and `one` back. Taken twice, with `two` as far back again, for second differences. */
AVX2 static inline __m256i paired(const int order, __m256i x, __m256i one, __m256i two) {
    return order == 1 ? _mm256_add_epi32(x, one) : _mm256_add_epi32(_mm256_add_epi32(x, two), _mm256_add_epi32(one, one));
}

/* Every number is summed with the seven before it, by pairs, pairs of pairs and fours; the sums of eight then go on
   from vector to vector without a shuffle. Second differences do all of it twice. `count` is a multiple of eight,
   and eight more numbers are read. In 32 bits, which may wrap on the way: a sum out of bounds shows in the top bit of
   sum + 2^30. */
AVX2 static inline int sum_eights(Sums *sums, const int order, uint32_t *numbers, size_t count) {
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << SUM_BITS);
    const __m256i slope = _mm256_set1_epi32(order == 2 ? (int)sums->slope : 0);
    const __m256i back = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    __m256i last = _mm256_sub_epi32(_mm256_set1_epi32((int)sums->last), _mm256_mullo_epi32(slope, back));
    __m256i step = _mm256_slli_epi32(slope, 3), taint = zero, twos_before = zero, fours_before = zero;
    /* Nothing comes before the first eight. */
    __m256i x = numbers_at(numbers);
    __m256i one = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
    __m256i two = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 0, 0, 1, 2, 3, 4, 5));
    one = _mm256_blend_epi32(one, zero, 1);
    two = _mm256_blend_epi32(two, zero, 3);
    for (size_t i = 0; i < count; i += 8) {
        const __m256i twos = paired(order, x, one, two);
        /* The next are read before the sums take their neighbours' place. */
        x = numbers_at(numbers + i + 8);
        one = numbers_at(numbers + i + 7);
        two = numbers_at(numbers + i + 6);
        const __m256i across = _mm256_permute2x128_si256(twos_before, twos, 0x21);
        const __m256i fours = paired(order, twos, _mm256_alignr_epi8(twos, across, 8), across);
        const __m256i eights =
            paired(order, fours, _mm256_permute2x128_si256(fours_before, fours, 0x21), fours_before);
        twos_before = twos;
        fours_before = fours;
        step = order == 1 ? eights : _mm256_add_epi32(step, eights);
        last = _mm256_add_epi32(last, step);
        taint = _mm256_or_si256(taint, _mm256_add_epi32(last, half));
        _mm256_storeu_si256((__m256i *)(numbers + i), last);
    }
    sums->last = (int32_t)numbers[count - 1];
    sums->slope = sums->last - (int32_t)numbers[count - 2];
    return _mm256_movemask_ps(_mm256_castsi256_ps(taint)) != 0;
}

AVX2 static int sum_first(Sums *sums, uint32_t *numbers, size_t count) { return sum_eights(sums, 1, numbers, count); }
AVX2 static int sum_second(Sums *sums, uint32_t *numbers, size_t count) { return sum_eights(sums, 2, numbers, count); }

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

/* `numbers` has room for eight more. */
static int sum_run(Sums *sums, uint32_t *numbers, size_t count) {
    size_t done = 0;
#ifdef WITH_AVX2
    if (has_avx2() && count >= 8) {
        done = count / 8 * 8;
        if (sums->order == 1 ? sum_first(sums, numbers, done) : sum_second(sums, numbers, done)) return 1;
    }
#endif
    return sum_portable(sums, numbers + done, count - done);
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
