/* A whole array as one deflate stream: with the CRC-32 and the summary of its values, and the list of its restart
   points, which gribmill reads from an extra field of the ZIP directory. */
#ifndef GRIBMILL_ENCODE_ARRAY_H
#define GRIBMILL_ENCODE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "block_codes.h"
#include "crc32.h"
#include "deflate_block.h"
#include "summary.h"
#include "tokens.h"

#define BLOCK_BYTES (4 * (size_t)BLOCK_WORDS)
#define SEGMENT_BYTES (4 * (size_t)SEGMENT_WORDS)
/* Bit positions in the stream have 32 bits, and words may grow by half. */
#define MAX_RAW_BYTES (UINT32_MAX / 16)
#define MAX_BLOCKS (MAX_RAW_BYTES / BLOCK_BYTES + 1)
#define MAX_SEGMENTS (MAX_BLOCKS * BLOCK_SEGMENTS)
/* The maximum size of a stream in bytes. */
#define STREAM_BOUND(size) (((size) / 4 + 1) * WORD_BOUND + ((size) / BLOCK_BYTES + 1) * BLOCK_OVERHEAD)
/* An array is stored if deflating would save less than a sixth: that is not worth the reader's time. */
#define MIN_SAVED 6
#define SAMPLES 3
/* Smaller arrays are deflated without a sample, and stored if that made them larger. */
#define MIN_SAMPLED_BLOCKS 4
/* The list of restart points, an extra field of ZIP: its id and size, the raw bytes between two restart points and of a
   block; then the numbers. There are at most this many restart points: beyond, they are further apart. */
#define RESTART_LIST_ID 0x6D68
#define RESTART_LIST_HEADER 12
#define MAX_RESTART_POINTS 256
#define RESTART_LIST_BOUND (RESTART_LIST_HEADER + 3 * 4 * MAX_RESTART_POINTS)

/* The element type of an array, and how it is deflated. */
typedef enum {
    FAST_FLOATS,  /* float32 */
    FAST_INTEGERS /* uint16: only runs are matched, and there is no summary */
} Mode;

/* The header and the values of an .npy file, in separate buffers. */
typedef struct {
    ByteSpan header, body;
    Mode mode;
} Array;

/* Scratch memory and output; reused for the next array. */
typedef struct {
    Deflater deflater;
    uint8_t first_block[BLOCK_BYTES];
    uint32_t block_offsets[MAX_BLOCKS];  /* the byte where each block begins */
    uint32_t segment_bits[MAX_SEGMENTS]; /* the bit where each segment begins */
    uint32_t checksums[MAX_SEGMENTS];    /* of all raw bytes up to the end of each segment */
    uint8_t *out;
    size_t capacity, size; /* of `out` */
    Summary summary;       /* of floats */
} Workspace;

static inline size_t array_size(const Array *array) { return array->header.size + array->body.size; }

static inline size_t max_encoded_size(const Array *array) { return STREAM_BOUND(array_size(array)); }

/* The bytes of one block; the first is put together from header and values. */
static const uint8_t *block_at(Workspace *work, const Array *array, size_t start, size_t size) {
    if (start) return array->body.bytes + (start - array->header.size);
    memcpy(work->first_block, array->header.bytes, array->header.size);
    memcpy(work->first_block + array->header.size, array->body.bytes, size - array->header.size);
    return work->first_block;
}

static uint32_t checksum_block(Workspace *work, const uint8_t *bytes, size_t start, size_t size, uint32_t crc) {
    for (size_t done = 0; done < size; done += SEGMENT_BYTES) {
        crc = crc32_of(crc, bytes + done, size - done < SEGMENT_BYTES ? size - done : SEGMENT_BYTES);
        work->checksums[(start + done) / SEGMENT_BYTES] = crc;
    }
    return crc;
}

/* While the values are in the cache for the checksum. Blocks are counted from the start of the body, so that each holds
   complete rounds of the summary's lanes. */
static void summarize_block(Workspace *work, const Array *array, size_t start) {
    if (array->mode == FAST_INTEGERS || start >= array->body.size) return;
    const size_t left = array->body.size - start;
    summarize(&work->summary, array->body.bytes + start, (left < BLOCK_BYTES ? left : BLOCK_BYTES) / sizeof(float));
}

/* Whether a block and the one before it repeat the same word: then their output is the same. */
static int repeats_block(const uint8_t *bytes, size_t start) {
    return start > BLOCK_BYTES && !memcmp(bytes - BLOCK_BYTES, bytes - BLOCK_BYTES + 4, 2 * BLOCK_BYTES - 4);
}

