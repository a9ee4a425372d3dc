/* A GRIB2 field from its sections into windows of float32: each value is unpacked once, in the order of the message,
   and converted only where a window wants it. */
#ifndef GRIBMILL_DECODE_FIELD_H
#define GRIBMILL_DECODE_FIELD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../byte_reader.h"
#include "bit_reader.h"
#include "bitmap.h"
#include "decode_status.h"
#include "packed_values.h"
#include "scaling.h"
#include "windows.h"

/* The same as POINT_LIMIT in Python: the largest real field known has 47 million points. */
#define MAX_POINTS 64000000u
/* A line is decoded in parts of this many points, whose integers and floats stay in the first-level cache. */
#define PART_POINTS 4096

typedef struct {
    PackedValues packed;
    uint32_t integers[PART_POINTS + RUN_SLACK];
    float values[PART_POINTS], scattered[PART_POINTS];
} DecodeBuffers;

/* The sections to decode, and the windows to fill. */
typedef struct {
    ByteSpan packing; /* section 5 */
    ByteSpan bitmap;  /* section 6 */
    ByteSpan data;    /* section 7 */
    uint32_t points;
    Grid grid;
    const Window *windows;
    size_t window_count;
} Field;

/* The bitmap, if `bitmap.bytes` is set, and the line that is being decoded. */
typedef struct {
    ByteSpan bitmap;
    uint32_t line;
} BitmapLine;

/* A part of a line: its points [first, end) in the order of the message, [low, high) in the order of the grid. */
typedef struct {
    uint32_t index; /* of the line: its row or column */
    uint32_t first, end, low, high;
    int reversed; /* the line runs from east to west, or from north to south */
    int all_present;
    size_t present; /* points that have a value */
} LinePart;

static void fill(float *out, size_t count, float value) {
    for (size_t i = 0; i < count; i++) out[i] = value;
}

static void to_floats(const PackedValues *packed, const uint32_t *integers, float *out, size_t count) {
    if (packed->packing == CONSTANT)
        fill(out, count, (float)packed->scaling.reference);
    else if (packed->packing == NO_VALUES)
        fill(out, count, missing_float());
    else
        scale_integers(&packed->scaling, integers, out, count, packed->may_be_missing);
}

static void reverse(const float *from, float *to, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from[count - 1 - i];
}

/* Copies a part of a row to every window that it crosses. `values` are its floats, west to east, or NULL where each
   window may convert its own columns directly from the integers. */
static void deliver_row(const Field *field, DecodeBuffers *buffers, const LinePart *part, const float *values) {
    for (size_t i = 0; i < field->window_count; i++) {
        const Window *window = field->windows + i;
        if (!has_row(window, part->index)) continue;
        float *out = window->out + (size_t)(part->index - window->row) * window->width;
        for (int half = 0; half < 2; half++) {
            const uint32_t begin = window->column[half] > part->low ? window->column[half] : part->low;
            const uint32_t end = window->column_end[half] < part->high ? window->column_end[half] : part->high;
            if (begin < end) {
                float *to = out + (begin - window->column[half]);
                if (values)
                    memcpy(to, values + (begin - part->low), (end - begin) * sizeof(float));
                else
                    to_floats(&buffers->packed, buffers->integers + (begin - part->low), to, end - begin);
            }
            out += window->column_end[half] - window->column[half];
        }
    }
}

/* The same for a part of a column, south to north: each value belongs to another row of a window. */
static void deliver_column(const Field *field, const LinePart *part, const float *values) {
    for (size_t i = 0; i < field->window_count; i++) {
        const Window *window = field->windows + i;
        const uint32_t begin = window->row > part->low ? window->row : part->low;
        const uint32_t end = window->row_end < part->high ? window->row_end : part->high;
        size_t west = 0; /* columns of the window before this half */
        for (int half = 0; half < 2; half++) {
            const size_t column = west + part->index - window->column[half];
            for (uint32_t row = begin; row < end && has_column(window, half, part->index); row++)
                window->out[(size_t)(row - window->row) * window->width + column] = values[row - part->low];
            west += window->column_end[half] - window->column[half];
        }
    }
}

