/* Bytes with a known end, and integers read from them. */
#ifndef GRIBMILL_BYTE_READER_H
#define GRIBMILL_BYTE_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    size_t size;
} ByteSpan;

/* Big-endian integers, as in GRIB, at an address that the caller has checked. */
static inline uint32_t read_u16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t read_u32(const uint8_t *p) { return read_u16(p) << 16 | read_u16(p + 2); }

/* Two octets of sign and magnitude: GRIB's signed integers are not two's complement. */
static inline int32_t read_s16(const uint8_t *p) {
    int32_t magnitude = (int32_t)(read_u16(p) & 0x7FFF);
    return p[0] & 0x80 ? -magnitude : magnitude;
}

static inline uint64_t load_be64(const uint8_t *p) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word;
    memcpy(&word, p, 8);
    return __builtin_bswap64(word);
#else
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | p[i];
    return word;
#endif
}

/* Written out: compilers replace it by an instruction if there is one; otherwise it is faster than a library call. */
static inline unsigned popcount64(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The 64 bits at a byte offset; bits past the end are zero. */
static inline uint64_t be64_at(ByteSpan span, size_t offset) {
    if (offset < span.size && span.size - offset >= 8) return load_be64(span.bytes + offset);
    uint64_t word = 0;
    for (size_t i = 0; i < 8; i++) word = word << 8 | (offset + i < span.size ? span.bytes[offset + i] : 0);
    return word;
}

static inline uint64_t load_le64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint32_t load_le32(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

#endif
