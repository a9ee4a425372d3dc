/* Bytes with an end that no read passes, and the verdicts that a decoder can give. */
#ifndef GRIBMILL_BYTE_READER_H
#define GRIBMILL_BYTE_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Everything but DONE means: leave this message to ecCodes. The number only tells a developer why. */
typedef enum {
    DONE = 0,
    DECLINED_TEMPLATE = 1, /* a packing that is not covered, or a section that is too short for it */
    DECLINED_SCALE = 2,    /* a reference or scale factor that no weather has */
    DECLINED_POINTS = 3,   /* points, rows, columns and packed values do not agree */
    DECLINED_SCANNING = 4, /* staggered rows */
    DECLINED_BITMAP = 5,   /* a bitmap that is short, or asks for more values than there are */
    DECLINED_ROOM = 6,     /* fewer bytes of data than the values need */
    DECLINED_GROUPS = 7,   /* groups that do not add up, or are wider than the kernel's numbers */
    DECLINED_RANGE = 8,    /* differences that add up to more than 30 bits */
    DECLINED_STREAM = 9,   /* a CCSDS stream that ends early, or that no encoder writes */
    DECLINED_WINDOW = 10,  /* a window that is not on the grid */
    DECLINED_MEMORY = 11
} Verdict;

typedef struct {
    const uint8_t *bytes;
    size_t size;
} Octets;

/* As octets.py: a big-endian number at a place that the caller has checked. */
static inline uint32_t number2(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t number4(const uint8_t *p) { return number2(p) << 16 | number2(p + 2); }

/* Sign and magnitude in two octets. */
static inline int32_t signed2(const uint8_t *p) {
    int32_t magnitude = (int32_t)(number2(p) & 0x7FFF);
    return p[0] & 0x80 ? -magnitude : magnitude;
}

static inline uint64_t big_endian64(const uint8_t *p) {
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

/* Written out: where there is an instruction for it compilers know it, and elsewhere it is faster than their own. */
static inline unsigned ones(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The 64 bits that start at a byte; zeros stand for what lies beyond the end. */
static inline uint64_t word_at(Octets octets, size_t place) {
    if (place < octets.size && octets.size - place >= 8) return big_endian64(octets.bytes + place);
    uint64_t word = 0;
    for (size_t i = 0; i < 8; i++) word = word << 8 | (place + i < octets.size ? octets.bytes[place + i] : 0);
    return word;
}

static inline uint64_t little_endian64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint32_t little_endian32(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

#endif
