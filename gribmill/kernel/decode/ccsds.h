/* CCSDS lossless compression (CCSDS 121.0-B, template 5.42), for samples of up to 32 bits.

   Samples come in reference sample intervals of a number of blocks. The identifier of a block says how it is coded: as
   zero blocks, by the second extension (pairs of samples), by split samples (a fundamental sequence and the low bits),
   or without compression. With preprocessing, all but the first sample of an interval are mapped differences. Where
   libaec and this decoder might disagree, on streams that no encoder writes, the stream is declined. */
#ifndef GRIBMILL_CCSDS_H
#define GRIBMILL_CCSDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../byte_reader.h"
#include "../cpu.h"
#include "bit_reader.h"
#include "ccsds_preprocessor.h"
#include "decode_status.h"

/* Compression options mask, octet 22 of section 5. */
#define CCSDS_SIGNED 1
#define CCSDS_PREPROCESS 8
#define CCSDS_RESTRICTED 16
#define CCSDS_PAD_INTERVAL 32

#define MAX_BLOCK_SIZE 64
/* Blocks of a segment, within which a run of zero blocks can extend to the end. */
#define SEGMENT_BLOCKS 64
/* The number of zero blocks that means: the remainder of the segment. */
#define REMAINDER_OF_SEGMENT 5
/* Codes of the second extension: pairs whose sum is at most 12. */
#define PAIR_CODES 91

typedef struct {
    ByteSpan data;
    unsigned sample_bits, id_bits, block_size;
    int preprocess, pad_interval;
    size_t interval;                   /* samples of a reference sample interval */
    uint64_t end, bit;                 /* of the data */
    uint64_t value_count, values_read; /* in all, and in the intervals that were read */
    uint32_t max_sample, storage_mask;
    /* The current interval: it has `have` samples; `used` of them were returned. */
    uint32_t *samples;
    size_t have, used;
    uint8_t pair_sum[PAIR_CODES], pair_first[PAIR_CODES];
} Ccsds;

/* The width of a block's identifier; 0 if the standard has none. */
static unsigned id_bits_of(unsigned sample_bits, unsigned options) {
    if (sample_bits > 16) return 5;
    if (sample_bits > 8) return 4;
    if (!(options & CCSDS_RESTRICTED)) return 3;
    return sample_bits <= 2 ? 1 : sample_bits <= 4 ? 2 : 0;
}

static DecodeStatus open_ccsds(Ccsds *self, ByteSpan section, ByteSpan data, uint64_t value_count) {
    if (section.size < 25) return DECLINED_TEMPLATE;
    const unsigned options = section.bytes[21], interval_blocks = read_u16(section.bytes + 23);
    self->data = data;
    self->sample_bits = section.bytes[19];
    self->block_size = section.bytes[22];
    self->id_bits = id_bits_of(self->sample_bits, options);
    if (self->sample_bits > 32 || self->id_bits == 0 || options & CCSDS_SIGNED) return DECLINED_TEMPLATE;
    if (self->block_size != 8 && self->block_size != 16 && self->block_size != 32 && self->block_size != 64)
        return DECLINED_TEMPLATE;
    if (interval_blocks == 0) return DECLINED_TEMPLATE;
    self->preprocess = !!(options & CCSDS_PREPROCESS);
    self->pad_interval = !!(options & CCSDS_PAD_INTERVAL);
    self->interval = (size_t)interval_blocks * self->block_size;
    self->end = (uint64_t)data.size * 8;
    self->bit = self->values_read = 0;
    self->value_count = value_count;
    self->have = self->used = 0;
    self->max_sample = UINT32_MAX >> (32 - self->sample_bits);
    /* libaec writes samples into 1, 2 or 4 bytes. */
    self->storage_mask = self->sample_bits <= 8 ? UINT8_MAX : self->sample_bits <= 16 ? UINT16_MAX : UINT32_MAX;
    for (unsigned sum = 0, code = 0; sum < 13; sum++)
        for (unsigned second = 0; second <= sum; second++, code++) {
            self->pair_sum[code] = (uint8_t)sum;
            self->pair_first[code] = (uint8_t)(sum - second);
        }
    /* No more memory than the values need: a short field must not pay for a long interval, and a hostile one must not
       be able to ask for it. */
    const uint64_t blocks = (value_count + self->block_size - 1) / self->block_size;
    const uint64_t most = blocks * self->block_size < self->interval ? blocks * self->block_size : self->interval;
    self->samples = malloc((size_t)(most + MAX_BLOCK_SIZE + RUN_SLACK) * sizeof(uint32_t));
    return self->samples ? DECODED : DECLINED_MEMORY;
}

static void close_ccsds(Ccsds *self) {
    free(self->samples);
    self->samples = NULL;
}

/* The next `width` bits; 0 if the data end before. */
static inline int take_bits(Ccsds *self, unsigned width, uint32_t *number) {
    if (self->end - self->bit < width) return 0;
    *number = read_bits(self->data, self->bit, width);
    self->bit += width;
    return 1;
}

