/* A field from its sections into windows: each value is read once, in the message's own order, and converted
   only where some window wants it. */
#ifndef GRIBMILL_DECODE_FIELD_H
#define GRIBMILL_DECODE_FIELD_H

#include <stdlib.h>

#include "bitmap.h"
#include "windows.h"
#include "packed_values.h"

/* As bounds.py. */
#define MOST_POINTS 64000000u
/* A line is worked on in pieces of so many points: integers and floats of one stay in the first cache. */
#define PIECE 4096

typedef struct {
    Source source;
    uint32_t integers[PIECE + RUN_SLACK];
    float values[PIECE], spread[PIECE];
} Work;

typedef struct {
    Octets packing; /* section 5 */
    Octets bitmap;  /* section 6 */
    Octets data;    /* section 7 */
    uint32_t points;
    Rows rows;
    const Pane *panes;
    size_t pane_count;
} Task;

/* A stretch of the line at `place`: its points [first, end) as the message counts them, [low, high) as windows do. */
typedef struct {
    uint32_t place, first, end, low, high;
    int back; /* the line runs from east to west, or from north to south */
    int present_all;
    size_t present;
} Stretch;

static void fill(float *out, size_t count, float value) {
    for (size_t i = 0; i < count; i++) out[i] = value;
}

/* The values of a stretch, those that are present, in the message's order. */
static void to_floats(const Source *source, const uint32_t *integers, float *out, size_t count) {
    if (source->kind == CONSTANT)
        fill(out, count, (float)source->scale.reference);
    else if (source->kind == EMPTY)
        fill(out, count, not_a_number());
    else
        scale_run(&source->scale, integers, out, count, source->holes);
}

static void reverse(const float *from, float *to, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from[count - 1 - i];
}

/* Hands a stretch of a row to every window that crosses it. `ready` are its floats, west to east, or NULL where each
   window may convert its own part straight from the integers. */
static void deliver_row(const Task *task, Work *work, const Stretch *stretch, const float *ready) {
    for (size_t i = 0; i < task->pane_count; i++) {
        const Pane *pane = task->panes + i;
        if (!has_row(pane, stretch->place)) continue;
        float *out = pane->out + (size_t)(stretch->place - pane->row) * pane->width;
        for (int part = 0; part < 2; part++) {
            const uint32_t begin = pane->column[part] > stretch->low ? pane->column[part] : stretch->low;
            const uint32_t end = pane->column_end[part] < stretch->high ? pane->column_end[part] : stretch->high;
            if (begin < end) {
                float *to = out + (begin - pane->column[part]);
                if (ready)
                    memcpy(to, ready + (begin - stretch->low), (end - begin) * sizeof(float));
                else
                    to_floats(&work->source, work->integers + (begin - stretch->low), to, end - begin);
            }
            out += pane->column_end[part] - pane->column[part];
        }
    }
}

/* The same of a column, whose floats are `ready`, south to north: each belongs to another row of a window. */
static void deliver_column(const Task *task, const Stretch *stretch, const float *ready) {
    for (size_t i = 0; i < task->pane_count; i++) {
        const Pane *pane = task->panes + i;
        const uint32_t begin = pane->row > stretch->low ? pane->row : stretch->low;
        const uint32_t end = pane->row_end < stretch->high ? pane->row_end : stretch->high;
        size_t west = 0; /* columns of the window before this part */
        for (int part = 0; part < 2; part++) {
            const size_t column = west + stretch->place - pane->column[part];
            for (uint32_t row = begin; row < end && has_column(pane, part, stretch->place); row++)
                pane->out[(size_t)(row - pane->row) * pane->width + column] = ready[row - stretch->low];
            west += pane->column_end[part] - pane->column[part];
        }
    }
}

