/* CRC-32 as ZIP uses it. */
#ifndef GRIBMILL_CRC32_H
#define GRIBMILL_CRC32_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cpu.h"

#define CRC_POLYNOMIAL UINT32_C(0xEDB88320)
/* Bytes that are looked up at once ("slicing by eight"). */
#define CRC_TABLES 8

/* The effect of a byte on the checksum with k zero bytes after it. */
static uint32_t crc_tables[CRC_TABLES][256];

/* Called once, when the module is loaded. */
static void init_crc_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (CRC_POLYNOMIAL & (0u - (crc & 1)));
        crc_tables[0][i] = crc;
    }
    for (int k = 1; k < CRC_TABLES; k++)
        for (uint32_t i = 0; i < 256; i++) {
            const uint32_t before = crc_tables[k - 1][i];
            crc_tables[k][i] = before >> 8 ^ crc_tables[0][before & 255];
        }
}

static uint32_t crc_portable(uint32_t crc, const uint8_t *bytes, size_t size) {
    for (; size >= CRC_TABLES; size -= CRC_TABLES, bytes += CRC_TABLES) {
        uint32_t next = 0;
        for (int k = 0; k < CRC_TABLES; k++) {
            const uint32_t byte = k < 4 ? bytes[k] ^ (crc >> 8 * k & 255) : bytes[k];
            next ^= crc_tables[CRC_TABLES - 1 - k][byte];
        }
        crc = next;
    }
    for (; size; size--) crc = crc >> 8 ^ crc_tables[0][(crc ^ *bytes++) & 255];
    return crc;
}

#ifdef WITH_AVX2
#define CARRYLESS __attribute__((target("pclmul,sse4.1")))
static inline int has_carryless(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }

/* Powers of x modulo the polynomial, bits reversed: what moves 64 bits 512, 128 or 64 bits further on. Computed as in
   Intel's "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ". */
#define FOLD_512 _mm_set_epi64x(0x1C6E41596, 0x154442BD4)
#define FOLD_128 _mm_set_epi64x(0x0CCAA009E, 0x1751997D0)
#define FOLD_64 _mm_set_epi64x(0, 0x163CD6124)
/* The polynomial, and its inverse for Barrett's reduction. */
#define REDUCTION _mm_set_epi64x(0x1F7011641, 0x1DB710641)

CARRYLESS static inline __m128i fold(__m128i value, __m128i by, __m128i next) {
    const __m128i low = _mm_clmulepi64_si128(value, by, 0x00), high = _mm_clmulepi64_si128(value, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

CARRYLESS static inline __m128i load_sixteen(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

CARRYLESS static inline uint32_t reduce(__m128i value) {
    const __m128i halves = _mm_setr_epi32(-1, 0, -1, 0);
    value = _mm_xor_si128(_mm_srli_si128(value, 8), _mm_clmulepi64_si128(value, FOLD_128, 0x10));
    value = _mm_xor_si128(_mm_srli_si128(value, 4), _mm_clmulepi64_si128(_mm_and_si128(value, halves), FOLD_64, 0x00));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(value, halves), REDUCTION, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, halves), REDUCTION, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(value, quotient), 1);
}

/* At least 64 bytes, and a multiple of 16. */
CARRYLESS static uint32_t crc_carryless(uint32_t crc, const uint8_t *bytes, size_t size) {
    __m128i lanes[4];
    for (int i = 0; i < 4; i++) lanes[i] = load_sixteen(bytes + 16 * i);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)crc));
    for (bytes += 64, size -= 64; size >= 64; bytes += 64, size -= 64)
        for (int i = 0; i < 4; i++) lanes[i] = fold(lanes[i], FOLD_512, load_sixteen(bytes + 16 * i));
    __m128i all = lanes[0];
    for (int i = 1; i < 4; i++) all = fold(all, FOLD_128, lanes[i]);
    for (; size; bytes += 16, size -= 16) all = fold(all, FOLD_128, load_sixteen(bytes));
    return reduce(all);
}
#endif

/* The checksum of earlier bytes, whose checksum is `crc`, and these; `crc` is 0 at the start. */
static uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t size) {
    crc = ~crc;
#ifdef WITH_AVX2
    if (size >= 64 && has_carryless()) {
        const size_t part = size & ~(size_t)15;
        crc = crc_carryless(crc, bytes, part);
        bytes += part;
        size -= part;
    }
#endif
    return ~crc_portable(crc, bytes, size);
}

#endif
