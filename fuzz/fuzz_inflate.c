/* Inflates arbitrary bytes.

   One input: the number of segments; for each the byte of its block, its own bit (4 bytes each, little-endian) and its
   raw size (2 bytes); then the stream. Checked: no crash, nothing read or written past an end, and both builds accept
   and return the same. */
#include "both_builds.h"

/* The same as MAX_SEGMENTS in seeds.py. */
#define MAX_FUZZED_SEGMENTS 8
#define SEGMENT_HEADER_BYTES 10

/* In memory of exactly its size; NULL if the stream was declined. */
static uint8_t *inflated(int (*inflate)(const Segment *, size_t, uint8_t *), const Segment *segments, size_t count,
                         size_t size) {
    uint8_t *out = allocate(size);
    if (inflate(segments, count, out)) return out;
    free(out);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t count = size ? 1 + data[0] % MAX_FUZZED_SEGMENTS : 0;
    if (size < 1 + count * SEGMENT_HEADER_BYTES) return 0;
    const uint8_t *at = data + 1;
    const ByteSpan stream = exact_copy(at + count * SEGMENT_HEADER_BYTES, size - 1 - count * SEGMENT_HEADER_BYTES);
    Segment segments[MAX_FUZZED_SEGMENTS];
    size_t raw_size = 0;
    for (size_t i = 0; i < count; i++, at += SEGMENT_HEADER_BYTES) {
        segments[i] = (Segment){stream, load_le32(at), load_le32(at + 4), read_u16(at + 8)};
        raw_size += segments[i].size;
    }
    uint8_t *vector = inflated(inflate_vector, segments, count, raw_size);
    uint8_t *scalar = inflated(inflate_scalar, segments, count, raw_size);
    if (!vector != !scalar) fail("one build accepts the stream, the other declines it");
    if (vector && memcmp(vector, scalar, raw_size)) fail("the two builds inflate to different bytes");
    free(scalar);
    free(vector);
    free((void *)stream.bytes);
    return 0;
}
