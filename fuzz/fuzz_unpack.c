/* One input: ny, nx (2 bytes each), scanning, a byte that places a window, the lengths of sections 5 and 6 (2 each),
   then the three sections. Sections lie in memory of their very size, so that a read past one is seen.

   Held: no crash; the vector and the scalar build agree; a window is a part of the whole. The input's own bytes are
   also encoded as an array and packed as values, by both builds: the same bytes must come out, within the bound, and
   inflate to what they were; damaged, they are inflated by both builds alike. */
#include <stdio.h>
#include <stdlib.h>

#include "target.h"

#define HEAD 10
/* Small, so that thousands of inputs are tried in a second. */
#define LARGEST_FIELD 40000u

typedef int (*Unpack)(const Task *);

static Octets copy(const uint8_t *bytes, size_t size) {
    uint8_t *memory = malloc(size ? size : 1);
    if (!memory) abort();
    if (size) memcpy(memory, bytes, size);
    return (Octets){memory, size};
}

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    abort();
}

static float *run(Unpack unpack, Task task, Pane pane, int *verdict) {
    const size_t rows = pane.row_end - pane.row;
    pane.out = calloc(rows * pane.width + 1, sizeof(float));
    if (!pane.out) abort();
    task.panes = &pane;
    task.pane_count = 1;
    *verdict = unpack(&task);
    return pane.out;
}

static Pane whole_of(const Rows *rows) {
    return (Pane){.row_end = rows->ny, .column_end = {rows->nx, 0}, .width = rows->nx};
}

/* Some window; on every second input one across the seam. */
static Pane window_of(const Rows *rows, unsigned place) {
    Pane pane = {.row = place % rows->ny, .row_end = rows->ny - place / 3 % (rows->ny - place % rows->ny)};
    pane.column[0] = place * 7 % rows->nx;
    pane.column_end[0] = rows->nx;
    if (place & 1) pane.column_end[1] = pane.column[0] / 2;
    pane.width = pane.column_end[0] - pane.column[0] + pane.column_end[1];
    return pane;
}

static void compare_window(const Rows *rows, const Pane *pane, const float *part, const float *whole) {
    for (uint32_t row = pane->row; row < pane->row_end; row++)
        for (int piece = 0; piece < 2; piece++) {
            const size_t count = pane->column_end[piece] - pane->column[piece];
            const float *expected = whole + (size_t)row * rows->nx + pane->column[piece];
            if (memcmp(part, expected, count * sizeof(float))) fail("a window differs from the whole");
            part += count;
        }
}

static void try_all(const Task *task, unsigned place) {
    int vector, scalar, windowed;
    const Pane pane = window_of(&task->rows, place);
    float *first = run(unpack_vector, *task, whole_of(&task->rows), &vector);
    float *second = run(unpack_scalar, *task, whole_of(&task->rows), &scalar);
    float *part = run(unpack_vector, *task, pane, &windowed);
    if (vector != scalar) fail("the two builds disagree");
    if (vector == DONE && memcmp(first, second, (size_t)task->points * sizeof(float))) fail("the two builds differ");
    if (vector == DONE && windowed != DONE) fail("a window was declined where the whole was not");
    if (vector == DONE) compare_window(&task->rows, &pane, part, first);
    free(part);
    free(second);
    free(first);
}

static Bench *bench_for(const Raw *raw) {
    static Bench benches[2];
    static int turn;
    Bench *bench = benches + (turn ^= 1);
    free(bench->out);
    bench->out = malloc(most_made(raw));
    if (!bench->out) abort();
    return bench;
}

typedef size_t (*Deflate)(const Words *, uint8_t *, uint32_t *);

static uint8_t *deflated(Deflate deflate, const Words *words, size_t *size, uint32_t *marks) {
    uint8_t *out = malloc(STREAM_BOUND(words->size));
    if (!out) abort();
    *size = deflate(words, out, marks);
    return out;
}

typedef int (*Inflate)(const Part *, size_t, uint8_t *);

/* Inflates all pieces of a block, into memory of their very size; NULL where it was declined. */
static uint8_t *inflated(Inflate inflate, Octets stream, const uint32_t *marks, size_t size) {
    Part parts[PIECES];
    size_t count = 0;
    for (size_t left = size; left; left -= parts[count++].size) {
        const size_t most = 4 * PIECE_WORDS;
        parts[count] = (Part){stream, 0, marks[count], (uint32_t)(left < most ? left : most)};
    }
    uint8_t *out = calloc(size ? size : 1, 1);
    if (!out) abort();
    if (inflate(parts, count, out)) return out;
    free(out);
    return NULL;
}

static void compare_inflated(Octets stream, const uint32_t *marks, size_t size, const uint8_t *expected) {
    uint8_t *one = inflated(inflate_vector, stream, marks, size), *other = inflated(inflate_scalar, stream, marks, size);
    if (!one != !other || (one && memcmp(one, other, size))) fail("inflated otherwise");
    if (expected && (!one || memcmp(one, expected, size))) fail("deflated, it does not come back");
    free(other);
    free(one);
}

