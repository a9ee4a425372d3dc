/* Runs of numbers of equal width in a stream of bits. */
#ifndef GRIBMILL_BIT_READER_H
#define GRIBMILL_BIT_READER_H

#include "../cpu.h"
#include "../byte_reader.h"

/* The widest number that is read in one go. */
#define WIDEST 32
/* The widest that is read eight at a time: in the last bit of a byte it may start, and still lies within four. */
#define WIDEST_OF_EIGHT 25
/* Vectors of eight that are read without asking whether the run has ended: most runs are short, and a branch that
   is foretold wrongly costs more than a vector too many. */
#define TOGETHER 4
/* How many numbers a run may write beyond its end. */
#define RUN_SLACK (8 * TOGETHER)

/* One number of 0 to 32 bits. */
static inline uint32_t bits_at(Octets octets, uint64_t bit, unsigned width) {
    if (width == 0) return 0;
    return (uint32_t)((word_at(octets, (size_t)(bit >> 3)) << (bit & 7)) >> (64 - width));
}

static void run_portable(Octets octets, uint64_t bit, unsigned width, uint32_t base, uint32_t *out, size_t count) {
    if (width == 0) {
        for (size_t i = 0; i < count; i++) out[i] = base;
        return;
    }
    /* 57 bits of a word are whole wherever in its first byte they start. */
    const size_t per_word = 57 / width;
    while (count >= per_word) {
        uint64_t word = word_at(octets, (size_t)(bit >> 3)) << (bit & 7);
        for (size_t i = 0; i < per_word; i++) {
            out[i] = base + (uint32_t)(word >> (64 - width));
            word <<= width;
        }
        out += per_word;
        count -= per_word;
        bit += per_word * width;
    }
    for (size_t i = 0; i < count; i++, bit += width) out[i] = base + bits_at(octets, bit, width);
}

/* Where the bytes of eight numbers lie: the first four within 16 bytes from the first one's, the others from the fifth
   one's. Each has its four bytes in reverse, big-endian to little, and is then moved up by so many bits. */
typedef struct {
    uint8_t bytes[32];
    uint32_t up[8];
} Layout;

/* For each width, and each bit of a byte where the first number may start. */
static Layout layouts[WIDEST_OF_EIGHT + 1][8];

static inline unsigned fifth_at(unsigned width, unsigned start) { return (start + 4 * width) >> 3; }

/* Once, before anything else is done. */
static void fill_layouts(void) {
    for (unsigned width = 0; width <= WIDEST_OF_EIGHT; width++)
        for (unsigned start = 0; start < 8; start++)
            for (unsigned i = 0; i < 8; i++) {
                const unsigned bit = start + i * width, byte = (bit >> 3) - (i < 4 ? 0 : fifth_at(width, start));
                for (unsigned k = 0; k < 4; k++) layouts[width][start].bytes[4 * i + k] = (uint8_t)(byte + 3 - k);
                layouts[width][start].up[i] = bit & 7;
            }
}

#ifdef WITH_AVX2
/* Eight numbers at a time: they fill whole bytes, so that the same layout serves the whole run. Numbers of no bits come
   out as nothing but the base. Writes up to RUN_SLACK numbers beyond `count`. */
AVX2 static void run_avx2(Octets octets, uint64_t bit, unsigned width, uint32_t base, uint32_t *out, size_t count) {
    const unsigned start = (unsigned)(bit & 7), middle = fifth_at(width, start);
    const uint8_t *from = octets.bytes + (bit >> 3);
    const size_t left = octets.size - (size_t)(bit >> 3);
    size_t done = 0;
    if (left >= middle + 16) {
        const Layout *layout = &layouts[width][start];
        const __m256i shuffle = _mm256_loadu_si256((const __m256i *)layout->bytes);
        const __m256i up = _mm256_loadu_si256((const __m256i *)layout->up);
        const __m128i down = _mm_cvtsi32_si128((int)(32 - width));
        const __m256i add = _mm256_set1_epi32((int)base);
        const size_t last = left - middle - 16; /* the last place where both loads stay inside */
        size_t place = 0;
        while (done < count && place + (TOGETHER - 1) * width <= last) {
            for (int i = 0; i < TOGETHER; i++, done += 8, place += width) {
                const __m128i low = _mm_loadu_si128((const __m128i *)(from + place));
                const __m128i high = _mm_loadu_si128((const __m128i *)(from + place + middle));
                __m256i words = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
                words = _mm256_sllv_epi32(_mm256_shuffle_epi8(words, shuffle), up);
                words = _mm256_add_epi32(_mm256_srl_epi32(words, down), add);
                _mm256_storeu_si256((__m256i *)(out + done), words);
            }
        }
    }
    if (done < count) run_portable(octets, bit + done * width, width, base, out + done, count - done);
}
#endif

/* `count` numbers of 0 to 32 bits, each with `base` added. The caller has checked that they lie within the
   bytes, and `out` has room for RUN_SLACK more. */
static inline void read_run(Octets octets, uint64_t bit, unsigned width, uint32_t base, uint32_t *out, size_t count) {
#ifdef WITH_AVX2
    if (width <= WIDEST_OF_EIGHT && has_avx2()) {
        run_avx2(octets, bit, width, base, out, count);
        return;
    }
#endif
    run_portable(octets, bit, width, base, out, count);
}

#endif
