/* Complex packing (5.2) and complex packing of differences (5.3): groups of numbers, each with its own width. */
#ifndef GRIBMILL_COMPLEX_PACKING_H
#define GRIBMILL_COMPLEX_PACKING_H

#include "bit_reader.h"
#include "scaling.h"
#include "spatial_differencing.h"

/* Descriptions of so many groups are unpacked at a time: three arrays that stay in the first cache. */
#define BATCH 512
/* Values between missing ones are closed up by so many. */
#define CLOSED 256
/* Reference plus value then stay within 31 bits. */
#define WIDEST_GROUP 30

typedef struct {
    Octets data;
    uint32_t groups, last_length, length_base, length_step, width_base;
    unsigned reference_bits, width_bits, length_bits;
    int management; /* of missing values: 0 none, 1 primary, 2 primary and secondary */
    uint32_t widest; /* of all groups */
    int torn; /* groups are not what they were when they were checked */
    uint64_t references_at, widths_at, lengths_at, values_at; /* in bits */
    /* Undoing the differences. */
    uint64_t firsts[2];
    int64_t bias; /* the overall minimum: added to every difference */
    unsigned seen;
    Sums sums;
    /* Where reading stands. */
    uint32_t group, batch_end;
    uint64_t left, bit;
    uint32_t reference, width;
    uint32_t base; /* reference and bias */
    uint32_t references[BATCH + RUN_SLACK], widths[BATCH + RUN_SLACK], lengths[BATCH + RUN_SLACK];
    uint32_t closed[CLOSED + RUN_SLACK];
} Groups;

/* Lengths must add up to the values, and their bits must lie within the data. */
static Verdict check_groups(Groups *self, uint64_t coded) {
    uint64_t values = 0, bits = 0;
    for (uint32_t group = 0; group < self->groups; group += BATCH) {
        const uint32_t count = self->groups - group < BATCH ? self->groups - group : BATCH;
        read_run(self->data, self->widths_at + (uint64_t)group * self->width_bits, self->width_bits, 0, self->widths, count);
        read_run(self->data, self->lengths_at + (uint64_t)group * self->length_bits, self->length_bits, 0, self->lengths,
                 count);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t width = (uint64_t)self->width_base + self->widths[i];
            uint64_t length = self->length_base + (uint64_t)self->length_step * self->lengths[i];
            if (group + i == self->groups - 1) length = self->last_length;
            values += length;
            if (width > WIDEST_GROUP || values > coded) return DECLINED_GROUPS;
            if (width > self->widest) self->widest = (uint32_t)width;
            bits += width * length;
        }
    }
    if (values != coded) return DECLINED_GROUPS;
    return self->values_at + bits <= (uint64_t)self->data.size * 8 ? DONE : DECLINED_ROOM;
}

static uint64_t octets_number(const uint8_t *p, unsigned count) {
    uint64_t number = 0;
    for (unsigned i = 0; i < count; i++) number = number << 8 | p[i];
    return number;
}

/* First values and overall minimum. ecCodes takes the first values without a sign, whatever the manual says. */
static Verdict read_differencing(Groups *self, Octets section) {
    if (section.size < 49) return DECLINED_TEMPLATE;
    const unsigned octets = section.bytes[48];
    self->sums.order = section.bytes[47];
    if (self->sums.order != 1 && self->sums.order != 2) return DECLINED_TEMPLATE;
    if (octets < (self->reference_bits ? 1u : 0u) || octets > 4) return DECLINED_TEMPLATE;
    const size_t size = (size_t)(self->sums.order + 1) * octets;
    if (self->data.size < size) return DECLINED_ROOM;
    const uint8_t *place = self->data.bytes;
    for (int i = 0; i < self->sums.order; i++, place += octets) self->firsts[i] = octets_number(place, octets);
    const uint64_t word = octets_number(place, octets), sign = UINT64_C(1) << (8 * octets) >> 1;
    self->bias = word & sign ? -(int64_t)(word & (sign - 1)) : (int64_t)word;
    self->references_at = (uint64_t)size * 8;
    return DONE;
}

/* Whether reference, value and bias can add up to more than a difference may be. */
static Verdict check_bias(const Groups *self) {
    const int64_t most = (INT64_C(1) << self->reference_bits) + (INT64_C(1) << self->widest);
    const int64_t bound = INT64_C(1) << DIFFERENCE_BITS;
    return self->bias > -bound && most + self->bias < bound ? DONE : DECLINED_RANGE;
}

