/* Numbers of the deflate format, RFC 1951. */
#ifndef GRIBMILL_RFC1951_H
#define GRIBMILL_RFC1951_H

#include <stdint.h>

/* The literal/length alphabet: 256 literals, the end of the block, 29 length codes. */
#define LITERALS 256
#define END_OF_BLOCK 256
#define FIRST_LENGTH_SYMBOL 257
#define LENGTH_SYMBOLS 29
#define LITERAL_LENGTH_SYMBOLS 286
#define DISTANCE_SYMBOLS 30

#define BTYPE_DYNAMIC 2
#define MIN_MATCH_BYTES 3
#define MAX_MATCH_BYTES 258

/* The code length alphabet: lengths 0 to 15, and runs of the previous length or of zeros. */
#define COPY_PREVIOUS 16
#define REPEAT_ZERO 17
#define REPEAT_ZERO_LONG 18
#define CODE_LENGTH_SYMBOLS 19
/* Run lengths. */
#define MIN_REPEAT 3
#define MAX_COPY_PREVIOUS 6
#define MIN_REPEAT_LONG 11
#define MAX_REPEAT_ZERO 138

/* The order in which the code lengths of the code length alphabet are sent. */
static const uint8_t CODE_LENGTH_ORDER[CODE_LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                               11, 4,  12, 3, 13, 2, 14, 1, 15};
static const uint8_t CODE_LENGTH_EXTRA_BITS[CODE_LENGTH_SYMBOLS] = {
    [COPY_PREVIOUS] = 2, [REPEAT_ZERO] = 3, [REPEAT_ZERO_LONG] = 7};
static const uint8_t LENGTH_EXTRA_BITS[LENGTH_SYMBOLS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

static inline unsigned distance_extra_bits(unsigned symbol) { return symbol < 2 ? 0 : symbol / 2 - 1; }

#endif