static void copy_last_block(Workspace *work, size_t start) {
    const size_t number = start / BLOCK_BYTES, size = work->block_offsets[number] - work->block_offsets[number - 1];
    memcpy(work->out + work->size, work->out + work->size - size, size);
    for (size_t i = 0; i < BLOCK_SEGMENTS; i++) {
        const size_t segment = number * BLOCK_SEGMENTS + i;
        work->segment_bits[segment] = work->segment_bits[segment - BLOCK_SEGMENTS] + (uint32_t)(8 * size);
    }
    work->size += size;
}

static Parser parser_for(const Array *array) {
    return array->mode == FAST_INTEGERS         ? PARSE_RUNS
           : array_size(array) <= SEGMENT_BYTES ? PARSE_GREEDY
                                                : PARSE_INTERLEAVED;
}

static void deflate_at(Workspace *work, const uint8_t *bytes, size_t start, size_t size, const Array *array) {
    uint32_t *segment_bits = work->segment_bits + start / SEGMENT_BYTES;
    const int final = start + size == array_size(array);
    const Words words = {bytes, size, parser_for(array)};
    const size_t added = deflate_block(&work->deflater, &words, final, work->out + work->size, segment_bits);
    for (size_t i = 0; i * SEGMENT_BYTES < size; i++) segment_bits[i] += (uint32_t)(8 * work->size);
    work->size += added;
}

/* Whether a large array without matches in its first block has none elsewhere, and would save too little. */
static int hardly_compresses(Workspace *work, const Array *array) {
    if (array_size(array) < MIN_SAMPLED_BLOCKS * BLOCK_BYTES || !work->deflater.tokens.literals_only) return 0;
    size_t all = 0;
    for (size_t i = 1; i <= SAMPLES; i++) {
        const size_t offset = array->body.size / 4 / (SAMPLES + 1) * i * 4;
        const size_t size = sampled_size(&work->deflater, array->body.bytes + offset);
        if (!size) return 0;
        all += size;
    }
    return all > SAMPLES * SEGMENT_BYTES / MIN_SAVED * (MIN_SAVED - 1);
}

/* Fills the workspace; 0 if the array should be stored: then only checksums and summary were computed. */
static int encode_array(Workspace *work, const Array *array) {
    const size_t size = array_size(array);
    uint32_t crc = 0;
    int stored = 0;
    work->size = 0;
    work->summary = empty_summary();
    for (size_t start = 0; start < size; start += BLOCK_BYTES) {
        const size_t part = size - start < BLOCK_BYTES ? size - start : BLOCK_BYTES;
        const uint8_t *bytes = block_at(work, array, start, part);
        summarize_block(work, array, start);
        crc = checksum_block(work, bytes, start, part, crc);
        if (stored) continue;
        work->block_offsets[start / BLOCK_BYTES] = (uint32_t)work->size;
        if (start + part < size && repeats_block(bytes, start))
            copy_last_block(work, start);
        else
            deflate_at(work, bytes, start, part, array);
        stored = start == 0 && hardly_compresses(work, array);
    }
    return !stored && work->size < size;
}

static uint8_t *put_le32(uint8_t *at, uint32_t number) {
    for (int i = 0; i < 4; i++) *at++ = (uint8_t)(number >> 8 * i);
    return at;
}

/* The list of restart points; returns its size, 0 if there is only the beginning. `out` has room for
   RESTART_LIST_BOUND. */
static size_t put_restart_list(const Workspace *work, const Array *array, int deflated, uint8_t *out) {
    const size_t size = array_size(array);
    size_t span = SEGMENT_BYTES;
    while (size > span * MAX_RESTART_POINTS) span *= 2;
    const size_t block = deflated && span < BLOCK_BYTES ? BLOCK_BYTES : span;
    if (size <= span) return 0;
    uint8_t *at = out + RESTART_LIST_HEADER;
    for (size_t end = span; end < size + span; end += span)
        at = put_le32(at, work->checksums[((end < size ? end : size) - 1) / SEGMENT_BYTES]);
    for (size_t start = 0; start < size; start += block)
        at = put_le32(at, deflated ? work->block_offsets[start / BLOCK_BYTES] : (uint32_t)start);
    for (size_t start = 0; span < block && start < size; start += span)
        at = put_le32(at, work->segment_bits[start / SEGMENT_BYTES]);
    const size_t made = (size_t)(at - out);
    put_le32(out, RESTART_LIST_ID | (uint32_t)(made - 4) << 16);
    put_le32(out + 4, (uint32_t)span);
    put_le32(out + 8, (uint32_t)block);
    return made;
}

#endif
