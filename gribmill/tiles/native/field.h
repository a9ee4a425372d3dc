/* A field from its sections into windows: each value is read once, in the message's own order, and converted
   only where some window wants it. */
#ifndef GRIBMILL_FIELD_H
#define GRIBMILL_FIELD_H

#include <stdlib.h>

#include "bitmap.h"
#include "rows.h"
#include "source.h"

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

/* A stretch of one line: the columns [first, end) as the message counts them. */
typedef struct {
    uint32_t row, first, end;
    int west; /* the line runs from east to west */
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

/* Hands a stretch to every window that crosses it. `ready` are its floats, west to east, or NULL where each
   window may convert its own part straight from the integers. */
static void deliver(const Task *task, Work *work, const Stretch *stretch, const float *ready) {
    const uint32_t nx = task->rows.nx;
    const uint32_t low = stretch->west ? nx - stretch->end : stretch->first;
    const uint32_t high = stretch->west ? nx - stretch->first : stretch->end;
    for (size_t i = 0; i < task->pane_count; i++) {
        const Pane *pane = task->panes + i;
        if (stretch->row < pane->row || stretch->row >= pane->row_end) continue;
        float *out = pane->out + (size_t)(stretch->row - pane->row) * pane->width;
        for (int part = 0; part < 2; part++) {
            const uint32_t begin = pane->column[part] > low ? pane->column[part] : low;
            const uint32_t end = pane->column_end[part] < high ? pane->column_end[part] : high;
            if (begin < end) {
                float *to = out + (begin - pane->column[part]);
                if (ready)
                    memcpy(to, ready + (begin - low), (end - begin) * sizeof(float));
                else
                    to_floats(&work->source, work->integers + (begin - low), to, end - begin);
            }
            out += pane->column_end[part] - pane->column[part];
        }
    }
}

static Verdict read_stretch(const Task *task, Work *work, const Stretch *stretch, Bits bits) {
    const size_t count = stretch->end - stretch->first;
    const Verdict verdict = read_source(&work->source, work->integers, stretch->present);
    if (verdict != DONE) return verdict;
    if (stretch->present_all && !stretch->west) {
        deliver(task, work, stretch, NULL);
        return DONE;
    }
    float *ready = work->values;
    to_floats(&work->source, work->integers, work->values, stretch->present);
    if (!stretch->present_all) {
        const uint64_t place = (uint64_t)bits.line * task->rows.nx + stretch->first;
        spread_present(bits.octets, place, count, work->values, work->spread);
        ready = work->spread;
    }
    if (stretch->west) {
        float *turned = ready == work->values ? work->spread : work->values;
        reverse(ready, turned, count);
        ready = turned;
    }
    deliver(task, work, stretch, ready);
    return DONE;
}

static Verdict read_line(const Task *task, Work *work, Bits bits) {
    const uint32_t nx = task->rows.nx, row = row_of(&task->rows, bits.line);
    const uint64_t start = (uint64_t)bits.line * nx;
    if (!wanted(task->panes, task->pane_count, row)) {
        const uint64_t count = bits.octets.bytes ? count_present(bits.octets, start, nx) : nx;
        return skip_source(&work->source, work->integers, PIECE, count);
    }
    for (uint32_t first = 0; first < nx; first += PIECE) {
        Stretch stretch = {.row = row, .first = first, .end = nx - first < PIECE ? nx : first + PIECE};
        const uint32_t count = stretch.end - first;
        stretch.west = runs_west(&task->rows, bits.line);
        stretch.present = bits.octets.bytes ? (size_t)count_present(bits.octets, start + first, count) : count;
        stretch.present_all = stretch.present == count;
        const Verdict verdict = read_stretch(task, work, &stretch, bits);
        if (verdict != DONE) return verdict;
    }
    return DONE;
}

static Verdict read_lines(const Task *task, Work *work, Octets bits) {
    const uint32_t lines = lines_needed(&task->rows, task->panes, task->pane_count);
    for (uint32_t line = 0; line < lines; line++) {
        const Verdict verdict = read_line(task, work, (Bits){bits, line});
        if (verdict != DONE) return verdict;
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