/* The stream as it is; with changes that the words tell, and cut short by them; and the words as if they were one. */
static void try_inflate(Octets words, const uint8_t *made, size_t size, uint32_t *marks) {
    const Octets stream = copy(made, size);
    uint8_t *bytes = (uint8_t *)stream.bytes;
    compare_inflated(stream, marks, words.size, words.bytes);
    for (size_t i = 0; i + 4 <= words.size && i < 16; i += 4)
        bytes[number2(words.bytes + i) % (i % 8 ? size : (size < 80 ? size : 80))] ^= words.bytes[i + 2];
    compare_inflated(stream, marks, words.size - words.bytes[1] % 4, NULL);
    if (words.size >= 8) marks[words.bytes[4] % PIECES] ^= number2(words.bytes + 6);
    const Octets cut = copy(bytes, size - (words.size >= 4 ? words.bytes[3] : 0) % size);
    compare_inflated(cut, marks, words.size, NULL);
    compare_inflated(words, marks, words.size, NULL);
    free((void *)cut.bytes);
    free(bytes);
}

/* As one block, with any of the searches. */
static void try_deflate(const uint8_t *data, size_t size) {
    const Octets bytes = copy(data, size < BLOCK_BYTES ? size : BLOCK_BYTES);
    const Words words = {bytes.bytes, bytes.size, (Search)(data[4] % 3)};
    uint32_t first[PIECES] = {0}, second[PIECES] = {0};
    size_t vector, scalar;
    uint8_t *one = deflated(deflate_vector, &words, &vector, first), *other = deflated(deflate_scalar, &words, &scalar, second);
    if (vector != scalar || memcmp(one, other, vector) || memcmp(first, second, sizeof first)) fail("deflated otherwise");
    try_inflate(bytes, one, vector, first);
    free(other);
    free(one);
    free((void *)bytes.bytes);
}

static int same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

static int same_summary(const Summary *one, const Summary *other) {
    return one->missing == other->missing && one->least == other->least && one->greatest == other->greatest &&
           same_number(sum_of(one), sum_of(other));
}

/* The input's own bytes as an array: its first ones are the header. */
static void try_encode(const uint8_t *data, size_t size) {
    const Way way = data[5] % 3;
    const size_t most = most_raw(way) - 8;
    const Octets header = copy(data, 1 + data[0] % 8), body = copy(data + 8, size - 8 < most ? size - 8 : most);
    const Raw raw = {header, body, way};
    uint8_t list[LIST_BOUND], other_list[LIST_BOUND];
    size_t listed, other_listed;
    Bench *one = bench_for(&raw), *other = bench_for(&raw);
    const int deflated = encode_vector(one, &raw, list, &listed);
    if (deflated != encode_scalar(other, &raw, other_list, &other_listed)) fail("deflated by one build, stored by the other");
    if (deflated && (one->made != other->made || memcmp(one->out, other->out, one->made))) fail("deflated otherwise");
    if (listed != other_listed || memcmp(list, other_list, listed)) fail("other places are told");
    const size_t last = (raw_size(&raw) - 1) / PIECE_BYTES;
    if (one->checksums[last] != other->checksums[last]) fail("the checksums differ");
    if (!same_summary(&one->summary, &other->summary)) fail("summed up otherwise");
    free((void *)body.bytes);
    free((void *)header.bytes);
}

/* The same bytes as one row of values, and how they may have been packed. */
static void try_pack(const uint8_t *data, size_t size) {
    const size_t width = (size - HEAD) / sizeof(float);
    if (!width) return;
    const PackedAs how = {data[6] - 100.0, data[7] % 2 ? 0.5 : 1.0, data[8] % 2 ? 0.1 : 1.0};
    float *values = malloc(width * sizeof *values);
    uint16_t *row = malloc(width * sizeof *row), *one = malloc(width * sizeof *one), *other = malloc(width * sizeof *other);
    if (!values || !row || !one || !other) abort();
    memcpy(values, data + HEAD, width * sizeof *values);
    /* Every second input has values that come back. */
    for (size_t i = 0; data[9] & 1 && i < width; i++)
        values[i] = (float)((data[HEAD + i] * how.scale + how.reference) * how.factor);
    const int packed = pack_vector(values, width, &how, row, one);
    if (packed != pack_scalar(values, width, &how, row, other)) fail("packed by one build alone");
    if (packed && memcmp(one, other, width * sizeof *one)) fail("packed otherwise");
    if (!packed && data[9] & 1) fail("values that come back were not packed");
    free(other);
    free(one);
    free(row);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD) return 0;
    try_deflate(data, size);
    try_encode(data, size);
    try_pack(data, size);
    const uint32_t ny = number2(data), nx = number2(data + 2), points = ny * nx;
    const size_t packing = number2(data + 6), bitmap = number2(data + 8);
    if (points == 0 || points > LARGEST_FIELD || packing + bitmap > size - HEAD) return 0;
    const uint8_t *sections = data + HEAD;
    Task task = {
        .packing = copy(sections, packing),
        .bitmap = copy(sections + packing, bitmap),
        .data = copy(sections + packing + bitmap, size - HEAD - packing - bitmap),
        .points = points,
        .rows = {ny, nx, data[4]},
    };
    try_all(&task, data[5]);
    free((void *)task.data.bytes);
    free((void *)task.bitmap.bytes);
    free((void *)task.packing.bytes);
    return 0;
}