/* Reads sections 5 and 7 far enough to know that nothing later can go wrong but the range of the sums. */
static Verdict open_groups(Groups *self, Octets section, Octets data, uint64_t coded, int differenced) {
    memset(self, 0, offsetof(Groups, references));
    if (section.size < 47) return DECLINED_TEMPLATE;
    const uint8_t *p = section.bytes;
    self->data = data;
    self->reference_bits = p[19];
    self->management = p[22];
    self->groups = number4(p + 31);
    self->width_base = p[35];
    self->width_bits = p[36];
    self->length_base = number4(p + 37);
    self->length_step = p[41];
    self->last_length = number4(p + 42);
    self->length_bits = p[46];
    if (self->management > 2) return DECLINED_TEMPLATE;
    if (self->groups == 0) return self->reference_bits == 0 ? DONE : DECLINED_GROUPS;
    if (differenced) {
        const Verdict verdict = read_differencing(self, section);
        if (verdict != DONE) return verdict;
    }
    if (self->groups > coded) return DECLINED_GROUPS;
    if (self->reference_bits > WIDEST_GROUP || self->width_bits > WIDEST || self->length_bits > WIDEST)
        return DECLINED_GROUPS;
    const uint64_t groups = self->groups;
    self->widths_at = (self->references_at + groups * self->reference_bits + 7) / 8 * 8;
    self->lengths_at = (self->widths_at + groups * self->width_bits + 7) / 8 * 8;
    self->values_at = (self->lengths_at + groups * self->length_bits + 7) / 8 * 8;
    if (self->values_at > (uint64_t)data.size * 8) return DECLINED_ROOM;
    self->bit = self->values_at;
    const Verdict verdict = check_groups(self, coded);
    return verdict == DONE && differenced ? check_bias(self) : verdict;
}

/* Groups whose references have no bits: since 2.50 or so ecCodes unpacks and scales them, before it took the
   reference value as it is. They are covered where that makes no difference. */
static Verdict check_flat(const Groups *self, const Scale *scale) {
    if (self->groups == 0) return DONE;
    if (self->widest || self->management) return DECLINED_GROUPS;
    if (self->firsts[0] || self->firsts[1] || self->bias) return DECLINED_GROUPS;
    return scale->reference == 0 || scale->decimal == 1 ? DONE : DECLINED_GROUPS;
}

static void next_batch(Groups *self) {
    const uint32_t group = self->group;
    const uint32_t count = self->groups - group < BATCH ? self->groups - group : BATCH;
    read_run(self->data, self->references_at + (uint64_t)group * self->reference_bits, self->reference_bits, 0,
             self->references, count);
    read_run(self->data, self->widths_at + (uint64_t)group * self->width_bits, self->width_bits, self->width_base,
             self->widths, count);
    read_run(self->data, self->lengths_at + (uint64_t)group * self->length_bits, self->length_bits, 0, self->lengths, count);
    for (uint32_t i = 0; i < count; i++) self->lengths[i] = self->length_base + self->length_step * self->lengths[i];
    if (group + count == self->groups) self->lengths[count - 1] = self->last_length;
    self->batch_end = group + count;
}

/* Zeros without an end, which nobody gets to see. */
static void tear(Groups *self) {
    self->torn = 1;
    self->width = 0;
    self->left = UINT64_MAX;
}

/* The one whose values begin at `bit`. Descriptions are read for the second time: where somebody writes to a mapped file
   meanwhile they may be others, and still nothing may be read beyond the end. */
static inline void next_group(Groups *self, uint64_t bit) {
    if (SELDOM(self->group == self->groups)) {
        tear(self);
        return;
    }
    if (self->group == self->batch_end) next_batch(self);
    const uint32_t place = self->group++ % BATCH;
    self->reference = self->references[place];
    self->base = self->reference + (uint32_t)self->bias;
    self->width = self->widths[place];
    self->left = self->lengths[place];
    if (SELDOM(self->width > self->widest || self->left * self->width > (uint64_t)self->data.size * 8 - bit)) tear(self);
}

