/* Adaptive entropy coding (CCSDS 121.0-B) as template 5.42 has it, for numbers of up to 32 bits.

   Samples come in reference sample intervals of `interval` blocks. Each block says how it is coded: zeros, pairs
   (second extension), split into a unary and a binary part, or as they are. With preprocessing, all but an
   interval's first sample are differences folded to stay in range.
   Where libaec and a stream that no encoder writes might disagree, the stream is declined. */
#ifndef GRIBMILL_CCSDS_H
#define GRIBMILL_CCSDS_H

#include <stdlib.h>

#include "bit_reader.h"
#include "spatial_differencing.h"

#define AEC_SIGNED 1
#define AEC_PREPROCESS 8
#define AEC_RESTRICTED 16
#define AEC_PAD 32

#define LARGEST_BLOCK 64
/* Codes of the second extension: pairs whose sum is at most 12. */
#define PAIR_CODES 91
/* The count of zero blocks that means: all to the end of the segment of 64 blocks. */
#define REST_OF_SEGMENT 5

typedef struct {
    Octets data;
    unsigned bits, id_bits, block;
    int preprocess, pad;
    size_t interval; /* samples */
    uint64_t end, bit;
    uint64_t coded, made; /* values in all, and those of the intervals that are read */
    uint32_t largest, stored;
    /* The interval at hand: `have` samples, of which `used` are handed out. */
    uint32_t *samples;
    size_t have, used;
    uint8_t pair_sum[PAIR_CODES], pair_first[PAIR_CODES];
} Aec;

static unsigned id_bits_of(unsigned bits, unsigned flags) {
    if (bits > 16) return 5;
    if (bits > 8) return 4;
    if (!(flags & AEC_RESTRICTED)) return 3;
    return bits <= 2 ? 1 : bits <= 4 ? 2 : 0;
}

static Verdict open_aec(Aec *self, Octets section, Octets data, uint64_t coded) {
    if (section.size < 25) return DECLINED_TEMPLATE;
    const unsigned flags = section.bytes[21], intervals = number2(section.bytes + 23);
    self->data = data;
    self->bits = section.bytes[19];
    self->block = section.bytes[22];
    self->id_bits = id_bits_of(self->bits, flags);
    if (self->bits > 32 || self->id_bits == 0 || flags & AEC_SIGNED) return DECLINED_TEMPLATE;
    if (self->block != 8 && self->block != 16 && self->block != 32 && self->block != 64) return DECLINED_TEMPLATE;
    if (intervals == 0) return DECLINED_TEMPLATE;
    self->preprocess = !!(flags & AEC_PREPROCESS);
    self->pad = !!(flags & AEC_PAD);
    self->interval = (size_t)intervals * self->block;
    self->end = (uint64_t)data.size * 8;
    self->bit = self->made = 0;
    self->coded = coded;
    self->have = self->used = 0;
    self->largest = UINT32_MAX >> (32 - self->bits);
    /* libaec writes samples into 1, 2 or 4 bytes. */
    self->stored = self->bits <= 8 ? UINT8_MAX : self->bits <= 16 ? UINT16_MAX : UINT32_MAX;
    for (unsigned sum = 0, code = 0; sum < 13; sum++)
        for (unsigned second = 0; second <= sum; second++, code++) {
            self->pair_sum[code] = (uint8_t)sum;
            self->pair_first[code] = (uint8_t)(sum - second);
        }
    /* A short field must not pay for a long interval, nor a hostile one get memory for nothing. */
    const uint64_t blocks = (coded + self->block - 1) / self->block;
    const uint64_t most = blocks * self->block < self->interval ? blocks * self->block : self->interval;
    self->samples = malloc((size_t)(most + LARGEST_BLOCK + RUN_SLACK) * sizeof(uint32_t));
    return self->samples ? DONE : DECLINED_MEMORY;
}

static void close_aec(Aec *self) {
    free(self->samples);
    self->samples = NULL;
}

static inline int take_bits(Aec *self, unsigned width, uint32_t *number) {
    if (self->end - self->bit < width) return 0;
    *number = bits_at(self->data, self->bit, width);
    self->bit += width;
    return 1;
}

