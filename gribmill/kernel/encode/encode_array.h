/* A whole array as one deflate stream, the checksum and the summary of what it was, and the list of places where one
   may begin to read, as gribmill/tiles/segments.py tells it. */
#ifndef GRIBMILL_ENCODE_ARRAY_H
#define GRIBMILL_ENCODE_ARRAY_H

#include "crc32.h"
#include "deflate_block.h"
#include "parse_lazy.h"
#include "../byte_reader.h"
#include "summary.h"

#define BLOCK_BYTES (4 * (size_t)BLOCK_WORDS)
#define PIECE_BYTES (4 * (size_t)PIECE_WORDS)
/* Places in the stream are told in 32 bits, and words may grow by half. */
#define MOST_RAW_BYTES (UINT32_MAX / 16)
#define MOST_BLOCKS (MOST_RAW_BYTES / BLOCK_BYTES + 1)
#define MOST_PIECES (MOST_BLOCKS * PIECES)
/* What a stream may take at most. */
#define STREAM_BOUND(size) (((size) / 4 + 1) * WORD_BOUND + ((size) / BLOCK_BYTES + 1) * DESCRIPTION_BOUND)
/* Where deflating would save less than a sixth, it is not worth anybody's time: such an array is stored. */
#define LEAST_SAVED 6
#define SAMPLES 3
/* Smaller arrays are deflated anyway, and stored where that made them larger. */
#define LEAST_SAMPLED_BLOCKS 4
/* An extra field: its id, its size, the bytes of a stretch and of a block; then the numbers. No more stretches than
   this: they get longer instead. */
#define LIST_HEAD 12
#define LIST_ID 0x6D68
#define MOST_STRETCHES 256
#define LIST_BOUND (LIST_HEAD + 3 * 4 * MOST_STRETCHES)

/* What an array's values are, and how they are deflated. */
typedef enum {
    BY_WORDS, /* floats, by deflate.h */
    BY_RUNS,  /* integers: a word is only looked for right before itself, and nothing is summed up */
    BY_BYTES  /* floats, by lazy.h: smaller, and to be read from the beginning alone */
} Way;

/* An array's bytes: its .npy header lies in another place than its values. */
typedef struct {
    Octets header, body;
    Way way;
} Raw;

/* What is worked on and made; kept from array to array. */
typedef struct {
    Deflater deflater;
    Lazy lazy;
    uint8_t first[BLOCK_BYTES];
    uint32_t blocks[MOST_BLOCKS];     /* the byte where each block begins */
    uint32_t marks[MOST_PIECES];      /* the bit where each piece begins */
    uint32_t checksums[MOST_PIECES];  /* of all bytes up to each piece's end */
    uint8_t *out;
    size_t room, made;
    Summary summary;                  /* of floats */
} Bench;

static inline size_t raw_size(const Raw *raw) { return raw->header.size + raw->body.size; }

static inline size_t most_raw(Way way) { return way == BY_BYTES ? MOST_LAZY : MOST_RAW_BYTES; }

static inline size_t most_made(const Raw *raw) {
    return raw->way == BY_BYTES ? LAZY_BOUND(raw_size(raw)) : STREAM_BOUND(raw_size(raw));
}

/* The bytes of one block; the first is put together from header and values. */
static const uint8_t *block_at(Bench *bench, const Raw *raw, size_t start, size_t size) {
    if (start) return raw->body.bytes + (start - raw->header.size);
    memcpy(bench->first, raw->header.bytes, raw->header.size);
    memcpy(bench->first + raw->header.size, raw->body.bytes, size - raw->header.size);
    return bench->first;
}

static uint32_t check_block(Bench *bench, const uint8_t *bytes, size_t start, size_t size, uint32_t crc) {
    for (size_t done = 0; done < size; done += PIECE_BYTES) {
        crc = crc32_of(crc, bytes + done, size - done < PIECE_BYTES ? size - done : PIECE_BYTES);
        bench->checksums[(start + done) / PIECE_BYTES] = crc;
    }
    return crc;
}

/* While they are at hand for the checksum. By the body's own count, in which a block is whole rounds of lanes. */
static void summarize_block(Bench *bench, const Raw *raw, size_t start) {
    if (raw->way == BY_RUNS || start >= raw->body.size) return;
    const size_t left = raw->body.size - start;
    summarize(&bench->summary, raw->body.bytes + start, (left < BLOCK_BYTES ? left : BLOCK_BYTES) / sizeof(float));
}

/* Whether a block is one word again and again, and so was the one before it: the same bytes come out. */
static int same_as_before(const uint8_t *bytes, size_t start) {
    return start > BLOCK_BYTES && !memcmp(bytes - BLOCK_BYTES, bytes - BLOCK_BYTES + 4, 2 * BLOCK_BYTES - 4);
}

