/* How bits are put out, the first one lowest. */
#ifndef GRIBMILL_BIT_WRITER_H
#define GRIBMILL_BIT_WRITER_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t bits; /* at the top */
    unsigned count;
    uint8_t *out;
} Output;

static inline void put(Output *self, uint64_t code, unsigned bits) {
    self->bits = self->bits >> bits | code;
    self->count += bits;
    const uint64_t word = self->bits >> (64 - self->count);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(self->out, &word, 8);
#else
    for (int i = 0; i < 8; i++) self->out[i] = (uint8_t)(word >> 8 * i);
#endif
    self->out += self->count >> 3;
    self->count &= 7;
}

static inline void put_number(Output *self, uint64_t number, unsigned bits) {
    if (bits) put(self, number << (64 - bits), bits);
}

static void to_byte(Output *self) { put_number(self, 0, (8 - self->count) & 7); }

#endif