/* The first bit becomes the lowest, so that counting trailing zeros finds the next set bit. */
static inline uint64_t reverse_bits(uint64_t word) {
    word = __builtin_bswap64(word);
    word = (word >> 1 & UINT64_C(0x5555555555555555)) | (word & UINT64_C(0x5555555555555555)) << 1;
    word = (word >> 2 & UINT64_C(0x3333333333333333)) | (word & UINT64_C(0x3333333333333333)) << 2;
    return (word >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4;
}

static inline unsigned trailing_zeros(uint64_t word) { return (unsigned)__builtin_ctzll(word); }

#ifdef WITH_AVX2
AVX2 static inline uint64_t isolate_one(uint64_t word, unsigned below) { return _pdep_u64(UINT64_C(1) << below, word); }
#endif

/* The position, counted from the top bit, of the set bit with `below` set bits below it. */
static inline unsigned position_of_one(uint64_t word, unsigned below) {
#ifdef WITH_AVX2
    if (has_avx2()) return 63 - trailing_zeros(isolate_one(word, below));
#endif
    for (; below; below--) word &= word - 1;
    return 63 - trailing_zeros(word);
}

/* `count` codes of a fundamental sequence (zeros, then a one) that take no more than `max_bits` in all; 0 where they do
   not. Where the sequence ends is found by counting ones, before the codes are taken apart, so that the next block need
   not wait. Without `out` they are skipped. */
static int take_fundamental_sequence(Ccsds *self, uint32_t *out, size_t count, uint64_t max_bits) {
    const uint64_t start = self->bit;
    uint64_t bit = start;
    uint32_t zeros = 0;
    while (bit < self->end && bit - start <= max_bits) {
        const unsigned skip = (unsigned)(bit & 7);
        const uint64_t word = be64_at(self->data, (size_t)(bit >> 3)) << skip;
        const unsigned ones = popcount64(word), part = ones < count ? ones : (unsigned)count;
        if (out) {
            uint64_t ahead = reverse_bits(word);
            unsigned next = 0;
            for (unsigned i = 0; i < part; i++) {
                const unsigned position = trailing_zeros(ahead);
                *out++ = zeros + position - next;
                zeros = 0;
                next = position + 1;
                ahead &= ahead - 1;
            }
            zeros += 64 - skip - next;
        }
        count -= part;
        if (count == 0) {
            self->bit = bit + position_of_one(word, ones - part) + 1;
            return self->bit - start <= max_bits;
        }
        bit += 64 - skip;
    }
    return 0;
}

/* The block readers return 0 where the stream ends early, or is one that no encoder writes. `reference` is 1 where the
   reference sample of the interval takes the place of the block's first sample. */
static int read_zero_blocks(Ccsds *self, int reference) {
    uint32_t zeros;
    if (!take_fundamental_sequence(self, &zeros, 1, self->interval)) return 0;
    size_t blocks = (size_t)zeros + 1;
    if (blocks == REMAINDER_OF_SEGMENT) {
        const size_t before = self->have / self->block_size;
        const size_t interval = self->interval / self->block_size - before;
        const size_t segment = SEGMENT_BLOCKS - before % SEGMENT_BLOCKS;
        blocks = interval < segment ? interval : segment;
    } else if (blocks > REMAINDER_OF_SEGMENT) {
        blocks--;
    }
    size_t count = blocks * self->block_size - (size_t)reference;
    if (count > self->interval - self->have) return 0;
    /* The values may end within the run. */
    const uint64_t left = self->value_count - self->values_read - self->have;
    if (count > left) count = (size_t)left;
    memset(self->samples + self->have, 0, count * sizeof(uint32_t));
    self->have += count;
    return 1;
}

static int read_second_extension(Ccsds *self, int reference, uint64_t max_bits) {
    uint32_t codes[MAX_BLOCK_SIZE / 2];
    const size_t count = self->block_size / 2;
    if (!take_fundamental_sequence(self, codes, count, max_bits)) return 0;
    uint32_t *out = self->samples + self->have;
    for (size_t i = 0; i < count; i++) {
        if (codes[i] >= PAIR_CODES) return 0;
        const uint32_t first = self->pair_first[codes[i]];
        /* The reference sample takes the place of the first half of the first pair. */
        if (i > 0 || !reference) *out++ = first;
        *out++ = self->pair_sum[codes[i]] - first;
    }
    self->have += self->block_size - (size_t)reference;
    return 1;
}

/* Whether any of the numbers has more than `bits` bits. */
static inline int any_wider(const uint32_t *numbers, size_t count, unsigned bits) {
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++) all |= numbers[i];
    return (uint64_t)all >> bits != 0;
}

