/* From packed integers to float32, with the very arithmetic of ecCodes: double, then one cast.

   value = (integer × 2^binary + reference) × 10^-decimal. Integer times power of two is exact, so that a fused
   multiply-add gives the same bits. A field of 0 bits is its reference, whatever its scale factors say. */
#ifndef GRIBMILL_SCALING_H
#define GRIBMILL_SCALING_H

#include <float.h>

#include "../cpu.h"
#include "../byte_reader.h"

#if FLT_EVAL_METHOD != 0
#error "this compiler keeps more digits than a value has: ecCodes decodes everything here"
#endif

/* Far beyond any weather, and far within what keeps every product finite and normal. */
#define LARGEST_BINARY 300
#define LARGEST_DECIMAL 100

/* In a run of packed integers: no value here. The integers themselves stay within 31 bits. */
#define MISSING INT32_MIN

typedef struct {
    double reference, binary, decimal;
    int wide; /* the integers use all 32 bits, without a sign */
} Scale;

/* Multiplied or divided step by step, as ecCodes does it: the last bit can differ from a true power's. */
static inline double power(int base, int exponent) {
    double result = 1.0;
    for (; exponent < 0; exponent++) result /= base;
    for (; exponent > 0; exponent--) result *= base;
    return result;
}

/* From octets 12 to 19 of section 5, which the caller has checked to be there. */
static Verdict read_scale(const uint8_t *section, Scale *scale) {
    const uint32_t word = number4(section + 11);
    const int32_t binary = signed2(section + 15), decimal = signed2(section + 17);
    const uint32_t exponent = word >> 23 & 0xFF;
    /* Infinite, not a number, or too small to be normal: libraries differ on these. Zero has neither sign. */
    if (exponent == 0xFF || (exponent == 0 && word != 0)) return DECLINED_SCALE;
    if (binary > LARGEST_BINARY || binary < -LARGEST_BINARY) return DECLINED_SCALE;
    if (decimal > LARGEST_DECIMAL || decimal < -LARGEST_DECIMAL) return DECLINED_SCALE;
    float reference;
    memcpy(&reference, &word, 4);
    scale->reference = reference;
    scale->binary = power(2, binary);
    scale->decimal = power(10, -decimal);
    scale->wide = 0;
    return DONE;
}

static inline float not_a_number(void) {
    const uint32_t word = 0x7FC00000;
    float value;
    memcpy(&value, &word, 4);
    return value;
}

static void scale_portable(const Scale *scale, const uint32_t *integers, float *out, size_t count) {
    const double reference = scale->reference, binary = scale->binary, decimal = scale->decimal;
    if (scale->wide) {
        for (size_t i = 0; i < count; i++) out[i] = (float)((integers[i] * binary + reference) * decimal);
    } else {
        for (size_t i = 0; i < count; i++) out[i] = (float)(((int32_t)integers[i] * binary + reference) * decimal);
    }
}

#ifdef WITH_AVX2
AVX2 static void scale_avx2(const Scale *scale, const uint32_t *integers, float *out, size_t count) {
    const __m256d reference = _mm256_set1_pd(scale->reference);
    const __m256d binary = _mm256_set1_pd(scale->binary), decimal = _mm256_set1_pd(scale->decimal);
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
    scale_portable(scale, integers + i, out + i, count - i);
}
#endif

/* `count` integers to float32. Where `holes`, an integer MISSING becomes NaN. */
static void scale_run(const Scale *scale, const uint32_t *integers, float *out, size_t count, int holes) {
#ifdef WITH_AVX2
    if (!scale->wide && has_avx2())
        scale_avx2(scale, integers, out, count);
    else
#endif
        scale_portable(scale, integers, out, count);
    if (!holes) return;
    const float nothing = not_a_number();
    for (size_t i = 0; i < count; i++) out[i] = (int32_t)integers[i] == MISSING ? nothing : out[i];
}

#endif
