/* From packed integers to float32 with exactly the arithmetic of ecCodes: double precision, then one cast.

   value = (integer × 2^E + R) / 10^D, with reference value R, binary scale factor E and decimal scale factor D
   (regulation 92.9.4). Integer times power of two is exact, so that a fused multiply-add gives the same bits. A field
   of 0 bits is its reference value, whatever its scale factors are. */
#ifndef GRIBMILL_SCALING_H
#define GRIBMILL_SCALING_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "../cpu.h"
#include "decode_status.h"

#if FLT_EVAL_METHOD != 0
#error                                                                                                                 \
    "this compiler computes with more precision than float and double have: values would differ from those of ecCodes"
#endif

/* Beyond any real field, and small enough that every product stays finite and normal. */
#define MAX_BINARY_SCALE 300
#define MAX_DECIMAL_SCALE 100

/* Marks a missing value in a run of packed integers, which stay within 31 bits. */
#define MISSING_VALUE INT32_MIN

typedef struct {
    double reference, binary, decimal; /* R, 2^E, 10^-D */
    int full_width;                    /* the integers use all 32 bits, without a sign */
} Scaling;

/* Multiplied or divided step by step, like ecCodes: the last bit can differ from that of the exact power. */
static inline double power(int base, int exponent) {
    double result = 1.0;
    for (; exponent < 0; exponent++) result /= base;
    for (; exponent > 0; exponent--) result *= base;
    return result;
}

/* From octets 12 to 19 of section 5, which the caller has checked to be there. */
static DecodeStatus read_scaling(const uint8_t *section, Scaling *scaling) {
    const uint32_t word = read_u32(section + 11);
    const int32_t binary = read_s16(section + 15), decimal = read_s16(section + 17);
    const uint32_t exponent = word >> 23 & 0xFF;
    /* Infinite, not a number, subnormal, or negative zero: libraries differ on these. */
    if (exponent == 0xFF || (exponent == 0 && word != 0)) return DECLINED_SCALING;
    if (binary > MAX_BINARY_SCALE || binary < -MAX_BINARY_SCALE) return DECLINED_SCALING;
    if (decimal > MAX_DECIMAL_SCALE || decimal < -MAX_DECIMAL_SCALE) return DECLINED_SCALING;
    float reference;
    memcpy(&reference, &word, 4);
    scaling->reference = reference;
    scaling->binary = power(2, binary);
    scaling->decimal = power(10, -decimal);
    scaling->full_width = 0;
    return DECODED;
}

/* A quiet NaN: a missing value in a tile. */
static inline float missing_float(void) {
    const uint32_t word = 0x7FC00000;
    float value;
    memcpy(&value, &word, 4);
    return value;
}

static void scale_portable(const Scaling *scaling, const uint32_t *integers, float *out, size_t count) {
    const double reference = scaling->reference, binary = scaling->binary, decimal = scaling->decimal;
    if (scaling->full_width) {
        for (size_t i = 0; i < count; i++) out[i] = (float)((integers[i] * binary + reference) * decimal);
    } else {
        for (size_t i = 0; i < count; i++) out[i] = (float)(((int32_t)integers[i] * binary + reference) * decimal);
    }
}

#ifdef WITH_AVX2
AVX2 static void scale_avx2(const Scaling *scaling, const uint32_t *integers, float *out, size_t count) {
    const __m256d reference = _mm256_set1_pd(scaling->reference);
    const __m256d binary = _mm256_set1_pd(scaling->binary), decimal = _mm256_set1_pd(scaling->decimal);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i words = _mm256_loadu_si256((const __m256i *)(integers + i));
        __m256d low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(words));
        __m256d high = _mm256_cvtepi32_pd(_mm256_extracti128_si256(words, 1));
        low = _mm256_mul_pd(_mm256_fmadd_pd(low, binary, reference), decimal);
        high = _mm256_mul_pd(_mm256_fmadd_pd(high, binary, reference), decimal);
        _mm_storeu_ps(out + i, _mm256_cvtpd_ps(low));
        _mm_storeu_ps(out + i + 4, _mm256_cvtpd_ps(high));
    }
    scale_portable(scaling, integers + i, out + i, count - i);
}
#endif

/* `count` integers to float32. With `may_be_missing`, the integer MISSING_VALUE becomes NaN. */
static void scale_integers(const Scaling *scaling, const uint32_t *integers, float *out, size_t count,
                           int may_be_missing) {
#ifdef WITH_AVX2
    if (!scaling->full_width && has_avx2())
        scale_avx2(scaling, integers, out, count);
    else
#endif
        scale_portable(scaling, integers, out, count);
    if (!may_be_missing) return;
    const float missing = missing_float();
    for (size_t i = 0; i < count; i++) out[i] = (int32_t)integers[i] == MISSING_VALUE ? missing : out[i];
}

#endif
