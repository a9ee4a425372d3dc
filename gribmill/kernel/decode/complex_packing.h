/* Complex packing (template 5.2), and with spatial differencing (template 5.3).

   Values are packed in groups, each with its own reference, width and length. Section 7 has the extra descriptors of
   spatial differencing, the group references, the group widths, the group lengths, then the values. */
#ifndef GRIBMILL_COMPLEX_PACKING_H
#define GRIBMILL_COMPLEX_PACKING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "../cpu.h"
#include "bit_reader.h"
#include "decode_status.h"
#include "scaling.h"
#include "spatial_differencing.h"

/* Groups whose references, widths and lengths are unpacked together: three arrays that stay in the first-level cache.
 */
#define GROUP_BATCH 512
/* Values that are compacted at a time where some of them are missing. */
#define COMPACTED_VALUES 256
/* Reference plus value then stay within 31 bits. */
#define MAX_GROUP_WIDTH 30

typedef struct {
    ByteSpan data;
    uint32_t group_count, last_length, length_reference, length_increment, width_reference;
    unsigned reference_bits, width_bits, length_bits;
    int missing_management; /* code table 5.5: 0 none, 1 primary, 2 primary and secondary missing values */
    uint32_t max_width;     /* of all groups */
    int changed;            /* the groups have changed since they were checked */
    uint64_t references_at, widths_at, lengths_at, values_at; /* in bits */
    /* Spatial differencing. */
    uint64_t first_values[2];
    int64_t overall_minimum; /* of the differences; added to every one of them */
    unsigned first_values_used;
    Differencing differencing;
    /* The current group. */
    uint32_t next_group, batch_end;
    uint64_t left, bit; /* values left in it, and where the next one starts */
    uint32_t reference, width;
    uint32_t base; /* reference + overall minimum */
    uint32_t references[GROUP_BATCH + RUN_SLACK], widths[GROUP_BATCH + RUN_SLACK], lengths[GROUP_BATCH + RUN_SLACK];
    uint32_t compacted[COMPACTED_VALUES + RUN_SLACK];
} ComplexPacking;

/* Lengths must add up to the number of values, and all bits must be within the data. */
static DecodeStatus check_groups(ComplexPacking *self, uint64_t value_count) {
    uint64_t values = 0, bits = 0;
    for (uint32_t group = 0; group < self->group_count; group += GROUP_BATCH) {
        const uint32_t count = self->group_count - group < GROUP_BATCH ? self->group_count - group : GROUP_BATCH;
        read_run(self->data, self->widths_at + (uint64_t)group * self->width_bits, self->width_bits, 0, self->widths,
                 count);
        read_run(self->data, self->lengths_at + (uint64_t)group * self->length_bits, self->length_bits, 0,
                 self->lengths, count);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t width = (uint64_t)self->width_reference + self->widths[i];
            uint64_t length = self->length_reference + (uint64_t)self->length_increment * self->lengths[i];
            if (group + i == self->group_count - 1) length = self->last_length;
            values += length;
            if (width > MAX_GROUP_WIDTH || values > value_count) return DECLINED_GROUPS;
            if (width > self->max_width) self->max_width = (uint32_t)width;
            bits += width * length;
        }
    }
    if (values != value_count) return DECLINED_GROUPS;
    return self->values_at + bits <= (uint64_t)self->data.size * 8 ? DECODED : DECLINED_TRUNCATED;
}

static uint64_t read_unsigned(const uint8_t *p, unsigned octets) {
    uint64_t number = 0;
    for (unsigned i = 0; i < octets; i++) number = number << 8 | p[i];
    return number;
}

/* The extra descriptors: first value or values, and the overall minimum of the differences. ecCodes takes the first
   values without a sign, against the manual. */
static DecodeStatus read_extra_descriptors(ComplexPacking *self, ByteSpan section) {
    if (section.size < 49) return DECLINED_TEMPLATE;
    const unsigned octets = section.bytes[48];
    self->differencing.order = section.bytes[47];
    if (self->differencing.order != 1 && self->differencing.order != 2) return DECLINED_TEMPLATE;
    if (octets < (self->reference_bits ? 1u : 0u) || octets > 4) return DECLINED_TEMPLATE;
    const size_t size = (size_t)(self->differencing.order + 1) * octets;
    if (self->data.size < size) return DECLINED_TRUNCATED;
    const uint8_t *at = self->data.bytes;
    for (int i = 0; i < self->differencing.order; i++, at += octets) self->first_values[i] = read_unsigned(at, octets);
    const uint64_t word = read_unsigned(at, octets), sign = UINT64_C(1) << (8 * octets) >> 1;
    self->overall_minimum = word & sign ? -(int64_t)(word & (sign - 1)) : (int64_t)word;
    self->references_at = (uint64_t)size * 8;
    return DECODED;
}

