/* The header of a dynamic block with a code length code that is always the same, chosen for what fields mostly need. It
   takes ten to twenty bytes more than one that is built for the block, and a quarter of the time. */
#ifndef GRIBMILL_PRESET_BLOCK_HEADER_H
#define GRIBMILL_PRESET_BLOCK_HEADER_H

#include <stdint.h>

#include "bit_writer.h"
#include "dynamic_block_header.h"
#include "prefix_code.h"
#include "rfc1951.h"

/* The code lengths of the code length code. Runs of one length are not coded as such: there are hardly any. */
static const uint8_t PRESET_LENGTHS[CODE_LENGTH_SYMBOLS] = {
    3, 7, 7, 6, 6, 5, 4, 4, 4, 3, 2, 3, 5, [REPEAT_ZERO] = 4, [REPEAT_ZERO_LONG] = 6};
/* The last one in the order of sending (15) does not occur. */
#define PRESET_SENT (CODE_LENGTH_SYMBOLS - 1)

/* Code << 8 | bits, for a length and for a run of zeros before one; and the code lengths of the code length code, as
   they are sent. */
static struct {
    uint32_t length[MAX_CODE_LENGTH + 1], zeros[MAX_REPEAT_ZERO + 1];
    uint64_t sent_lengths;
} preset;

static inline uint32_t preset_code(const PrefixCode *code, unsigned symbol, unsigned extra) {
    return (code->codes[symbol] | extra << PRESET_LENGTHS[symbol]) << 8 |
           (uint32_t)(PRESET_LENGTHS[symbol] + CODE_LENGTH_EXTRA_BITS[symbol]);
}

/* Called once, when the module is loaded. */
static void init_preset_header(void) {
    PrefixCode code = {.used = 0};
    for (unsigned i = 0; i < CODE_LENGTH_SYMBOLS; i++) {
        code.symbols[code.used] = (uint16_t)i;
        code.used_lengths[code.used] = PRESET_LENGTHS[i];
        code.used += PRESET_LENGTHS[i] != 0;
    }
    assign_codes(&code, CODE_LENGTH_SYMBOLS);
    for (unsigned i = 0; i <= MAX_CODE_LENGTH; i++) preset.length[i] = preset_code(&code, i, 0);
    preset.zeros[1] = preset.length[0];
    preset.zeros[2] = preset_code(&code, 0, code.codes[0]) + PRESET_LENGTHS[0];
    for (unsigned run = MIN_REPEAT; run < MIN_REPEAT_LONG; run++)
        preset.zeros[run] = preset_code(&code, REPEAT_ZERO, run - MIN_REPEAT);
    for (unsigned run = MIN_REPEAT_LONG; run <= MAX_REPEAT_ZERO; run++)
        preset.zeros[run] = preset_code(&code, REPEAT_ZERO_LONG, run - MIN_REPEAT_LONG);
    for (unsigned i = 0; i < PRESET_SENT; i++)
        preset.sent_lengths |= (uint64_t)PRESET_LENGTHS[CODE_LENGTH_ORDER[i]] << 3 * i;
}

static inline void put_code_lengths(BitWriter *writer, const PrefixCode *code) {
    BitWriter self = *writer;
    unsigned next = 0;
    for (unsigned i = 0; i < code->used; i++) {
        unsigned zeros = code->symbols[i] - next;
        if (zeros > MAX_REPEAT_ZERO) {
            put_bits(&self, preset.zeros[MAX_REPEAT_ZERO] >> 8, preset.zeros[MAX_REPEAT_ZERO] & 255);
            zeros -= MAX_REPEAT_ZERO;
        }
        const uint32_t before = preset.zeros[zeros], length = preset.length[code->used_lengths[i]];
        const unsigned bits = before & 255;
        put_bits(&self, before >> 8 | (uint64_t)(length >> 8) << bits, bits + (length & 255));
        next = code->symbols[i] + 1u;
    }
    *writer = self;
}

static inline void put_preset_header(BitWriter *writer, const PrefixCode *literals, const PrefixCode *distances,
                                     int final) {
    put_block_counts(writer, literals, distances, PRESET_SENT, final);
    put_bits(writer, preset.sent_lengths, 3 * PRESET_SENT);
    put_code_lengths(writer, literals);
    put_code_lengths(writer, distances);
    /* At least one distance code length is sent: 0 if there are no matches. */
    if (!distances->used) put_bits(writer, preset.length[0] >> 8, preset.length[0] & 255);
}

#endif
