/* How a block begins where there is no time to make codes for that: the lengths of its codes are told by codes that are
   always the same, as fields mostly need them. It takes ten to twenty bytes more, and a quarter
   of the time. */
#ifndef GRIBMILL_PRESET_BLOCK_HEADER_H
#define GRIBMILL_PRESET_BLOCK_HEADER_H

#include "dynamic_block_header.h"

/* How long those codes are. Runs of one length are not told as such: there are hardly any. */
static const uint8_t BRIEF[TELLING_SYMBOLS] = {3, 7, 7, 6, 6, 5, 4, 4, 4, 3, 2, 3, 5, [ZEROS] = 4, [MANY_ZEROS] = 6};
/* The last of all is not used. */
#define BRIEF_SENT (TELLING_SYMBOLS - 1)

/* Code << 8 | bits, of lengths and of so many zeros before one; and what is sent of those codes. */
static struct {
    uint32_t length[LONGEST_CODE + 1], zeros[MOST_ZEROS + 1];
    uint64_t order;
} brief;

static inline uint32_t brief_run(const Code *code, unsigned symbol, unsigned more) {
    return (code->plain[symbol] | more << BRIEF[symbol]) << 8 | (uint32_t)(BRIEF[symbol] + MORE_BITS[symbol]);
}

/* Once, before anything else is done. */
static void fill_brief(void) {
    Code code = {.used = 0};
    for (unsigned i = 0; i < TELLING_SYMBOLS; i++) {
        code.symbols[code.used] = (uint16_t)i;
        code.used_lengths[code.used] = BRIEF[i];
        code.used += BRIEF[i] != 0;
    }
    assign_codes(&code, TELLING_SYMBOLS);
    for (unsigned i = 0; i <= LONGEST_CODE; i++) brief.length[i] = brief_run(&code, i, 0);
    brief.zeros[1] = brief.length[0];
    brief.zeros[2] = brief_run(&code, 0, code.plain[0]) + BRIEF[0];
    for (unsigned run = LEAST_SAME; run < LEAST_MANY; run++) brief.zeros[run] = brief_run(&code, ZEROS, run - LEAST_SAME);
    for (unsigned run = LEAST_MANY; run <= MOST_ZEROS; run++) brief.zeros[run] = brief_run(&code, MANY_ZEROS, run - LEAST_MANY);
    for (unsigned i = 0; i < BRIEF_SENT; i++) brief.order |= (uint64_t)BRIEF[ORDER[i]] << 3 * i;
}

static inline void put_lengths(Output *output, const Code *code) {
    Output self = *output;
    unsigned next = 0;
    for (unsigned i = 0; i < code->used; i++) {
        unsigned zeros = code->symbols[i] - next;
        if (zeros > MOST_ZEROS) {
            put_number(&self, brief.zeros[MOST_ZEROS] >> 8, brief.zeros[MOST_ZEROS] & 255);
            zeros -= MOST_ZEROS;
        }
        const uint32_t before = brief.zeros[zeros], length = brief.length[code->used_lengths[i]];
        const unsigned bits = before & 255;
        put_number(&self, before >> 8 | (uint64_t)(length >> 8) << bits, bits + (length & 255));
        next = code->symbols[i] + 1u;
    }
    *output = self;
}

static inline void put_brief(Output *output, const Code *symbols, const Code *distances, int last) {
    put_head(output, symbols, distances, BRIEF_SENT, last);
    put_number(output, brief.order, 3 * BRIEF_SENT);
    put_lengths(output, symbols);
    put_lengths(output, distances);
    /* One has to be told, if only that it is not used. */
    if (!distances->used) put_number(output, brief.length[0] >> 8, brief.length[0] & 255);
}

#endif
