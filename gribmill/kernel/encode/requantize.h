/* Values back to the packed integers of their message, where those give back every bit. Python has the same without the
   kernel. */
#ifndef GRIBMILL_REQUANTIZE_H
#define GRIBMILL_REQUANTIZE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cpu.h"

#define MISSING_INTEGER 65535

/* value = float((integer × scale + reference) × factor) */
typedef struct {
    double reference, scale, factor;
} Quantization;

static inline uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* 1.5 × 2^52: added to a double, it leaves the nearest integer in the lowest bits of the sum. */
#define ROUNDER 0x1.8p52

/* Without a branch, so that a compiler can vectorize it. Returns 0 if every value is restored exactly. */
static inline uint32_t to_integers(const float *restrict values, size_t count, const Quantization *quantization,
                                   uint16_t *restrict out) {
    const double reference = quantization->reference, scale = quantization->scale, factor = quantization->factor;
    const double per_factor = 1.0 / factor, per_scale = 1.0 / scale;
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        const float value = values[i];
        const double rounded = (value * per_factor - reference) * per_scale + ROUNDER;
        int64_t bits;
        memcpy(&bits, &rounded, 8);
        const int32_t integer = (int32_t)bits;
        const double whole = integer;
        const float back = (float)((whole * scale + reference) * factor);
        const uint32_t missing = 0u - (uint32_t)(value != value);
        const uint32_t differs = float_bits(back) ^ float_bits(value);
        const uint32_t out_of_range =
            (uint32_t)(whole != rounded - ROUNDER) | (uint32_t)((uint32_t)integer >= MISSING_INTEGER);
        bad |= (differs | out_of_range) & ~missing;
        out[i] = (uint16_t)((uint32_t)integer | missing);
    }
    return bad;
}

/* The sign goes into the lowest bit, so that small negative steps are small numbers too. */
static inline uint16_t zigzag(uint16_t difference) {
    return (uint16_t)((unsigned)difference << 1 ^ (0u - ((unsigned)difference >> 15)));
}

/* Differences along a row: their high bytes are nearly always zero. */
static inline void to_differences(const uint16_t *restrict integers, size_t count, uint16_t *restrict out) {
    out[0] = zigzag(integers[0]);
    for (size_t i = 1; i < count; i++) out[i] = zigzag((uint16_t)(integers[i] - integers[i - 1]));
}

static inline int requantize_portable(const float *values, size_t rows, size_t width, const Quantization *quantization,
                                      uint16_t *row, uint16_t *out) {
    for (size_t i = 0; i < rows; i++) {
        if (to_integers(values + i * width, width, quantization, row)) return 0;
        to_differences(row, width, out + i * width);
    }
    return 1;
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static int requantize_avx2(const float *values, size_t rows, size_t width,
                                                         const Quantization *quantization, uint16_t *row,
                                                         uint16_t *out) {
    return requantize_portable(values, rows, width, quantization, row, out);
}
#endif

/* Fills `out` with differences; 0 if some value cannot be restored. `row` has room for one row. */
static int requantize(const float *values, size_t rows, size_t width, const Quantization *quantization, uint16_t *row,
                      uint16_t *out) {
#ifdef WITH_AVX2
    if (has_avx2()) return requantize_avx2(values, rows, width, quantization, row, out);
#endif
    return requantize_portable(values, rows, width, quantization, row, out);
}

#endif
