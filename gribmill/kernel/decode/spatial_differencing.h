/* Spatial differencing (template 5.3) undone: running sums of first- or second-order differences. */
#ifndef GRIBMILL_SPATIAL_DIFFERENCING_H
#define GRIBMILL_SPATIAL_DIFFERENCING_H

#include <stddef.h>
#include <stdint.h>

#include "../cpu.h"

/* A field with a value beyond 30 bits is left to ecCodes, whose arithmetic is wider. */
#define VALUE_BITS 30
/* The caller passes differences of fewer bits than this, sign apart. Then no value that is out of range can wrap around
   in 32 bits and pass for a good one: to step over 2^31, the two steps before it would have been too large: their
   values could not both have been in range. */
#define DIFFERENCE_BITS 29

typedef struct {
    int order;          /* 1 or 2; 0 without differencing */
    int64_t step, last; /* the last first-order difference, and the last value */
} Differencing;

/* Nonzero for a value that does not fit VALUE_BITS. */
static inline uint64_t out_of_range(int64_t value) {
    return ((uint64_t)value + (UINT64_C(1) << VALUE_BITS)) >> (VALUE_BITS + 1);
}

/* All of these return whether any value was out of range. */
static int sum_portable(Differencing *self, uint32_t *numbers, size_t count) {
    uint64_t overflow = 0, last = (uint64_t)self->last, step = (uint64_t)self->step;
    for (size_t i = 0; i < count; i++) {
        const uint64_t difference = (uint64_t)(int32_t)numbers[i];
        step = self->order == 2 ? step + difference : difference;
        last += step;
        overflow |= out_of_range((int64_t)last);
        numbers[i] = (uint32_t)last;
    }
    self->last = (int64_t)last;
    self->step = (int64_t)step;
    return overflow != 0;
}

#ifdef WITH_AVX2
AVX2 static inline __m256i load_eight(const uint32_t *numbers) { return _mm256_loadu_si256((const __m256i *)numbers); }

/* One step of a prefix sum: each number plus the one that is `one` back. Second-order differences take the step twice:
   x + 2·one + two, where `two` is twice as far back. */
AVX2 static inline __m256i prefix_step(const int order, __m256i x, __m256i one, __m256i two) {
    return order == 1 ? _mm256_add_epi32(x, one)
                      : _mm256_add_epi32(_mm256_add_epi32(x, two), _mm256_add_epi32(one, one));
}

/* Every number is summed with the seven before it, in steps of one, two and four numbers; the sums of eight are then
   carried from vector to vector without a shuffle. Second-order differences do all of it twice. `count` is a multiple
   of eight, and eight more numbers are read. The sums have 32 bits and may wrap on the way: a value out of range shows
   in the top bit of value + 2^30. */
AVX2 static inline int sum_eights(Differencing *self, const int order, uint32_t *numbers, size_t count) {
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << VALUE_BITS);
    const __m256i slope = _mm256_set1_epi32(order == 2 ? (int)self->step : 0);
    const __m256i back = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    __m256i last = _mm256_sub_epi32(_mm256_set1_epi32((int)self->last), _mm256_mullo_epi32(slope, back));
    __m256i step = _mm256_slli_epi32(slope, 3), overflow = zero, twos_before = zero, fours_before = zero;
    /* There are no values before the first eight. */
    __m256i x = load_eight(numbers);
    __m256i one = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
    __m256i two = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 0, 0, 1, 2, 3, 4, 5));
    one = _mm256_blend_epi32(one, zero, 1);
    two = _mm256_blend_epi32(two, zero, 3);
    for (size_t i = 0; i < count; i += 8) {
        const __m256i twos = prefix_step(order, x, one, two);
        /* The next differences are loaded before values overwrite their neighbours. */
        x = load_eight(numbers + i + 8);
        one = load_eight(numbers + i + 7);
        two = load_eight(numbers + i + 6);
        const __m256i across = _mm256_permute2x128_si256(twos_before, twos, 0x21);
        const __m256i fours = prefix_step(order, twos, _mm256_alignr_epi8(twos, across, 8), across);
        const __m256i eights =
            prefix_step(order, fours, _mm256_permute2x128_si256(fours_before, fours, 0x21), fours_before);
        twos_before = twos;
        fours_before = fours;
        step = order == 1 ? eights : _mm256_add_epi32(step, eights);
        last = _mm256_add_epi32(last, step);
        overflow = _mm256_or_si256(overflow, _mm256_add_epi32(last, half));
        _mm256_storeu_si256((__m256i *)(numbers + i), last);
    }
    self->last = (int32_t)numbers[count - 1];
    self->step = self->last - (int32_t)numbers[count - 2];
    return _mm256_movemask_ps(_mm256_castsi256_ps(overflow)) != 0;
}

AVX2 static int sum_first_order(Differencing *self, uint32_t *numbers, size_t count) {
    return sum_eights(self, 1, numbers, count);
}

AVX2 static int sum_second_order(Differencing *self, uint32_t *numbers, size_t count) {
    return sum_eights(self, 2, numbers, count);
}
#endif

/* Replaces differences by values. `numbers` has room for eight more. */
static int sum_differences(Differencing *self, uint32_t *numbers, size_t count) {
    size_t done = 0;
#ifdef WITH_AVX2
    if (has_avx2() && count >= 8) {
        done = count / 8 * 8;
        if (self->order == 1 ? sum_first_order(self, numbers, done) : sum_second_order(self, numbers, done)) return 1;
    }
#endif
    return sum_portable(self, numbers + done, count - done);
}

#endif