/* Declines if reference, value and overall minimum can add up to more than the range of a difference. */
static DecodeStatus check_overall_minimum(const ComplexPacking *self) {
    const int64_t most = (INT64_C(1) << self->reference_bits) + (INT64_C(1) << self->max_width);
    const int64_t bound = INT64_C(1) << DIFFERENCE_BITS;
    return self->overall_minimum > -bound && most + self->overall_minimum < bound ? DECODED : DECLINED_RANGE;
}

/* Reads sections 5 and 7 far enough that only the range of the sums can fail later. */
static DecodeStatus open_complex_packing(ComplexPacking *self, ByteSpan section, ByteSpan data, uint64_t value_count,
                                         int differenced) {
    memset(self, 0, offsetof(ComplexPacking, references));
    if (section.size < 47) return DECLINED_TEMPLATE;
    const uint8_t *p = section.bytes;
    self->data = data;
    self->reference_bits = p[19];
    self->missing_management = p[22];
    self->group_count = read_u32(p + 31);
    self->width_reference = p[35];
    self->width_bits = p[36];
    self->length_reference = read_u32(p + 37);
    self->length_increment = p[41];
    self->last_length = read_u32(p + 42);
    self->length_bits = p[46];
    if (self->missing_management > 2) return DECLINED_TEMPLATE;
    if (self->group_count == 0) return self->reference_bits == 0 ? DECODED : DECLINED_GROUPS;
    if (differenced) {
        const DecodeStatus status = read_extra_descriptors(self, section);
        if (status != DECODED) return status;
    }
    if (self->group_count > value_count) return DECLINED_GROUPS;
    if (self->reference_bits > MAX_GROUP_WIDTH || self->width_bits > MAX_WIDTH || self->length_bits > MAX_WIDTH)
        return DECLINED_GROUPS;
    /* Each list starts on an octet. */
    const uint64_t groups = self->group_count;
    self->widths_at = (self->references_at + groups * self->reference_bits + 7) / 8 * 8;
    self->lengths_at = (self->widths_at + groups * self->width_bits + 7) / 8 * 8;
    self->values_at = (self->lengths_at + groups * self->length_bits + 7) / 8 * 8;
    if (self->values_at > (uint64_t)data.size * 8) return DECLINED_TRUNCATED;
    self->bit = self->values_at;
    const DecodeStatus status = check_groups(self, value_count);
    return status == DECODED && differenced ? check_overall_minimum(self) : status;
}

/* Groups whose references have no bits. Since about 2.50 ecCodes unpacks and scales them; before that it returned the
   reference value unscaled. They are covered where that makes no difference. */
static DecodeStatus check_constant_groups(const ComplexPacking *self, const Scaling *scaling) {
    if (self->group_count == 0) return DECODED;
    if (self->max_width || self->missing_management) return DECLINED_GROUPS;
    if (self->first_values[0] || self->first_values[1] || self->overall_minimum) return DECLINED_GROUPS;
    return scaling->reference == 0 || scaling->decimal == 1 ? DECODED : DECLINED_GROUPS;
}

static void read_group_batch(ComplexPacking *self) {
    const uint32_t group = self->next_group;
    const uint32_t count = self->group_count - group < GROUP_BATCH ? self->group_count - group : GROUP_BATCH;
    read_run(self->data, self->references_at + (uint64_t)group * self->reference_bits, self->reference_bits, 0,
             self->references, count);
    read_run(self->data, self->widths_at + (uint64_t)group * self->width_bits, self->width_bits, self->width_reference,
             self->widths, count);
    read_run(self->data, self->lengths_at + (uint64_t)group * self->length_bits, self->length_bits, 0, self->lengths,
             count);
    for (uint32_t i = 0; i < count; i++)
        self->lengths[i] = self->length_reference + self->length_increment * self->lengths[i];
    if (group + count == self->group_count) self->lengths[count - 1] = self->last_length;
    self->batch_end = group + count;
}

/* From here on, an endless group of zeros; the field is declined at the end. */
static void abandon_groups(ComplexPacking *self) {
    self->changed = 1;
    self->width = 0;
    self->left = UINT64_MAX;
}

/* Starts the group whose values begin at `bit`. Its width and length are read for the second time: if another process
   writes to a mapped file meanwhile they may have changed, and still nothing may be read beyond the end. */
static inline void start_next_group(ComplexPacking *self, uint64_t bit) {
    if (UNLIKELY(self->next_group == self->group_count)) {
        abandon_groups(self);
        return;
    }
    if (self->next_group == self->batch_end) read_group_batch(self);
    const uint32_t i = self->next_group++ % GROUP_BATCH;
    self->reference = self->references[i];
    self->base = self->reference + (uint32_t)self->overall_minimum;
    self->width = self->widths[i];
    self->left = self->lengths[i];
    if (UNLIKELY(self->width > self->max_width || self->left * self->width > (uint64_t)self->data.size * 8 - bit))
        abandon_groups(self);
}