static int read_split_samples(Ccsds *self, unsigned low_bits, int reference, uint64_t max_bits, int skip) {
    const size_t count = self->block_size - (size_t)reference;
    const uint64_t binary = (uint64_t)count * low_bits;
    uint32_t *out = self->samples + self->have;
    if (binary > max_bits || !take_fundamental_sequence(self, skip ? NULL : out, count, max_bits - binary)) return 0;
    if (self->end - self->bit < binary) return 0;
    /* No encoder writes a number wider than a sample, and libraries treat it differently. */
    if (!skip && any_wider(out, count, self->sample_bits - low_bits)) return 0;
    if (low_bits && !skip) {
        uint32_t low[MAX_BLOCK_SIZE + RUN_SLACK];
        read_run(self->data, self->bit, low_bits, 0, low, count);
        for (size_t i = 0; i < count; i++) out[i] = (out[i] << low_bits) + low[i];
    }
    self->bit += binary;
    self->have += count;
    return 1;
}

static int read_uncompressed(Ccsds *self) {
    const uint64_t size = (uint64_t)self->block_size * self->sample_bits;
    if (self->end - self->bit < size) return 0;
    read_run(self->data, self->bit, self->sample_bits, 0, self->samples + self->have, self->block_size);
    self->bit += size;
    self->have += self->block_size;
    return 1;
}

static int read_block(Ccsds *self, int skip) {
    const int reference = self->preprocess && self->have == 0;
    /* No encoder writes a block longer than its uncompressed samples. */
    const uint64_t max_bits = (uint64_t)self->block_size * self->sample_bits - (reference ? self->sample_bits : 0);
    uint32_t id, second_extension = 0;
    if (!take_bits(self, self->id_bits, &id)) return 0;
    if (id == (1u << self->id_bits) - 1) return read_uncompressed(self);
    if (id == 0 && !take_bits(self, 1, &second_extension)) return 0;
    if (reference && !take_bits(self, self->sample_bits, self->samples + self->have++)) return 0;
    if (id) return read_split_samples(self, id - 1, reference, max_bits, skip);
    return second_extension ? read_second_extension(self, reference, max_bits) : read_zero_blocks(self, reference);
}

static void postprocess(Ccsds *self) {
    if (self->preprocess) {
        unmap_samples(self->samples, self->have, self->max_sample, self->storage_mask);
        return;
    }
    for (size_t i = 0; i < self->have; i++) self->samples[i] &= self->storage_mask;
}

static inline DecodeStatus read_interval_portable(Ccsds *self, int skip) {
    self->have = self->used = 0;
    const uint64_t left = self->value_count - self->values_read;
    if (self->pad_interval) self->bit = (self->bit + 7) / 8 * 8;
    while (self->have < self->interval && self->have < left)
        if (self->bit > self->end || !read_block(self, skip)) return DECLINED_CCSDS;
    if (!skip) postprocess(self);
    self->values_read += self->have < left ? self->have : left;
    return DECODED;
}

#ifdef WITH_AVX2
/* Everything that it calls is inlined and compiled for this processor, so that bits are counted by one instruction. */
AVX2 __attribute__((flatten)) static DecodeStatus read_interval_avx2(Ccsds *self, int skip) {
    return read_interval_portable(self, skip);
}
#endif

/* With `skip`, the samples stay undefined. */
static DecodeStatus read_interval(Ccsds *self, int skip) {
#ifdef WITH_AVX2
    if (has_avx2()) return read_interval_avx2(self, skip);
#endif
    return read_interval_portable(self, skip);
}

static DecodeStatus read_ccsds(Ccsds *self, uint32_t *out, size_t count) {
    while (count) {
        if (self->used == self->have) {
            const DecodeStatus status = read_interval(self, 0);
            if (status != DECODED) return status;
        }
        const size_t left = self->have - self->used, part = left < count ? left : count;
        memcpy(out, self->samples + self->used, part * sizeof(uint32_t));
        self->used += part;
        out += part;
        count -= part;
    }
    return DECODED;
}

/* An interval without wanted samples is parsed, but its samples are not computed. */
static DecodeStatus skip_ccsds(Ccsds *self, uint64_t count) {
    while (count) {
        if (self->used == self->have) {
            const uint64_t left = self->value_count - self->values_read;
            const DecodeStatus status = read_interval(self, count >= self->interval || count >= left);
            if (status != DECODED) return status;
        }
        const uint64_t left = self->have - self->used, part = left < count ? left : count;
        self->used += (size_t)part;
        count -= part;
    }
    return DECODED;
}

/* Parses the rest. After a complete last block, libaec looks for another one: only zeros are certain to end it. */
static DecodeStatus finish_ccsds(Ccsds *self) {
    while (self->values_read < self->value_count) {
        const DecodeStatus status = read_interval(self, 1);
        if (status != DECODED) return status;
    }
    if (self->value_count % self->block_size) return DECODED;
    for (; self->bit < self->end && self->bit & 7; self->bit++)
        if (read_bits(self->data, self->bit, 1)) return DECLINED_CCSDS;
    for (size_t offset = (size_t)(self->bit >> 3); offset < self->data.size; offset++)
        if (self->data.bytes[offset]) return DECLINED_CCSDS;
    return DECODED;
}

#endif
