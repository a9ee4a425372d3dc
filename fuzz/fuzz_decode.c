/* Decodes damaged sections of a field.

   One input: ny, nx (2 bytes each), scanning mode, a byte that chooses a window, the lengths of sections 5 and 6 (2
   each), then sections 5, 6 and 7. Checked: no crash; both builds agree; a window holds the values of the whole field.
 */
#include "both_builds.h"

#define HEADER_BYTES 10
/* Small, so that thousands of inputs are tried in a second. The same as MAX_POINTS in seeds.py. */
#define MAX_FUZZED_POINTS 40000u

typedef int (*Decode)(const Field *);

/* The values of a window, to be freed. */
static float *decode_window(Decode decode, Field field, Window window, int *status) {
    const size_t rows = window.row_end - window.row;
    window.out = allocate(rows * window.width * sizeof(float));
    field.windows = &window;
    field.window_count = 1;
    *status = decode(&field);
    return window.out;
}

static Window whole_grid(const Grid *grid) {
    return (Window){.row_end = grid->ny, .column_end = {grid->nx, 0}, .width = grid->nx};
}

/* A window; odd choices give one across the edge of the grid. */
static Window some_window(const Grid *grid, unsigned choice) {
    const uint32_t row = choice % grid->ny;
    Window window = {.row = row, .row_end = grid->ny - choice / 3 % (grid->ny - row)};
    window.column[0] = choice * 7 % grid->nx;
    window.column_end[0] = grid->nx;
    if (choice & 1) window.column_end[1] = window.column[0] / 2;
    window.width = window.column_end[0] - window.column[0] + window.column_end[1];
    return window;
}

static void compare_window(const Grid *grid, const Window *window, const float *part, const float *whole) {
    for (uint32_t row = window->row; row < window->row_end; row++)
        for (int half = 0; half < 2; half++) {
            const size_t count = window->column_end[half] - window->column[half];
            const float *expected = whole + (size_t)row * grid->nx + window->column[half];
            if (memcmp(part, expected, count * sizeof(float))) fail("a window differs from the whole field");
            part += count;
        }
}

static void compare_builds(const Field *field, unsigned choice) {
    int vector, scalar, windowed;
    const Window window = some_window(&field->grid, choice);
    float *first = decode_window(decode_vector, *field, whole_grid(&field->grid), &vector);
    float *second = decode_window(decode_scalar, *field, whole_grid(&field->grid), &scalar);
    float *part = decode_window(decode_vector, *field, window, &windowed);
    if (vector != scalar) fail("the two builds return different statuses");
    if (vector == DECODED) {
        if (memcmp(first, second, (size_t)field->points * sizeof(float)))
            fail("the two builds decode different values");
        if (windowed != DECODED) fail("a window was declined, though the whole field was not");
        compare_window(&field->grid, &window, part, first);
    }
    free(part);
    free(second);
    free(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) return 0;
    const uint32_t ny = read_u16(data), nx = read_u16(data + 2), points = ny * nx;
    const size_t packing = read_u16(data + 6), bitmap = read_u16(data + 8);
    if (points == 0 || points > MAX_FUZZED_POINTS || packing + bitmap > size - HEADER_BYTES) return 0;
    const uint8_t *sections = data + HEADER_BYTES;
    Field field = {
        .packing = exact_copy(sections, packing),
        .bitmap = exact_copy(sections + packing, bitmap),
        .data = exact_copy(sections + packing + bitmap, size - HEADER_BYTES - packing - bitmap),
        .points = points,
        .grid = {ny, nx, data[4]},
    };
    compare_builds(&field, data[5]);
    free((void *)field.data.bytes);
    free((void *)field.bitmap.bytes);
    free((void *)field.packing.bytes);
    return 0;
}
