/* One build of the kernel, with its own function names. Compiled twice: as it is, and with GRIBMILL_PORTABLE. */
#include "both_builds.h"

#ifdef GRIBMILL_PORTABLE
#define NAMED(name) name##_scalar
#else
#define NAMED(name) name##_vector
#endif

/* As the extension does when it is loaded. */
static void prepare(void) {
    if (crc_tables[0][1]) return;
    init_crc_tables();
    init_preset_header();
    init_compress_shuffles();
    init_lane_layouts();
}

int NAMED(decode)(const Field *field) {
    prepare();
    return decode_field(field);
}

size_t NAMED(deflate)(const Words *words, uint8_t *out, uint32_t *segment_bits) {
    static Deflater deflater;
    prepare();
    return deflate_block(&deflater, words, 1, out, segment_bits);
}

int NAMED(inflate)(const Segment *segments, size_t count, uint8_t *out) {
    static CachedTables cache[2];
    return inflate_segments(segments, count, out, cache);
}

int NAMED(encode)(Workspace *work, const Array *array, uint8_t *list, size_t *list_size) {
    prepare();
    const int deflated = encode_array(work, array);
    *list_size = put_restart_list(work, array, deflated, list);
    return deflated;
}

int NAMED(requantize)(const float *values, size_t width, const Quantization *quantization, uint16_t *row,
                      uint16_t *out) {
    return requantize(values, 1, width, quantization, row, out);
}
