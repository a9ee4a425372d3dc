/* Where packed integers come from, one after the other, whatever the packing. */
#ifndef GRIBMILL_PACKED_VALUES_H
#define GRIBMILL_PACKED_VALUES_H

#include "ccsds.h"
#include "complex_packing.h"

typedef enum { EMPTY, CONSTANT, SIMPLE, GROUPS, AEC } Kind;

typedef struct {
    Kind kind;
    Scale scale;
    int holes; /* integers may be MISSING */
    /* Simple packing. */
    Octets data;
    unsigned bits;
    uint64_t bit;
    Groups groups;
    Aec aec;
} Source;

static Verdict open_simple(Source *self, Octets data, uint64_t coded) {
    if (self->bits > WIDEST) return DECLINED_TEMPLATE;
    if (coded * self->bits > (uint64_t)data.size * 8) return DECLINED_ROOM;
    self->kind = SIMPLE;
    self->data = data;
    self->bit = 0;
    return DONE;
}

/* Section 5 whole, section 7 without its five octets of header. */
static Verdict open_source(Source *self, Octets section, Octets data, uint64_t coded) {
    self->aec.samples = NULL; /* first of all: closing frees them, whatever comes of opening */
    if (section.size < 21) return DECLINED_TEMPLATE;
    const uint32_t template_number = number2(section.bytes + 9);
    Verdict verdict = read_scale(section.bytes, &self->scale);
    if (verdict != DONE) return verdict;
    self->bits = section.bytes[19];
    self->holes = 0;
    self->kind = EMPTY;
    switch (template_number) {
    case 0:
        if (self->bits && coded) {
            verdict = open_simple(self, data, coded);
            if (verdict != DONE) return verdict;
        }
        break;
    case 2:
    case 3:
        if (coded == 0) break;
        /* Groups are looked at even where the field is constant: damage is never passed over. */
        verdict = open_groups(&self->groups, section, data, coded, template_number == 3);
        if (verdict == DONE && self->bits == 0) verdict = check_flat(&self->groups, &self->scale);
        if (verdict != DONE) return verdict;
        self->kind = GROUPS;
        self->holes = self->groups.management != 0;
        break;
    case 42:
        if (self->bits && coded) {
            self->kind = AEC;
            verdict = open_aec(&self->aec, section, data, coded);
            if (verdict != DONE) return verdict;
        }
        break;
    default:
        return DECLINED_TEMPLATE;
    }
    if (coded && self->bits == 0) {
        self->kind = CONSTANT;
        self->holes = 0;
    }
    self->scale.wide = self->bits == 32 && self->kind != GROUPS;
    return DONE;
}

static void close_source(Source *self) { close_aec(&self->aec); }

static Verdict read_source(Source *self, uint32_t *out, size_t count) {
    switch (self->kind) {
    case SIMPLE:
        read_run(self->data, self->bit, self->bits, 0, out, count);
        self->bit += (uint64_t)count * self->bits;
        return DONE;
    case GROUPS:
        return read_groups(&self->groups, out, count);
    case AEC:
        return read_aec(&self->aec, out, count);
    default:
        return DONE;
    }
}

/* Sums of differences cannot be skipped: they are read into `scratch`, which holds `room` numbers. */
static Verdict skip_source(Source *self, uint32_t *scratch, size_t room, uint64_t count) {
    switch (self->kind) {
    case SIMPLE:
        self->bit += count * self->bits;
        return DONE;
    case GROUPS:
        if (self->groups.sums.order == 0) {
            skip_packed(&self->groups, count);
            return DONE;
        }
        while (count) {
            const size_t part = count < room ? (size_t)count : room;
            const Verdict verdict = read_groups(&self->groups, scratch, part);
            if (verdict != DONE) return verdict;
            count -= part;
        }
        return DONE;
    case AEC:
        return skip_aec(&self->aec, count);
    default:
        return DONE;
    }
}

/* After the last line that is wanted: what ecCodes would refuse in the rest must be refused here too. */
static Verdict finish_source(Source *self) {
    if (self->kind == GROUPS) return self->groups.torn ? DECLINED_GROUPS : DONE;
    return self->kind == AEC ? finish_aec(&self->aec) : DONE;
}

#endif