static void repeat_block(Bench *bench, size_t start) {
    const size_t number = start / BLOCK_BYTES, size = bench->blocks[number] - bench->blocks[number - 1];
    memcpy(bench->out + bench->made, bench->out + bench->made - size, size);
    for (size_t i = 0; i < PIECES; i++) {
        const size_t piece = number * PIECES + i;
        bench->marks[piece] = bench->marks[piece - PIECES] + (uint32_t)(8 * size);
    }
    bench->made += size;
}

static Search search_for(const Raw *raw) {
    return raw->way == BY_RUNS ? RUNS : raw_size(raw) <= PIECE_BYTES ? RECENT : FOUND;
}

static void deflate_at(Bench *bench, const uint8_t *bytes, size_t start, size_t size, const Raw *raw) {
    if (raw->way == BY_BYTES) {
        bench->made = deflate_lazily(&bench->lazy, &bench->deflater, bytes, size, bench->out);
        return;
    }
    uint32_t *marks = bench->marks + start / PIECE_BYTES;
    const int last = start + size == raw_size(raw);
    const Words words = {bytes, size, search_for(raw)};
    const size_t added = deflate_block(&bench->deflater, &words, last, bench->out + bench->made, marks);
    for (size_t i = 0; i * PIECE_BYTES < size; i++) marks[i] += (uint32_t)(8 * bench->made);
    bench->made += added;
}

/* Whether a large array whose first block has no repeats has none elsewhere, and saves too little without. */
static int hardly_deflates(Bench *bench, const Raw *raw) {
    if (raw_size(raw) < LEAST_SAMPLED_BLOCKS * BLOCK_BYTES || !bench->deflater.tokens.plain) return 0;
    size_t all = 0;
    for (size_t i = 1; i <= SAMPLES; i++) {
        const size_t made = sample_size(&bench->deflater, raw->body.bytes + raw->body.size / 4 / (SAMPLES + 1) * i * 4);
        if (!made) return 0;
        all += made;
    }
    return all > SAMPLES * PIECE_BYTES / LEAST_SAVED * (LEAST_SAVED - 1);
}

/* Fills the bench; false where the array is better stored, of which only checksums and summary are then known. */
static int deflate_array(Bench *bench, const Raw *raw) {
    const size_t size = raw_size(raw);
    uint32_t crc = 0;
    int stored = 0;
    bench->made = 0;
    bench->summary = nothing_yet();
    for (size_t start = 0; start < size; start += BLOCK_BYTES) {
        const size_t part = size - start < BLOCK_BYTES ? size - start : BLOCK_BYTES;
        const uint8_t *bytes = block_at(bench, raw, start, part);
        summarize_block(bench, raw, start);
        crc = check_block(bench, bytes, start, part, crc);
        if (stored) continue;
        bench->blocks[start / BLOCK_BYTES] = (uint32_t)bench->made;
        if (start + part < size && same_as_before(bytes, start))
            repeat_block(bench, start);
        else
            deflate_at(bench, bytes, start, part, raw);
        stored = start == 0 && hardly_deflates(bench, raw);
    }
    return !stored && bench->made < size;
}

static uint8_t *put32(uint8_t *at, uint32_t number) {
    for (int i = 0; i < 4; i++) *at++ = (uint8_t)(number >> 8 * i);
    return at;
}

/* The list of places, and its size; nothing where there is but the beginning. `out` has room for LIST_BOUND. */
static size_t list_places(const Bench *bench, const Raw *raw, int deflated, uint8_t *out) {
    const size_t size = raw_size(raw);
    size_t span = PIECE_BYTES;
    while (size > span * MOST_STRETCHES) span *= 2;
    const size_t block = deflated && span < BLOCK_BYTES ? BLOCK_BYTES : span;
    if (size <= span || raw->way == BY_BYTES) return 0;
    uint8_t *at = out + LIST_HEAD;
    for (size_t end = span; end < size + span; end += span)
        at = put32(at, bench->checksums[((end < size ? end : size) - 1) / PIECE_BYTES]);
    for (size_t start = 0; start < size; start += block)
        at = put32(at, deflated ? bench->blocks[start / BLOCK_BYTES] : (uint32_t)start);
    for (size_t start = 0; span < block && start < size; start += span) at = put32(at, bench->marks[start / PIECE_BYTES]);
    const size_t made = (size_t)(at - out);
    put32(out, LIST_ID | (uint32_t)(made - 4) << 16);
    put32(out + 4, (uint32_t)span);
    put32(out + 8, (uint32_t)block);
    return made;
}

#endif
