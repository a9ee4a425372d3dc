/* Writes bits as deflate packs them: the first one into the lowest bit of a byte. */
#ifndef GRIBMILL_BIT_WRITER_H
#define GRIBMILL_BIT_WRITER_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t bits;  /* those not yet in a complete byte, at the top of the word */
    unsigned count; /* their number */
    uint8_t *out;
} BitWriter;

/* The code's bits are at the top of the word, all others are 0; at most 57 bits. Writes eight bytes, of which the
   complete ones count. */
static inline void put_code(BitWriter *self, uint64_t code, unsigned bits) {
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

static inline void put_bits(BitWriter *self, uint64_t number, unsigned bits) {
    if (bits) put_code(self, number << (64 - bits), bits);
}

static void align_to_byte(BitWriter *self) { put_bits(self, 0, (8 - self->count) & 7); }

#endif