/* The first bit lowest: so that the next one is found by counting zeros. */
static inline uint64_t mirrored(uint64_t word) {
    word = __builtin_bswap64(word);
    word = (word >> 1 & UINT64_C(0x5555555555555555)) | (word & UINT64_C(0x5555555555555555)) << 1;
    word = (word >> 2 & UINT64_C(0x3333333333333333)) | (word & UINT64_C(0x3333333333333333)) << 2;
    return (word >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4;
}

static inline unsigned zeros_before(uint64_t word) { return (unsigned)__builtin_ctzll(word); }

#ifdef WITH_AVX2
AVX2 static inline uint64_t one_above(uint64_t word, unsigned below) { return _pdep_u64(UINT64_C(1) << below, word); }
#endif

/* Where, from the top, the one is that has so many others below it. */
static inline unsigned place_of_one(uint64_t word, unsigned below) {
#ifdef WITH_AVX2
    if (has_avx2()) return 63 - zeros_before(one_above(word, below));
#endif
    for (; below; below--) word &= word - 1;
    return 63 - zeros_before(word);
}

/* `count` unary numbers (zeros, then a one) that take no more than `room` bits in all. Where they end is known before
   they are taken apart, and the next block need not wait for it. Without `out` they are passed over. */
static int take_unary(Aec *self, uint32_t *out, size_t count, uint64_t room) {
    const uint64_t start = self->bit;
    uint64_t bit = start;
    uint32_t zeros = 0;
    while (bit < self->end && bit - start <= room) {
        const unsigned skip = (unsigned)(bit & 7);
        const uint64_t word = word_at(self->data, (size_t)(bit >> 3)) << skip;
        const unsigned found = ones(word), part = found < count ? found : (unsigned)count;
        if (out) {
            uint64_t ahead = mirrored(word);
            unsigned next = 0;
            for (unsigned i = 0; i < part; i++) {
                const unsigned place = zeros_before(ahead);
                *out++ = zeros + place - next;
                zeros = 0;
                next = place + 1;
                ahead &= ahead - 1;
            }
            zeros += 64 - skip - next;
        }
        count -= part;
        if (count == 0) {
            self->bit = bit + place_of_one(word, found - part) + 1;
            return self->bit - start <= room;
        }
        bit += 64 - skip;
    }
    return 0;
}

static int zero_blocks(Aec *self, int reference) {
    uint32_t zeros;
    if (!take_unary(self, &zeros, 1, self->interval)) return 0;
    size_t blocks = (size_t)zeros + 1;
    if (blocks == REST_OF_SEGMENT) {
        const size_t before = self->have / self->block;
        const size_t interval = self->interval / self->block - before, segment = 64 - before % 64;
        blocks = interval < segment ? interval : segment;
    } else if (blocks > REST_OF_SEGMENT) {
        blocks--;
    }
    size_t count = blocks * self->block - (size_t)reference;
    if (count > self->interval - self->have) return 0;
    /* The values may end within the run. */
    const uint64_t left = self->coded - self->made - self->have;
    if (count > left) count = (size_t)left;
    memset(self->samples + self->have, 0, count * sizeof(uint32_t));
    self->have += count;
    return 1;
}

static int pairs(Aec *self, int reference, uint64_t room) {
    uint32_t codes[LARGEST_BLOCK / 2];
    const size_t count = self->block / 2;
    if (!take_unary(self, codes, count, room)) return 0;
    uint32_t *out = self->samples + self->have;
    for (size_t i = 0; i < count; i++) {
        if (codes[i] >= PAIR_CODES) return 0;
        const uint32_t first = self->pair_first[codes[i]];
        /* The reference sample stands in the place of the first pair's first half. */
        if (i > 0 || !reference) *out++ = first;
        *out++ = self->pair_sum[codes[i]] - first;
    }
    self->have += self->block - (size_t)reference;
    return 1;
}

/* Whether any of the numbers has more bits than that. */
static inline int any_wider(const uint32_t *numbers, size_t count, unsigned bits) {
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++) all |= numbers[i];
    return (uint64_t)all >> bits != 0;
}

static int split(Aec *self, unsigned shift, int reference, uint64_t room, int skim) {
    const size_t count = self->block - (size_t)reference;
    const uint64_t binary = (uint64_t)count * shift;
    uint32_t *out = self->samples + self->have;
    if (binary > room || !take_unary(self, skim ? NULL : out, count, room - binary)) return 0;
    if (self->end - self->bit < binary) return 0;
    /* No encoder makes a number that is wider than a sample, and libraries differ on one. */
    if (!skim && any_wider(out, count, self->bits - shift)) return 0;
    if (shift && !skim) {
        uint32_t low[LARGEST_BLOCK + RUN_SLACK];
        read_run(self->data, self->bit, shift, 0, low, count);
        for (size_t i = 0; i < count; i++) out[i] = (out[i] << shift) + low[i];
    }
    self->bit += binary;
    self->have += count;
    return 1;
}

