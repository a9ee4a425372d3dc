/* Where 32-bit words were seen before. Fields have few distinct values, each of them a whole word: looking at
   words, not at every byte, finds nearly all repeats that deflate can use. */
#ifndef GRIBMILL_MATCH_FINDER_H
#define GRIBMILL_MATCH_FINDER_H

#include "../cpu.h"
#include "../byte_reader.h"

/* Words that are looked at together: what lies before them is not known. Deflate could look back twice as far. */
#define PIECE_WORDS 4096
#define HASH_BITS 12
/* Of so many words at the beginning, one in so many must repeat, for others to be searched. */
#define EARLY_WORDS 512
#define LEAST_EARLY 8
/* Words are taken eight at a time, and compared eight at a time. */
#define LANES 8
/* Words whose hashes are worked out before any of them is looked for: who looks for them right away waits for them. */
#define HASHED_WORDS 64
/* The windows of a field are more than a near cache holds: the values of the next block are asked for while those of this
   one are searched. */
#define AHEAD_BYTES 65536

/* For each word: where it was seen << 8 | how many words are alike from there on: 8 means at least 8, 0 that it is new. */
typedef struct {
    uint32_t found[PIECE_WORDS];
    uint16_t word_at[1 << HASH_BITS], pair_at[1 << HASH_BITS]; /* the last place of a word, and of two in a row */
} Repeats;

#define SEEN_AT(place, alike) ((uint32_t)(place) << 8 | (alike))
#define WORD_FACTOR UINT32_C(0x9E3779B1)
#define PAIR_FACTOR UINT32_C(0x85EBCA6B)

static inline uint32_t word_of(const uint8_t *words, size_t place) { return little_endian32(words + 4 * place); }
static inline uint64_t pair_of(const uint8_t *words, size_t place) { return little_endian64(words + 4 * place); }

static inline unsigned alike_portable(const uint8_t *words, size_t place, size_t from) {
    unsigned alike = 0;
    while (alike < LANES && word_of(words, place + alike) == word_of(words, from + alike)) alike++;
    return alike;
}

/* Both ways find the same, so that a file does not depend on the processor. Each takes eight words, and reads
   fifteen. */
static void eight_portable(Repeats *self, const uint8_t *words, size_t place) {
    unsigned run = place > 0;
    for (size_t i = place; run && i < place + 2 * LANES - 1; i++) run = word_of(words, i) == word_of(words, i - 1);
    for (size_t i = place; i < place + LANES; i++) {
        if (run) {
            self->found[i] = SEEN_AT(i - 1, LANES);
            continue;
        }
        const uint32_t word = word_of(words, i), next = word_of(words, i + 1), mixed = word * WORD_FACTOR;
        const uint32_t first = mixed >> (32 - HASH_BITS);
        const uint32_t second = (mixed + (next << 16 | next >> 16)) * PAIR_FACTOR >> (32 - HASH_BITS);
        const uint32_t single = self->word_at[first], pair = self->pair_at[second];
        self->word_at[first] = self->pair_at[second] = (uint16_t)i;
        const uint32_t from = pair_of(words, pair) == pair_of(words, i) ? pair : single;
        self->found[i] = SEEN_AT(from, alike_portable(words, i, from));
    }
}

#ifdef WITH_AVX2
/* Eight bytes that may lie anywhere. */
typedef struct {
    uint64_t bytes;
} __attribute__((packed, may_alias)) Loose;

AVX2 static inline __m256i eight_at(const uint8_t *words, size_t place) {
    return _mm256_loadu_si256((const __m256i *)(words + 4 * place));
}

/* A bit for each of eight words, set where both are the same. */
AVX2 static inline unsigned same(__m256i a, __m256i b) {
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}

AVX2 static inline unsigned alike_avx2(const uint8_t *words, size_t place, size_t from) {
    return (unsigned)__builtin_ctz(same(eight_at(words, place), eight_at(words, from)) + 1);
}

/* Of eight words: four of words, four of pairs, then the other four. Returns whether all are as the ones behind them. */
AVX2 static inline int hash_eight(const uint8_t *words, size_t place, uint16_t *hashes) {
    const __m256i here = eight_at(words, place), next = eight_at(words, place + 1);
    const __m256i mixed = _mm256_mullo_epi32(here, _mm256_set1_epi32((int)WORD_FACTOR));
    const __m256i turned = _mm256_or_si256(_mm256_slli_epi32(next, 16), _mm256_srli_epi32(next, 16));
    const __m256i both = _mm256_mullo_epi32(_mm256_add_epi32(mixed, turned), _mm256_set1_epi32((int)PAIR_FACTOR));
    _mm256_storeu_si256((__m256i *)hashes, _mm256_packus_epi32(_mm256_srli_epi32(mixed, 32 - HASH_BITS),
                                                               _mm256_srli_epi32(both, 32 - HASH_BITS)));
    return same(here, next) == 255;
}

