/* Rows of a grid in a message's own order, and the windows of it that are wanted. */
#ifndef GRIBMILL_ROWS_H
#define GRIBMILL_ROWS_H

#include "octets.h"

#define I_NEGATIVE 0x80
#define J_POSITIVE 0x40
#define J_CONSECUTIVE 0x20
#define ALTERNATING 0x10

typedef struct {
    uint32_t ny, nx;
    unsigned scanning;
} Rows;

/* Rows south to north; columns west to east in one piece, or two across a seam. `out` is rows × width floats. */
typedef struct {
    uint32_t row, row_end;
    uint32_t column[2], column_end[2];
    uint32_t width;
    float *out;
} Pane;

static Verdict check_rows(const Rows *rows, uint32_t points) {
    if (rows->scanning & (J_CONSECUTIVE | 0x0F)) return DECLINED_SCANNING;
    if ((uint64_t)rows->ny * rows->nx != points) return DECLINED_POINTS;
    return DONE;
}

static Verdict check_pane(const Rows *rows, const Pane *pane) {
    uint64_t width = 0;
    if (pane->row >= pane->row_end || pane->row_end > rows->ny) return DECLINED_WINDOW;
    for (int i = 0; i < 2; i++) {
        if (pane->column[i] > pane->column_end[i] || pane->column_end[i] > rows->nx) return DECLINED_WINDOW;
        width += pane->column_end[i] - pane->column[i];
    }
    return width == pane->width ? DONE : DECLINED_WINDOW;
}

/* Which row, from the south, is the message's line `line`. */
static inline uint32_t row_of(const Rows *rows, uint32_t line) {
    return rows->scanning & J_POSITIVE ? line : rows->ny - 1 - line;
}

static inline int runs_west(const Rows *rows, uint32_t line) {
    const int odd = rows->scanning & ALTERNATING && line & 1;
    return odd != !!(rows->scanning & I_NEGATIVE);
}

static inline int wanted(const Pane *panes, size_t count, uint32_t row) {
    for (size_t i = 0; i < count; i++)
        if (panes[i].row <= row && row < panes[i].row_end) return 1;
    return 0;
}

/* One more than the last line that any window needs. */
static uint32_t lines_needed(const Rows *rows, const Pane *panes, size_t count) {
    uint32_t needed = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t edge = rows->scanning & J_POSITIVE ? panes[i].row_end : rows->ny - panes[i].row;
        if (edge > needed) needed = edge;
    }
    return needed;
}

#endif