/* A packed integer of all ones is the primary missing value, one less the secondary. In a group of width 0 it is the
   reference that says so. */
static void mark_missing(const ComplexPacking *self, uint32_t *out, size_t count) {
    const uint32_t bits = self->width ? self->width : self->reference_bits;
    const uint32_t primary = (UINT32_C(1) << bits) - 1;
    const uint32_t secondary = self->missing_management == 2 ? primary - 1 : primary;
    if (self->width == 0) {
        if (self->reference != primary && self->reference != secondary) return;
        for (size_t i = 0; i < count; i++) out[i] = (uint32_t)MISSING_VALUE;
        return;
    }
    const uint32_t base = self->base;
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = out[i] - base;
        out[i] = ((word == primary) | (word == secondary)) ? (uint32_t)MISSING_VALUE : out[i];
    }
}

static inline void read_group_values_portable(ComplexPacking *self, uint32_t *out, size_t count) {
    uint64_t bit = self->bit, left = self->left;
    while (count) {
        if (left == 0) {
            start_next_group(self, bit);
            left = self->left;
            continue;
        }
        const size_t part = left < count ? (size_t)left : count;
        read_run(self->data, bit, self->width, self->base, out, part);
        if (self->missing_management) mark_missing(self, out, part);
        bit += (uint64_t)part * self->width;
        left -= part;
        out += part;
        count -= part;
    }
    self->bit = bit;
    self->left = left;
}

#ifdef WITH_AVX2
/* `read_run` is compiled into the loop over groups: many groups have only a few values. */
AVX2 __attribute__((flatten)) static void read_group_values_avx2(ComplexPacking *self, uint32_t *out, size_t count) {
    read_group_values_portable(self, out, count);
}
#endif

/* The next `count` integers, before spatial differencing is undone. The caller requests no more than remain. */
static void read_group_values(ComplexPacking *self, uint32_t *out, size_t count) {
#ifdef WITH_AVX2
    if (has_avx2()) {
        read_group_values_avx2(self, out, count);
        return;
    }
#endif
    read_group_values_portable(self, out, count);
}

static void skip_group_values(ComplexPacking *self, uint64_t count) {
    while (count) {
        if (self->left == 0) {
            start_next_group(self, self->bit);
            continue;
        }
        const uint64_t part = self->left < count ? self->left : count;
        self->bit += part * self->width;
        self->left -= part;
        count -= part;
    }
}

/* The first one or two values are not differences: they come from the extra descriptors. */
static inline uint32_t take_first_value(ComplexPacking *self) {
    const int64_t first = (int64_t)self->first_values[self->first_values_used++];
    self->differencing.step = first - self->differencing.last;
    self->differencing.last = first;
    return (uint32_t)first;
}

/* Returns whether any value was out of range. */
static int undo_all(ComplexPacking *self, uint32_t *numbers, size_t count) {
    int overflow = 0;
    size_t i = 0;
    for (; i < count && self->first_values_used < (unsigned)self->differencing.order; i++) {
        numbers[i] = take_first_value(self);
        overflow |= out_of_range(self->differencing.last) != 0;
    }
    return sum_differences(&self->differencing, numbers + i, count - i) || overflow;
}

/* Missing values take no part in the differences: the others are compacted, summed and put back. */
static int undo_around_missing(ComplexPacking *self, uint32_t *numbers, size_t count) {
    uint32_t *compacted = self->compacted;
    int overflow = 0;
    for (size_t start = 0; start < count; start += COMPACTED_VALUES) {
        uint32_t *part = numbers + start;
        const size_t size = count - start < COMPACTED_VALUES ? count - start : COMPACTED_VALUES;
        uint32_t present = 0;
        for (size_t i = 0; i < size; i++) present += (int32_t)part[i] != MISSING_VALUE;
        if (present == size) overflow |= undo_all(self, part, size);
        if (present == size || present == 0) continue;
        present = 0;
        for (size_t i = 0; i < size; i++) {
            compacted[present] = part[i];
            present += (int32_t)part[i] != MISSING_VALUE;
        }
        overflow |= undo_all(self, compacted, present);
        for (size_t i = 0, next = 0; i < size; i++) {
            const int here = (int32_t)part[i] != MISSING_VALUE;
            part[i] = here ? compacted[next] : part[i];
            next += (size_t)here;
        }
    }
    return overflow;
}

static DecodeStatus undo_differencing(ComplexPacking *self, uint32_t *numbers, size_t count) {
    const int overflow =
        self->missing_management ? undo_around_missing(self, numbers, count) : undo_all(self, numbers, count);
    return overflow ? DECLINED_RANGE : DECODED;
}

/* The next `count` integers; MISSING_VALUE for missing ones. */
static DecodeStatus read_complex_packing(ComplexPacking *self, uint32_t *out, size_t count) {
    read_group_values(self, out, count);
    return self->differencing.order ? undo_differencing(self, out, count) : DECODED;
}

#endif
