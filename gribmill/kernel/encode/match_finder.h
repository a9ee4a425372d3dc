/* The LZ77 match finder of large arrays: where a 32-bit word was seen before. Fields have few distinct values, each a
   complete word, so that looking at words instead of bytes finds nearly all matches that deflate can use. */
#ifndef GRIBMILL_MATCH_FINDER_H
#define GRIBMILL_MATCH_FINDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "../cpu.h"

/* Words of a segment. Matches do not reach out of it, so that a reader can start at each; deflate's window would allow
   twice as many. */
#define SEGMENT_WORDS 4096
#define HASH_BITS 12
/* The others are searched only if at least one in MIN_MATCHED of the first SAMPLE_WORDS matches. */
#define SAMPLE_WORDS 512
#define MIN_MATCHED 8
/* Words are hashed and compared eight at a time. */
#define VECTOR_WORDS 8
/* Words that are hashed before the first of them is looked up: a lookup right after its hash would wait for it. */
#define HASH_BATCH 64
/* The windows of a field are larger than the second-level cache: words this far ahead, in the next block, are
   prefetched. */
#define PREFETCH_BYTES 65536

/* A match: position of the earlier words << 8 | length in words. */
#define MATCH(position, length) ((uint32_t)(position) << 8 | (length))
#define MATCH_LENGTH(match) ((match) & 255)
#define MATCH_POSITION(match) ((match) >> 8)
#define NO_MATCH 0

typedef struct {
    /* By word: the match that starts there. Length 8 means at least 8, 0 means no match. */
    uint32_t matches[SEGMENT_WORDS];
    /* By hash: the last position of a word, and of a pair of words. */
    uint16_t last_word[1 << HASH_BITS], last_pair[1 << HASH_BITS];
} MatchFinder;

/* Odd constants that spread words over the hash table (2^32 divided by the golden ratio, and one of MurmurHash3). */
#define WORD_FACTOR UINT32_C(0x9E3779B1)
#define PAIR_FACTOR UINT32_C(0x85EBCA6B)

static inline uint32_t word_at(const uint8_t *words, size_t position) { return load_le32(words + 4 * position); }
static inline uint64_t pair_at(const uint8_t *words, size_t position) { return load_le64(words + 4 * position); }

static inline unsigned match_length_portable(const uint8_t *words, size_t position, size_t from) {
    unsigned length = 0;
    while (length < VECTOR_WORDS && word_at(words, position + length) == word_at(words, from + length)) length++;
    return length;
}

/* The portable and the AVX2 search find the same matches, so that a file does not depend on the processor. Each handles
   eight words, and reads fifteen. */
static void search_eight_portable(MatchFinder *self, const uint8_t *words, size_t position) {
    unsigned run = position > 0;
    for (size_t i = position; run && i < position + 2 * VECTOR_WORDS - 1; i++)
        run = word_at(words, i) == word_at(words, i - 1);
    for (size_t i = position; i < position + VECTOR_WORDS; i++) {
        if (run) {
            self->matches[i] = MATCH(i - 1, VECTOR_WORDS);
            continue;
        }
        const uint32_t word = word_at(words, i), next = word_at(words, i + 1), mixed = word * WORD_FACTOR;
        const uint32_t word_hash = mixed >> (32 - HASH_BITS);
        const uint32_t pair_hash = (mixed + (next << 16 | next >> 16)) * PAIR_FACTOR >> (32 - HASH_BITS);
        const uint32_t single = self->last_word[word_hash], pair = self->last_pair[pair_hash];
        self->last_word[word_hash] = self->last_pair[pair_hash] = (uint16_t)i;
        const uint32_t from = pair_at(words, pair) == pair_at(words, i) ? pair : single;
        self->matches[i] = MATCH(from, match_length_portable(words, i, from));
    }
}

#ifdef WITH_AVX2
/* Eight bytes at any address. */
typedef struct {
    uint64_t bytes;
} __attribute__((packed, may_alias)) Unaligned64;

AVX2 static inline __m256i eight_words_at(const uint8_t *words, size_t position) {
    return _mm256_loadu_si256((const __m256i *)(words + 4 * position));
}

/* A bit for each of eight words, set where both are equal. */
AVX2 static inline unsigned equal_mask(__m256i a, __m256i b) {
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}

AVX2 static inline unsigned match_length_avx2(const uint8_t *words, size_t position, size_t from) {
    return (unsigned)__builtin_ctz(equal_mask(eight_words_at(words, position), eight_words_at(words, from)) + 1);
}

/* The hashes of eight words: four of words, four of pairs, then the other four of each. Returns whether each word
   equals the next one. */
AVX2 static inline int hash_eight(const uint8_t *words, size_t position, uint16_t *hashes) {
    const __m256i here = eight_words_at(words, position), next = eight_words_at(words, position + 1);
    const __m256i mixed = _mm256_mullo_epi32(here, _mm256_set1_epi32((int)WORD_FACTOR));
    const __m256i rotated = _mm256_or_si256(_mm256_slli_epi32(next, 16), _mm256_srli_epi32(next, 16));
    const __m256i both = _mm256_mullo_epi32(_mm256_add_epi32(mixed, rotated), _mm256_set1_epi32((int)PAIR_FACTOR));
    _mm256_storeu_si256((__m256i *)hashes, _mm256_packus_epi32(_mm256_srli_epi32(mixed, 32 - HASH_BITS),
                                                               _mm256_srli_epi32(both, 32 - HASH_BITS)));
    return equal_mask(here, next) == 255;
}

