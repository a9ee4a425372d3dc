/* Runs of unsigned integers of equal width in a stream of bits, most significant bit first. */
#ifndef GRIBMILL_BIT_READER_H
#define GRIBMILL_BIT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "../byte_reader.h"
#include "../cpu.h"

/* The widest integer that is read at once. */
#define MAX_WIDTH 32
/* The widest that is read eight at a time: even if it starts at the last bit of a byte, it is within four bytes. */
#define MAX_VECTOR_WIDTH 25
/* Vectors of eight that are read between two checks for the end of the run: most runs are short, and a mispredicted
   branch costs more than some vectors too many. */
#define VECTORS_PER_CHECK 4
/* How many integers a run may write beyond its end. */
#define RUN_SLACK (8 * VECTORS_PER_CHECK)

/* One integer of 0 to 32 bits. */
static inline uint32_t read_bits(ByteSpan span, uint64_t bit, unsigned width) {
    if (width == 0) return 0;
    return (uint32_t)((be64_at(span, (size_t)(bit >> 3)) << (bit & 7)) >> (64 - width));
}

static void read_run_portable(ByteSpan span, uint64_t bit, unsigned width, uint32_t base, uint32_t *out, size_t count) {
    if (width == 0) {
        for (size_t i = 0; i < count; i++) out[i] = base;
        return;
    }
    /* A 64-bit word has at least 57 bits from any bit of its first byte. */
    const size_t per_word = 57 / width;
    while (count >= per_word) {
        uint64_t word = be64_at(span, (size_t)(bit >> 3)) << (bit & 7);
        for (size_t i = 0; i < per_word; i++) {
            out[i] = base + (uint32_t)(word >> (64 - width));
            word <<= width;
        }
        out += per_word;
        count -= per_word;
        bit += per_word * width;
    }
    for (size_t i = 0; i < count; i++, bit += width) out[i] = base + read_bits(span, bit, width);
}

/* How eight integers are taken from two loads of 16 bytes: the first four from the byte of the first one, the others
   from the byte of the fifth. The shuffle puts the four bytes of each into one 32-bit lane, big-endian to
   little-endian; the lane is then shifted left so that the integer starts at its top bit. */
typedef struct {
    uint8_t shuffle[32];
    uint32_t shift[8];
} LaneLayout;

/* For each width, and each bit of a byte where the first integer may start. */
static LaneLayout lane_layouts[MAX_VECTOR_WIDTH + 1][8];

/* The byte of the fifth integer, counted from that of the first. */
static inline unsigned fifth_offset(unsigned width, unsigned start) { return (start + 4 * width) >> 3; }

/* Called once, when the module is loaded. */
static void init_lane_layouts(void) {
    for (unsigned width = 0; width <= MAX_VECTOR_WIDTH; width++)
        for (unsigned start = 0; start < 8; start++)
            for (unsigned i = 0; i < 8; i++) {
                const unsigned bit = start + i * width, byte = (bit >> 3) - (i < 4 ? 0 : fifth_offset(width, start));
                for (unsigned k = 0; k < 4; k++)
                    lane_layouts[width][start].shuffle[4 * i + k] = (uint8_t)(byte + 3 - k);
                lane_layouts[width][start].shift[i] = bit & 7;
            }
}

#ifdef WITH_AVX2
/* Eight integers at a time: they fill whole bytes, so that one layout serves the whole run. Integers of no bits come
   out as the base alone. Writes up to RUN_SLACK integers beyond `count`. */
AVX2 static void read_run_avx2(ByteSpan span, uint64_t bit, unsigned width, uint32_t base, uint32_t *out,
                               size_t count) {
    const unsigned start = (unsigned)(bit & 7), fifth = fifth_offset(width, start);
    const uint8_t *from = span.bytes + (bit >> 3);
    const size_t left = span.size - (size_t)(bit >> 3);
    size_t done = 0;
    if (left >= fifth + 16) {
        const LaneLayout *layout = &lane_layouts[width][start];
        const __m256i shuffle = _mm256_loadu_si256((const __m256i *)layout->shuffle);
        const __m256i shift = _mm256_loadu_si256((const __m256i *)layout->shift);
        const __m128i down = _mm_cvtsi32_si128((int)(32 - width));
        const __m256i add = _mm256_set1_epi32((int)base);
        const size_t last = left - fifth - 16; /* the last offset at which both loads stay inside */
        size_t offset = 0;
        while (done < count && offset + (VECTORS_PER_CHECK - 1) * width <= last) {
            for (int i = 0; i < VECTORS_PER_CHECK; i++, done += 8, offset += width) {
                const __m128i low = _mm_loadu_si128((const __m128i *)(from + offset));
                const __m128i high = _mm_loadu_si128((const __m128i *)(from + offset + fifth));
                __m256i words = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
                words = _mm256_sllv_epi32(_mm256_shuffle_epi8(words, shuffle), shift);
                words = _mm256_add_epi32(_mm256_srl_epi32(words, down), add);
                _mm256_storeu_si256((__m256i *)(out + done), words);
            }
        }
    }
    if (done < count) read_run_portable(span, bit + done * width, width, base, out + done, count - done);
}
#endif

/* `count` integers of 0 to 32 bits, with `base` added to each. The caller has checked that they are within the span,
   and `out` has room for RUN_SLACK more. */
static inline void read_run(ByteSpan span, uint64_t bit, unsigned width, uint32_t base, uint32_t *out, size_t count) {
#ifdef WITH_AVX2
    if (width <= MAX_VECTOR_WIDTH && has_avx2()) {
        read_run_avx2(span, bit, width, base, out, count);
        return;
    }
#endif
    read_run_portable(span, bit, width, base, out, count);
}

#endif