/* A number of all ones (for the secondary: one less) stands for a missing value. */
static void mark_missing(const Groups *self, uint32_t *out, size_t count) {
    const uint32_t bits = self->width ? self->width : self->reference_bits;
    const uint32_t primary = (UINT32_C(1) << bits) - 1;
    const uint32_t secondary = self->management == 2 ? primary - 1 : primary;
    if (self->width == 0) {
        if (self->reference != primary && self->reference != secondary) return;
        for (size_t i = 0; i < count; i++) out[i] = (uint32_t)MISSING;
        return;
    }
    const uint32_t base = self->base;
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = out[i] - base;
        out[i] = ((word == primary) | (word == secondary)) ? (uint32_t)MISSING : out[i];
    }
}

static inline void packed_groups(Groups *self, uint32_t *out, size_t count) {
    uint64_t bit = self->bit, left = self->left;
    while (count) {
        if (left == 0) {
            next_group(self, bit);
            left = self->left;
            continue;
        }
        const size_t part = left < count ? (size_t)left : count;
        read_run(self->data, bit, self->width, self->base, out, part);
        if (self->management) mark_missing(self, out, part);
        bit += (uint64_t)part * self->width;
        left -= part;
        out += part;
        count -= part;
    }
    self->bit = bit;
    self->left = left;
}

#ifdef WITH_AVX2
/* Reading a run is compiled into the loop over groups: many are a few numbers long. */
AVX2 __attribute__((flatten)) static void packed_avx2(Groups *self, uint32_t *out, size_t count) {
    packed_groups(self, out, count);
}
#endif

/* The next `count` numbers as they are packed. The caller asks for no more than there are. */
static void read_packed(Groups *self, uint32_t *out, size_t count) {
#ifdef WITH_AVX2
    if (has_avx2()) {
        packed_avx2(self, out, count);
        return;
    }
#endif
    packed_groups(self, out, count);
}

static void skip_packed(Groups *self, uint64_t count) {
    while (count) {
        if (self->left == 0) {
            next_group(self, self->bit);
            continue;
        }
        const uint64_t part = self->left < count ? self->left : count;
        self->bit += part * self->width;
        self->left -= part;
        count -= part;
    }
}

/* The first one or two values stand for themselves. */
static inline uint32_t first_value(Groups *self) {
    const int64_t first = (int64_t)self->firsts[self->seen++];
    self->sums.slope = first - self->sums.last;
    self->sums.last = first;
    return (uint32_t)first;
}

static int undo(Groups *self, uint32_t *numbers, size_t count) {
    int tainted = 0;
    size_t i = 0;
    for (; i < count && self->seen < (unsigned)self->sums.order; i++) {
        numbers[i] = first_value(self);
        tainted |= beyond(self->sums.last) != 0;
    }
    return sum_run(&self->sums, numbers + i, count - i) || tainted;
}

/* Missing values take no part: the others are closed up, summed and put back. */
static int undo_with_holes(Groups *self, uint32_t *numbers, size_t count) {
    uint32_t *closed = self->closed;
    int tainted = 0;
    for (size_t start = 0; start < count; start += CLOSED) {
        uint32_t *part = numbers + start;
        const size_t size = count - start < CLOSED ? count - start : CLOSED;
        uint32_t present = 0;
        for (size_t i = 0; i < size; i++) present += (int32_t)part[i] != MISSING;
        if (present == size) tainted |= undo(self, part, size);
        if (present == size || present == 0) continue;
        present = 0;
        for (size_t i = 0; i < size; i++) {
            closed[present] = part[i];
            present += (int32_t)part[i] != MISSING;
        }
        tainted |= undo(self, closed, present);
        for (size_t i = 0, next = 0; i < size; i++) {
            const int here = (int32_t)part[i] != MISSING;
            part[i] = here ? closed[next] : part[i];
            next += (size_t)here;
        }
    }
    return tainted;
}

static Verdict undo_differences(Groups *self, uint32_t *numbers, size_t count) {
    const int tainted = self->management ? undo_with_holes(self, numbers, count) : undo(self, numbers, count);
    return tainted ? DECLINED_RANGE : DONE;
}

static Verdict read_groups(Groups *self, uint32_t *out, size_t count) {
    read_packed(self, out, count);
    return self->sums.order ? undo_differences(self, out, count) : DONE;
}

#endif
