/* The packed integers of a field, one after the other, from any of the covered data representation templates. */
#ifndef GRIBMILL_PACKED_VALUES_H
#define GRIBMILL_PACKED_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "../byte_reader.h"
#include "bit_reader.h"
#include "ccsds.h"
#include "complex_packing.h"
#include "decode_status.h"
#include "scaling.h"

typedef enum {
    NO_VALUES, /* every point is missing */
    CONSTANT,  /* every value is the reference value */
    SIMPLE,    /* template 5.0 */
    COMPLEX,   /* templates 5.2 and 5.3 */
    CCSDS      /* template 5.42 */
} Packing;

typedef struct {
    Packing packing;
    Scaling scaling;
    int may_be_missing; /* integers may be MISSING_VALUE */
    /* Simple packing. */
    ByteSpan data;
    unsigned bits;
    uint64_t bit;
    ComplexPacking complex;
    Ccsds ccsds;
} PackedValues;

static DecodeStatus open_simple_packing(PackedValues *self, ByteSpan data, uint64_t value_count) {
    if (self->bits > MAX_WIDTH) return DECLINED_TEMPLATE;
    if (value_count * self->bits > (uint64_t)data.size * 8) return DECLINED_TRUNCATED;
    self->packing = SIMPLE;
    self->data = data;
    self->bit = 0;
    return DECODED;
}

/* `section` is section 5, `data` section 7 without the five octets of its header. */
static DecodeStatus open_packed_values(PackedValues *self, ByteSpan section, ByteSpan data, uint64_t value_count) {
    self->ccsds.samples = NULL; /* set first: closing frees them, even if opening fails */
    if (section.size < 21) return DECLINED_TEMPLATE;
    const uint32_t template_number = read_u16(section.bytes + 9);
    DecodeStatus status = read_scaling(section.bytes, &self->scaling);
    if (status != DECODED) return status;
    self->bits = section.bytes[19];
    self->may_be_missing = 0;
    self->packing = NO_VALUES;
    switch (template_number) {
    case 0:
        if (self->bits && value_count) {
            status = open_simple_packing(self, data, value_count);
            if (status != DECODED) return status;
        }
        break;
    case 2:
    case 3:
        if (value_count == 0) break;
        /* Groups are checked even if the field is constant: damage must never go unnoticed. */
        status = open_complex_packing(&self->complex, section, data, value_count, template_number == 3);
        if (status == DECODED && self->bits == 0) status = check_constant_groups(&self->complex, &self->scaling);
        if (status != DECODED) return status;
        self->packing = COMPLEX;
        self->may_be_missing = self->complex.missing_management != 0;
        break;
    case 42:
        if (self->bits && value_count) {
            self->packing = CCSDS;
            status = open_ccsds(&self->ccsds, section, data, value_count);
            if (status != DECODED) return status;
        }
        break;
    default:
        return DECLINED_TEMPLATE;
    }
    if (value_count && self->bits == 0) {
        self->packing = CONSTANT;
        self->may_be_missing = 0;
    }
    self->scaling.full_width = self->bits == 32 && self->packing != COMPLEX;
    return DECODED;
}

static void close_packed_values(PackedValues *self) { close_ccsds(&self->ccsds); }

static DecodeStatus read_packed_values(PackedValues *self, uint32_t *out, size_t count) {
    switch (self->packing) {
    case SIMPLE:
        read_run(self->data, self->bit, self->bits, 0, out, count);
        self->bit += (uint64_t)count * self->bits;
        return DECODED;
    case COMPLEX:
        return read_complex_packing(&self->complex, out, count);
    case CCSDS:
        return read_ccsds(&self->ccsds, out, count);
    default:
        return DECODED;
    }
}

/* Differences cannot be skipped, since later values depend on them: they are read into `scratch`, which holds
   `capacity` numbers. */
static DecodeStatus skip_packed_values(PackedValues *self, uint32_t *scratch, size_t capacity, uint64_t count) {
    switch (self->packing) {
    case SIMPLE:
        self->bit += count * self->bits;
        return DECODED;
    case COMPLEX:
        if (self->complex.differencing.order == 0) {
            skip_group_values(&self->complex, count);
            return DECODED;
        }
        while (count) {
            const size_t part = count < capacity ? (size_t)count : capacity;
            const DecodeStatus status = read_complex_packing(&self->complex, scratch, part);
            if (status != DECODED) return status;
            count -= part;
        }
        return DECODED;
    case CCSDS:
        return skip_ccsds(&self->ccsds, count);
    default:
        return DECODED;
    }
}

/* After the last wanted line: if ecCodes would reject the rest, the kernel must decline it. */
static DecodeStatus finish_packed_values(PackedValues *self) {
    if (self->packing == COMPLEX) return self->complex.changed ? DECLINED_GROUPS : DECODED;
    return self->packing == CCSDS ? finish_ccsds(&self->ccsds) : DECODED;
}

#endif