static int as_they_are(Aec *self) {
    const uint64_t size = (uint64_t)self->block * self->bits;
    if (self->end - self->bit < size) return 0;
    read_run(self->data, self->bit, self->bits, 0, self->samples + self->have, self->block);
    self->bit += size;
    self->have += self->block;
    return 1;
}

static int one_block(Aec *self, int skim) {
    const int reference = self->preprocess && self->have == 0;
    /* No encoder makes a block longer than the samples as they are. */
    const uint64_t room = (uint64_t)self->block * self->bits - (reference ? self->bits : 0);
    uint32_t id, pairs_follow = 0;
    if (!take_bits(self, self->id_bits, &id)) return 0;
    if (id == (1u << self->id_bits) - 1) return as_they_are(self);
    if (id == 0 && !take_bits(self, 1, &pairs_follow)) return 0;
    if (reference && !take_bits(self, self->bits, self->samples + self->have++)) return 0;
    if (id) return split(self, id - 1, reference, room, skim);
    return pairs_follow ? pairs(self, reference, room) : zero_blocks(self, reference);
}

static void unfold(Aec *self) {
    if (self->preprocess) {
        unfold_run(self->samples, self->have, self->largest, self->stored);
        return;
    }
    for (size_t i = 0; i < self->have; i++) self->samples[i] &= self->stored;
}

static inline Verdict interval_blocks(Aec *self, int skim) {
    self->have = self->used = 0;
    const uint64_t left = self->coded - self->made;
    if (self->pad) self->bit = (self->bit + 7) / 8 * 8;
    while (self->have < self->interval && self->have < left)
        if (self->bit > self->end || !one_block(self, skim)) return DECLINED_STREAM;
    if (!skim) unfold(self);
    self->made += self->have < left ? self->have : left;
    return DONE;
}

#ifdef WITH_AVX2
/* All that it calls is compiled into it, for this processor: bits are counted in one instruction. */
AVX2 __attribute__((flatten)) static Verdict interval_avx2(Aec *self, int skim) { return interval_blocks(self, skim); }
#endif

static Verdict next_interval(Aec *self, int skim) {
#ifdef WITH_AVX2
    if (has_avx2()) return interval_avx2(self, skim);
#endif
    return interval_blocks(self, skim);
}

static Verdict read_aec(Aec *self, uint32_t *out, size_t count) {
    while (count) {
        if (self->used == self->have) {
            const Verdict verdict = next_interval(self, 0);
            if (verdict != DONE) return verdict;
        }
        const size_t left = self->have - self->used, part = left < count ? left : count;
        memcpy(out, self->samples + self->used, part * sizeof(uint32_t));
        self->used += part;
        out += part;
        count -= part;
    }
    return DONE;
}

/* An interval that is skipped whole is not unfolded. */
static Verdict skip_aec(Aec *self, uint64_t count) {
    while (count) {
        if (self->used == self->have) {
            const uint64_t left = self->coded - self->made;
            const Verdict verdict = next_interval(self, count >= self->interval || count >= left);
            if (verdict != DONE) return verdict;
        }
        const uint64_t left = self->have - self->used, part = left < count ? left : count;
        self->used += (size_t)part;
        count -= part;
    }
    return DONE;
}

/* Reads to the end. Behind a last block that is whole, libaec looks for another: only zeros are sure to end it. */
static Verdict finish_aec(Aec *self) {
    while (self->made < self->coded) {
        const Verdict verdict = next_interval(self, 1);
        if (verdict != DONE) return verdict;
    }
    if (self->coded % self->block) return DONE;
    for (; self->bit < self->end && self->bit & 7; self->bit++)
        if (bits_at(self->data, self->bit, 1)) return DECLINED_STREAM;
    for (size_t place = (size_t)(self->bit >> 3); place < self->data.size; place++)
        if (self->data.bytes[place]) return DECLINED_STREAM;
    return DONE;
}

#endif
