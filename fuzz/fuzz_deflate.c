/* Deflates arbitrary values, inflates them again, and requantizes them.

   One input: parser, mode, length of the .npy header, how often the body is repeated, three bytes that choose a
   quantization, a byte that makes the values exact; then the body. Checked: no crash; both builds give the same bytes,
   checksums and summaries; what was deflated inflates to what it was; exact values can be requantized. */
#include "both_builds.h"

#define HEADER_BYTES 8
#define MAX_REPEATS 4

static void compare_inflated(const Segment *segments, size_t count, ByteSpan raw) {
    uint8_t *vector = allocate(raw.size), *scalar = allocate(raw.size);
    if (!inflate_vector(segments, count, vector) || !inflate_scalar(segments, count, scalar))
        fail("what was deflated is declined");
    if (memcmp(vector, raw.bytes, raw.size) || memcmp(scalar, raw.bytes, raw.size))
        fail("what was deflated inflates to something else");
    free(scalar);
    free(vector);
}

/* One block with any of the parsers. */
static void try_block(const uint8_t *data, size_t size, Parser parser) {
    const ByteSpan raw = exact_copy(data, size < BLOCK_BYTES ? size : BLOCK_BYTES);
    const Words words = {raw.bytes, raw.size, parser};
    uint32_t bits[BLOCK_SEGMENTS] = {0}, other_bits[BLOCK_SEGMENTS] = {0};
    uint8_t *vector = allocate(STREAM_BOUND(raw.size)), *scalar = allocate(STREAM_BOUND(raw.size));
    const size_t made = deflate_vector(&words, vector, bits), other = deflate_scalar(&words, scalar, other_bits);
    if (made != other || memcmp(vector, scalar, made)) fail("the two builds deflate to different bytes");
    if (memcmp(bits, other_bits, sizeof bits)) fail("the two builds start segments at different bits");
    const ByteSpan stream = exact_copy(vector, made);
    Segment segments[BLOCK_SEGMENTS];
    size_t count = 0;
    for (size_t left = raw.size; left; left -= segments[count++].size)
        segments[count] = (Segment){stream, 0, bits[count], (uint32_t)(left < SEGMENT_BYTES ? left : SEGMENT_BYTES)};
    compare_inflated(segments, count, raw);
    free((void *)stream.bytes);
    free(scalar);
    free(vector);
    free((void *)raw.bytes);
}

static int same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

static void compare_summaries(const Summary *one, const Summary *other) {
    if (one->missing != other->missing || one->least != other->least || one->greatest != other->greatest ||
        !same_number(total_of(one), total_of(other)))
        fail("the two builds summarize differently");
}

static Workspace *workspace_for(const Array *array, int number) {
    static Workspace workspaces[2];
    Workspace *work = workspaces + number;
    free(work->out);
    work->out = allocate(max_encoded_size(array));
    return work;
}

/* All segments of an array that was deflated with restart points. */
static void inflate_array(const Workspace *work, const Array *array) {
    const size_t size = array_size(array), count = (size + SEGMENT_BYTES - 1) / SEGMENT_BYTES;
    const ByteSpan stream = exact_copy(work->out, work->size);
    uint8_t *raw = allocate(size);
    memcpy(raw, array->header.bytes, array->header.size);
    memcpy(raw + array->header.size, array->body.bytes, array->body.size);
    Segment *segments = allocate(count * sizeof *segments);
    for (size_t i = 0; i < count; i++) {
        const size_t left = size - i * SEGMENT_BYTES;
        segments[i] = (Segment){stream, work->block_offsets[i / BLOCK_SEGMENTS], work->segment_bits[i],
                                (uint32_t)(left < SEGMENT_BYTES ? left : SEGMENT_BYTES)};
    }
    compare_inflated(segments, count, (ByteSpan){raw, size});
    free(segments);
    free(raw);
    free((void *)stream.bytes);
}

static void try_array(const Array *array) {
    uint8_t list[RESTART_LIST_BOUND], other_list[RESTART_LIST_BOUND];
    size_t list_size, other_size;
    Workspace *one = workspace_for(array, 0), *other = workspace_for(array, 1);
    const int deflated = encode_vector(one, array, list, &list_size);
    if (deflated != encode_scalar(other, array, other_list, &other_size)) fail("one build deflates, the other stores");
    if (deflated && (one->size != other->size || memcmp(one->out, other->out, one->size)))
        fail("the two builds encode to different bytes");
    if (list_size != other_size || memcmp(list, other_list, list_size)) fail("the lists of restart points differ");
    const size_t last = (array_size(array) - 1) / SEGMENT_BYTES;
    if (one->checksums[last] != other->checksums[last]) fail("the checksums differ");
    if (array->mode != FAST_INTEGERS) compare_summaries(&one->summary, &other->summary);
    if (deflated) inflate_array(one, array);
}

/* The body repeated, so that arrays have several blocks. */
static void try_encode(const uint8_t *data, size_t size, Mode mode, size_t header_size, size_t repeats) {
    const size_t most = MAX_RAW_BYTES - header_size, wanted = size * repeats;
    const size_t body_size = wanted < most ? wanted : most;
    uint8_t *body = allocate(body_size);
    for (size_t at = 0; at < body_size; at += size)
        memcpy(body + at, data, body_size - at < size ? body_size - at : size);
    const ByteSpan header = exact_copy(data, header_size);
    try_array(&(Array){header, {body, body_size}, mode});
    free((void *)header.bytes);
    free(body);
}

static void try_requantize(const uint8_t *data, size_t width, const Quantization *quantization, int exact) {
    float *values = allocate(width * sizeof *values);
    uint16_t *row = allocate(width * sizeof *row), *one = allocate(width * sizeof *one),
             *other = allocate(width * sizeof *other);
    memcpy(values, data, width * sizeof *values);
    for (size_t i = 0; exact && i < width; i++)
        values[i] = (float)((data[i] * quantization->scale + quantization->reference) * quantization->factor);
    const int done = requantize_vector(values, width, quantization, row, one);
    if (done != requantize_scalar(values, width, quantization, row, other))
        fail("one build requantizes, the other not");
    if (done && memcmp(one, other, width * sizeof *one)) fail("the two builds requantize differently");
    if (!done && exact) fail("exact values were not requantized");
    free(other);
    free(one);
    free(row);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES + sizeof(float)) return 0;
    const uint8_t *body = data + HEADER_BYTES;
    const size_t body_size = size - HEADER_BYTES, header_size = 1 + data[2] % (body_size < 128 ? body_size : 128);
    try_block(body, body_size, (Parser)(data[0] % 3));
    try_encode(body, body_size, (Mode)(data[1] % 2), header_size, 1 + data[3] % MAX_REPEATS);
    const Quantization quantization = {data[4] - 100.0, data[5] % 2 ? 0.5 : 1.0, data[6] % 2 ? 0.1 : 1.0};
    try_requantize(body, body_size / sizeof(float), &quantization, data[7] & 1);
    return 0;
}