/* Whether fifteen words, and the one before them, are the same. */
AVX2 static inline int run_at(const uint8_t *words, size_t place) {
    const __m256i next = eight_at(words, place + 1);
    /* All fifteen first: whether the first two are the same is seldom foretold. */
    return (same(eight_at(words, place), next) & same(next, eight_at(words, place + LANES - 1))) == 255 && place &&
           word_of(words, place - 1) == word_of(words, place);
}

/* Every load and every step counts here: this is a quarter of all that a tile costs. */
AVX2 static inline void eight_avx2(Repeats *self, const uint8_t *words, size_t place, const uint16_t *hashes, int runs) {
    if (runs && run_at(words, place)) {
        const __m256i before = _mm256_add_epi32(_mm256_set1_epi32((int)place), _mm256_setr_epi32(-1, 0, 1, 2, 3, 4, 5, 6));
        const __m256i seen = _mm256_or_si256(_mm256_slli_epi32(before, 8), _mm256_set1_epi32(LANES));
        _mm256_storeu_si256((__m256i *)(self->found + place), seen);
        return;
    }
    const uint8_t *own = words + 4 * place;
#pragma GCC unroll 8
    for (unsigned i = 0; i < LANES; i++) {
        const size_t first = hashes[i < 4 ? i : i + 4], second = hashes[i < 4 ? i + 4 : i + 8];
        const size_t pair = self->pair_at[second];
        size_t from = self->word_at[first];
        self->word_at[first] = self->pair_at[second] = (uint16_t)(place + i);
        /* Which of the two it is cannot be foretold: a jump would be missed every other time. */
        __asm__("cmpq %3, %2\n\tcmove %1, %0"
                : "+r"(from)
                : "r"(pair), "r"(pair_of(words, pair)), "m"(*(const Loose *)(own + 4 * i))
                : "cc");
        self->found[place + i] = SEEN_AT(from, alike_avx2(words, place + i, from));
    }
}

AVX2 static void search_avx2(Repeats *self, const uint8_t *words, size_t begin, size_t end) {
    uint16_t hashes[2 * HASHED_WORDS];
    for (size_t start = begin; start < end; start += HASHED_WORDS) {
        const size_t count = end - start < HASHED_WORDS ? end - start : HASHED_WORDS;
        int runs = 0;
        for (size_t i = 0; i < count; i += LANES) runs |= hash_eight(words, start + i, hashes + 2 * i);
        /* Through memory: one by one out of a register takes longer. */
        __asm__("" : "+m"(hashes));
        for (size_t i = 0; i < count; i += LANES) {
            _mm_prefetch((const char *)((uintptr_t)words + 4 * (start + i) + AHEAD_BYTES), _MM_HINT_T1);
            eight_avx2(self, words, start + i, hashes + 2 * i, runs);
        }
    }
}
#endif

/* Both are multiples of LANES. */
static void search(Repeats *self, const uint8_t *words, size_t begin, size_t end) {
#ifdef WITH_AVX2
    if (has_avx2()) {
        search_avx2(self, words, begin, end);
        return;
    }
#endif
    for (size_t place = begin; place < end; place += LANES) eight_portable(self, words, place);
}

/* Whether words hardly repeat: neither do many of the `early` first ones, nor are many of all as the one before. */
static inline int hardly_repeat(size_t repeats, size_t early, const uint8_t *words, size_t count) {
    uint32_t runs = 0;
    if (repeats >= early / LEAST_EARLY) return 0;
    for (size_t i = 1; i < count; i++) runs += word_of(words, i) == word_of(words, i - 1);
    return runs < count / LEAST_EARLY;
}

static inline size_t count_repeats(const uint32_t *found, size_t count) {
    uint32_t repeats = 0;
    for (size_t i = 0; i < count; i++) repeats += (found[i] & 255) != 0;
    return repeats;
}

/* Fills `found` for `count` words, at most PIECE_WORDS; up to `readable` may be read. Returns 0, with nothing to be used,
   where the first ones hardly repeat and it may `give_up`. */
static inline int find_repeats(Repeats *self, const uint8_t *words, size_t count, size_t readable, int give_up) {
    const size_t most = readable < 2 * LANES ? 0 : (readable - LANES) / LANES * LANES;
    const size_t searched = count < most ? count / LANES * LANES : most;
    const size_t early = searched < EARLY_WORDS ? searched : EARLY_WORDS;
    memset(self->word_at, 0, sizeof self->word_at);
    memset(self->pair_at, 0, sizeof self->pair_at);
    search(self, words, 0, early);
    if (give_up && hardly_repeat(count_repeats(self->found, early), early, words, count)) return 0;
    search(self, words, early, searched);
    memset(self->found + searched, 0, (count - searched) * sizeof *self->found);
    self->found[0] = 0; /* it was taken for its own like */
    return 1;
}

/* How many words are the same, of `most` at most. */
static inline size_t alike_from(const uint8_t *words, size_t place, size_t from, size_t most) {
    size_t alike = 0;
    while (alike + 2 <= most && pair_of(words, place + alike) == pair_of(words, from + alike)) alike += 2;
    return alike + (alike < most && word_of(words, place + alike) == word_of(words, from + alike));
}

#endif
