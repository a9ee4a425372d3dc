/* The scanning mode of a grid, and the windows of it that are wanted.

   A line is a row or a column of the grid, whichever has its points next to each other in the message. */
#ifndef GRIBMILL_WINDOWS_H
#define GRIBMILL_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "decode_status.h"

/* Scanning mode, flag table 3.4. */
#define I_NEGATIVE 0x80    /* columns run from east to west */
#define J_POSITIVE 0x40    /* rows run from south to north */
#define J_CONSECUTIVE 0x20 /* points of a column follow each other */
#define ALTERNATING 0x10   /* every second line runs the other way */
#define OFFSET_ROWS 0x0F   /* points of some rows are offset from those of the others */

typedef struct {
    uint32_t ny, nx;
    unsigned scanning_mode;
} Grid;

/* Rows south to north; columns west to east, in one part, or two across the edge of a global grid. `out` has
   rows × width floats. */
typedef struct {
    uint32_t row, row_end;
    uint32_t column[2], column_end[2];
    uint32_t width;
    float *out;
} Window;

static DecodeStatus check_grid(const Grid *grid, uint32_t points) {
    if (grid->scanning_mode & OFFSET_ROWS) return DECLINED_SCANNING;
    if ((uint64_t)grid->ny * grid->nx != points) return DECLINED_POINTS;
    return DECODED;
}

static DecodeStatus check_window(const Grid *grid, const Window *window) {
    uint64_t width = 0;
    if (window->row >= window->row_end || window->row_end > grid->ny) return DECLINED_WINDOW;
    for (int i = 0; i < 2; i++) {
        if (window->column[i] > window->column_end[i] || window->column_end[i] > grid->nx) return DECLINED_WINDOW;
        width += window->column_end[i] - window->column[i];
    }
    return width == window->width ? DECODED : DECLINED_WINDOW;
}

static inline int lines_are_columns(const Grid *grid) { return !!(grid->scanning_mode & J_CONSECUTIVE); }
static inline uint32_t line_count(const Grid *grid) { return lines_are_columns(grid) ? grid->nx : grid->ny; }
static inline uint32_t line_points(const Grid *grid) { return lines_are_columns(grid) ? grid->ny : grid->nx; }

/* The row, counted from the south, or the column, counted from the west, that is the message's line `line`. */
static inline uint32_t line_index(const Grid *grid, uint32_t line) {
    const int ascending =
        lines_are_columns(grid) ? !(grid->scanning_mode & I_NEGATIVE) : !!(grid->scanning_mode & J_POSITIVE);
    return ascending ? line : line_count(grid) - 1 - line;
}

/* Whether a line runs from east to west, or from north to south. */
static inline int line_is_reversed(const Grid *grid, uint32_t line) {
    const int alternates = grid->scanning_mode & ALTERNATING && line & 1;
    return alternates !=
           (lines_are_columns(grid) ? !(grid->scanning_mode & J_POSITIVE) : !!(grid->scanning_mode & I_NEGATIVE));
}

static inline int has_column(const Window *window, int part, uint32_t column) {
    return window->column[part] <= column && column < window->column_end[part];
}

static inline int has_row(const Window *window, uint32_t row) { return window->row <= row && row < window->row_end; }

/* Whether any window has points of the row or column `index`. */
static inline int line_is_wanted(const Grid *grid, const Window *windows, size_t count, uint32_t index) {
    for (size_t i = 0; i < count; i++)
        if (lines_are_columns(grid) ? has_column(windows + i, 0, index) || has_column(windows + i, 1, index)
                                    : has_row(windows + i, index))
            return 1;
    return 0;
}

/* One more than the last line that any window needs. */
static uint32_t lines_needed(const Grid *grid, const Window *windows, size_t count) {
    uint32_t needed = line_count(grid);
    while (needed && !line_is_wanted(grid, windows, count, line_index(grid, needed - 1))) needed--;
    return needed;
}

#endif