static Verdict read_stretch(const Task *task, Work *work, const Stretch *stretch, Bits bits) {
    const size_t count = stretch->end - stretch->first;
    const Verdict verdict = read_source(&work->source, work->integers, stretch->present);
    if (verdict != DONE) return verdict;
    const int columns = by_columns(&task->rows);
    if (stretch->present_all && !stretch->back && !columns) {
        deliver_row(task, work, stretch, NULL);
        return DONE;
    }
    float *ready = work->values;
    to_floats(&work->source, work->integers, work->values, stretch->present);
    if (!stretch->present_all) {
        const uint64_t place = (uint64_t)bits.line * line_points(&task->rows) + stretch->first;
        spread_present(bits.octets, place, count, work->values, work->spread);
        ready = work->spread;
    }
    if (stretch->back) {
        float *turned = ready == work->values ? work->spread : work->values;
        reverse(ready, turned, count);
        ready = turned;
    }
    if (columns)
        deliver_column(task, stretch, ready);
    else
        deliver_row(task, work, stretch, ready);
    return DONE;
}

/* How many values `count` lines have, from one on. */
static uint64_t values_of(const Task *task, Bits bits, uint32_t count) {
    const uint64_t points = line_points(&task->rows);
    return bits.octets.bytes ? count_present(bits.octets, bits.line * points, count * points) : count * points;
}

static Verdict read_line(const Task *task, Work *work, Bits bits) {
    const uint32_t points = line_points(&task->rows), place = line_place(&task->rows, bits.line);
    const uint64_t start = (uint64_t)bits.line * points;
    for (uint32_t first = 0; first < points; first += PIECE) {
        Stretch stretch = {.place = place, .first = first, .end = points - first < PIECE ? points : first + PIECE};
        const uint32_t count = stretch.end - first;
        stretch.back = runs_back(&task->rows, bits.line);
        stretch.low = stretch.back ? points - stretch.end : first;
        stretch.high = stretch.low + count;
        stretch.present = bits.octets.bytes ? (size_t)count_present(bits.octets, start + first, count) : count;
        stretch.present_all = stretch.present == count;
        const Verdict verdict = read_stretch(task, work, &stretch, bits);
        if (verdict != DONE) return verdict;
    }
    return DONE;
}

static Verdict read_lines(const Task *task, Work *work, Octets bits) {
    const uint32_t lines = lines_needed(&task->rows, task->panes, task->pane_count);
    uint32_t done = 0;
    for (uint32_t line = 0; line < lines; line++) {
        if (!wanted(&task->rows, task->panes, task->pane_count, line_place(&task->rows, line))) continue;
        /* All lines before it that nobody wants at once: much of CCSDS can only be passed over in long pieces. */
        const uint64_t passed = values_of(task, (Bits){bits, done}, line - done);
        Verdict verdict = skip_source(&work->source, work->integers, PIECE, passed);
        if (verdict == DONE) verdict = read_line(task, work, (Bits){bits, line});
        if (verdict != DONE) return verdict;
        done = line + 1;
    }
    return finish_source(&work->source);
}

/* Fills every window, or declines; then the windows hold nothing of use. */
static Verdict unpack_field(const Task *task) {
    if (task->packing.size < 11 || task->bitmap.size < 6 || task->data.size < 5) return DECLINED_TEMPLATE;
    if (task->points == 0 || task->points > MOST_POINTS) return DECLINED_POINTS;
    Verdict verdict = check_rows(&task->rows, task->points);
    for (size_t i = 0; i < task->pane_count && verdict == DONE; i++) verdict = check_pane(&task->rows, task->panes + i);
    if (verdict != DONE) return verdict;
    const uint32_t coded = number4(task->packing.bytes + 5);
    if (coded > task->points) return DECLINED_POINTS;
    Octets bits = {NULL, 0};
    verdict = open_bitmap(task->bitmap, task->points, coded, &bits);
    if (verdict != DONE) return verdict;
    Work *work = malloc(sizeof *work);
    if (!work) return DECLINED_MEMORY;
    const Octets data = {task->data.bytes + 5, task->data.size - 5};
    verdict = open_source(&work->source, task->packing, data, coded);
    if (verdict == DONE) verdict = read_lines(task, work, bits);
    close_source(&work->source);
    free(work);
    return verdict;
}

#endif