/* Whether fifteen words, and the one before them, are equal. */
AVX2 static inline int is_run(const uint8_t *words, size_t position) {
    const __m256i next = eight_words_at(words, position + 1);
    /* All fifteen first: a branch on the first two alone would often be mispredicted. */
    return (equal_mask(eight_words_at(words, position), next) &
            equal_mask(next, eight_words_at(words, position + VECTOR_WORDS - 1))) == 255 &&
           position && word_at(words, position - 1) == word_at(words, position);
}

/* The hottest loop of the encoder, a quarter of the time of a tile: every load counts. */
AVX2 static inline void search_eight_avx2(MatchFinder *self, const uint8_t *words, size_t position,
                                          const uint16_t *hashes, int may_be_run) {
    if (may_be_run && is_run(words, position)) {
        const __m256i before =
            _mm256_add_epi32(_mm256_set1_epi32((int)position), _mm256_setr_epi32(-1, 0, 1, 2, 3, 4, 5, 6));
        const __m256i matches = _mm256_or_si256(_mm256_slli_epi32(before, 8), _mm256_set1_epi32(VECTOR_WORDS));
        _mm256_storeu_si256((__m256i *)(self->matches + position), matches);
        return;
    }
    const uint8_t *own = words + 4 * position;
#pragma GCC unroll 8
    for (unsigned i = 0; i < VECTOR_WORDS; i++) {
        const size_t word_hash = hashes[i < 4 ? i : i + 4], pair_hash = hashes[i < 4 ? i + 4 : i + 8];
        const size_t pair = self->last_pair[pair_hash];
        size_t from = self->last_word[word_hash];
        self->last_word[word_hash] = self->last_pair[pair_hash] = (uint16_t)(position + i);
        /* A conditional move, which compilers do not always choose: a branch would be mispredicted every other time. */
        __asm__("cmpq %3, %2\n\tcmove %1, %0"
                : "+r"(from)
                : "r"(pair), "r"(pair_at(words, pair)), "m"(*(const Unaligned64 *)(own + 4 * i))
                : "cc");
        self->matches[position + i] = MATCH(from, match_length_avx2(words, position + i, from));
    }
}

AVX2 static void search_avx2(MatchFinder *self, const uint8_t *words, size_t begin, size_t end) {
    uint16_t hashes[2 * HASH_BATCH];
    for (size_t start = begin; start < end; start += HASH_BATCH) {
        const size_t count = end - start < HASH_BATCH ? end - start : HASH_BATCH;
        int may_be_run = 0;
        for (size_t i = 0; i < count; i += VECTOR_WORDS) may_be_run |= hash_eight(words, start + i, hashes + 2 * i);
        /* Keeps the hashes in memory: extracting them one by one from vector registers takes longer. */
        __asm__("" : "+m"(hashes));
        for (size_t i = 0; i < count; i += VECTOR_WORDS) {
            _mm_prefetch((const char *)((uintptr_t)words + 4 * (start + i) + PREFETCH_BYTES), _MM_HINT_T1);
            search_eight_avx2(self, words, start + i, hashes + 2 * i, may_be_run);
        }
    }
}
#endif

/* `begin` and `end` are multiples of VECTOR_WORDS. */
static void search(MatchFinder *self, const uint8_t *words, size_t begin, size_t end) {
#ifdef WITH_AVX2
    if (has_avx2()) {
        search_avx2(self, words, begin, end);
        return;
    }
#endif
    for (size_t position = begin; position < end; position += VECTOR_WORDS)
        search_eight_portable(self, words, position);
}

/* Whether matches are rare: few of the first `sample` words match, and few of all words equal the one before. */
static inline int matches_are_rare(size_t matched, size_t sample, const uint8_t *words, size_t count) {
    uint32_t runs = 0;
    if (matched >= sample / MIN_MATCHED) return 0;
    for (size_t i = 1; i < count; i++) runs += word_at(words, i) == word_at(words, i - 1);
    return runs < count / MIN_MATCHED;
}

static inline size_t count_matches(const uint32_t *matches, size_t count) {
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) found += MATCH_LENGTH(matches[i]) != NO_MATCH;
    return found;
}

/* Fills `matches` for `count` words, at most SEGMENT_WORDS; up to `readable` may be read. Returns 0, with nothing of
   use, where matches are rare and it may `give_up`. */
static inline int find_matches(MatchFinder *self, const uint8_t *words, size_t count, size_t readable, int give_up) {
    const size_t most = readable < 2 * VECTOR_WORDS ? 0 : (readable - VECTOR_WORDS) / VECTOR_WORDS * VECTOR_WORDS;
    const size_t searched = count < most ? count / VECTOR_WORDS * VECTOR_WORDS : most;
    const size_t sample = searched < SAMPLE_WORDS ? searched : SAMPLE_WORDS;
    memset(self->last_word, 0, sizeof self->last_word);
    memset(self->last_pair, 0, sizeof self->last_pair);
    search(self, words, 0, sample);
    if (give_up && matches_are_rare(count_matches(self->matches, sample), sample, words, count)) return 0;
    search(self, words, sample, searched);
    memset(self->matches + searched, 0, (count - searched) * sizeof *self->matches);
    self->matches[0] = 0; /* it was matched with itself */
    return 1;
}

/* How many words are equal, at most `most`. */
static inline size_t equal_words(const uint8_t *words, size_t position, size_t from, size_t most) {
    size_t length = 0;
    while (length + 2 <= most && pair_at(words, position + length) == pair_at(words, from + length)) length += 2;
    return length + (length < most && word_at(words, position + length) == word_at(words, from + length));
}

#endif