static DecodeStatus decode_part(const Field *field, DecodeBuffers *buffers, const LinePart *part, BitmapLine line) {
    const size_t count = part->end - part->first;
    const DecodeStatus status = read_packed_values(&buffers->packed, buffers->integers, part->present);
    if (status != DECODED) return status;
    const int columns = lines_are_columns(&field->grid);
    if (part->all_present && !part->reversed && !columns) {
        deliver_row(field, buffers, part, NULL);
        return DECODED;
    }
    float *values = buffers->values;
    to_floats(&buffers->packed, buffers->integers, buffers->values, part->present);
    if (!part->all_present) {
        const uint64_t point = (uint64_t)line.line * line_points(&field->grid) + part->first;
        scatter_present(line.bitmap, point, count, buffers->values, buffers->scattered);
        values = buffers->scattered;
    }
    if (part->reversed) {
        float *turned = values == buffers->values ? buffers->scattered : buffers->values;
        reverse(values, turned, count);
        values = turned;
    }
    if (columns)
        deliver_column(field, part, values);
    else
        deliver_row(field, buffers, part, values);
    return DECODED;
}

/* How many values are packed for `count` lines from `line` on. */
static uint64_t values_of_lines(const Field *field, BitmapLine line, uint32_t count) {
    const uint64_t points = line_points(&field->grid);
    return line.bitmap.bytes ? count_present(line.bitmap, line.line * points, count * points) : count * points;
}

static DecodeStatus decode_line(const Field *field, DecodeBuffers *buffers, BitmapLine line) {
    const uint32_t points = line_points(&field->grid), index = line_index(&field->grid, line.line);
    const uint64_t start = (uint64_t)line.line * points;
    for (uint32_t first = 0; first < points; first += PART_POINTS) {
        LinePart part = {
            .index = index, .first = first, .end = points - first < PART_POINTS ? points : first + PART_POINTS};
        const uint32_t count = part.end - first;
        part.reversed = line_is_reversed(&field->grid, line.line);
        part.low = part.reversed ? points - part.end : first;
        part.high = part.low + count;
        part.present = line.bitmap.bytes ? (size_t)count_present(line.bitmap, start + first, count) : count;
        part.all_present = part.present == count;
        const DecodeStatus status = decode_part(field, buffers, &part, line);
        if (status != DECODED) return status;
    }
    return DECODED;
}

static DecodeStatus decode_lines(const Field *field, DecodeBuffers *buffers, ByteSpan bitmap) {
    const uint32_t lines = lines_needed(&field->grid, field->windows, field->window_count);
    uint32_t done = 0;
    for (uint32_t line = 0; line < lines; line++) {
        if (!line_is_wanted(&field->grid, field->windows, field->window_count, line_index(&field->grid, line)))
            continue;
        /* All unwanted lines before it in one step: CCSDS can only skip whole intervals. */
        const uint64_t skipped = values_of_lines(field, (BitmapLine){bitmap, done}, line - done);
        DecodeStatus status = skip_packed_values(&buffers->packed, buffers->integers, PART_POINTS, skipped);
        if (status == DECODED) status = decode_line(field, buffers, (BitmapLine){bitmap, line});
        if (status != DECODED) return status;
        done = line + 1;
    }
    return finish_packed_values(&buffers->packed);
}

/* Fills every window, or declines and leaves their contents undefined. */
static DecodeStatus decode_field(const Field *field) {
    if (field->packing.size < 11 || field->bitmap.size < 6 || field->data.size < 5) return DECLINED_TEMPLATE;
    if (field->points == 0 || field->points > MAX_POINTS) return DECLINED_POINTS;
    DecodeStatus status = check_grid(&field->grid, field->points);
    for (size_t i = 0; i < field->window_count && status == DECODED; i++)
        status = check_window(&field->grid, field->windows + i);
    if (status != DECODED) return status;
    const uint32_t value_count = read_u32(field->packing.bytes + 5);
    if (value_count > field->points) return DECLINED_POINTS;
    ByteSpan bitmap = {NULL, 0};
    status = open_bitmap(field->bitmap, field->points, value_count, &bitmap);
    if (status != DECODED) return status;
    DecodeBuffers *buffers = malloc(sizeof *buffers);
    if (!buffers) return DECLINED_MEMORY;
    const ByteSpan data = {field->data.bytes + 5, field->data.size - 5};
    status = open_packed_values(&buffers->packed, field->packing, data, value_count);
    if (status == DECODED) status = decode_lines(field, buffers, bitmap);
    close_packed_values(&buffers->packed);
    free(buffers);
    return status;
}

#endif
