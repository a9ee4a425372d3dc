/* Lines of a grid, rows or columns, in a message's own order, and the windows of it that are wanted. */
#ifndef GRIBMILL_WINDOWS_H
#define GRIBMILL_WINDOWS_H

#include "../byte_reader.h"

#define I_NEGATIVE 0x80
#define J_POSITIVE 0x40
#define J_CONSECUTIVE 0x20
#define ALTERNATING 0x10
#define STAGGERED 0x0F

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
    if (rows->scanning & STAGGERED) return DECLINED_SCANNING;
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

/* Lines are columns where points that follow each other lie in one. */
static inline int by_columns(const Rows *rows) { return !!(rows->scanning & J_CONSECUTIVE); }
static inline uint32_t line_count(const Rows *rows) { return by_columns(rows) ? rows->nx : rows->ny; }
static inline uint32_t line_points(const Rows *rows) { return by_columns(rows) ? rows->ny : rows->nx; }

/* Which row, from the south, or which column, from the west, is the message's line `line`. */
static inline uint32_t line_place(const Rows *rows, uint32_t line) {
    const int forth = by_columns(rows) ? !(rows->scanning & I_NEGATIVE) : !!(rows->scanning & J_POSITIVE);
    return forth ? line : line_count(rows) - 1 - line;
}

/* Whether a line runs from east to west, or from north to south. */
static inline int runs_back(const Rows *rows, uint32_t line) {
    const int odd = rows->scanning & ALTERNATING && line & 1;
    return odd != (by_columns(rows) ? !(rows->scanning & J_POSITIVE) : !!(rows->scanning & I_NEGATIVE));
}

static inline int has_column(const Pane *pane, int part, uint32_t column) {
    return pane->column[part] <= column && column < pane->column_end[part];
}

static inline int has_row(const Pane *pane, uint32_t row) { return pane->row <= row && row < pane->row_end; }

/* Whether any window has points of the line at that place. */
static inline int wanted(const Rows *rows, const Pane *panes, size_t count, uint32_t place) {
    for (size_t i = 0; i < count; i++)
        if (by_columns(rows) ? has_column(panes + i, 0, place) || has_column(panes + i, 1, place) : has_row(panes + i, place))
            return 1;
    return 0;
}

/* One more than the last line that any window needs. */
static uint32_t lines_needed(const Rows *rows, const Pane *panes, size_t count) {
    uint32_t needed = line_count(rows);
    while (needed && !wanted(rows, panes, count, line_place(rows, needed - 1))) needed--;
    return needed;
}

#endif
