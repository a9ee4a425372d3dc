/* Deflate that takes its time, for small arrays: any three bytes may repeat, and a repeat is only used where none that
   begins a byte later is better. Fields repeat whole words back: a byte is only looked for at its own place in a word,
   which passes over what is alike by chance. */
#ifndef GRIBMILL_PARSE_LAZY_H
#define GRIBMILL_PARSE_LAZY_H

#include "deflate_block.h"
#include "../byte_reader.h"

/* All of it lies within deflate's window. */
#define MOST_LAZY 32768
#define LAZY_HASH_BITS 14
#define LEAST_LAZY 3
#define LONGEST_LAZY 258
/* How many places are tried at most, how long a repeat is long enough, and how near one of three bytes has to be. */
#define PLACES_TRIED 10
#define LONG_ENOUGH 32
#define NEAR_BYTES 4096
/* Where nothing more is looked for, so that sixteen bytes can always be read. */
#define LAZY_TAIL 16
/* A repeat of three bytes takes less than twice as much, whatever its codes are. */
#define LAZY_BOUND(size) (2 * (size) + DESCRIPTION_BOUND)

/* Places are told from 1 on: 0 stands for nowhere. */
typedef struct {
    uint16_t three_at[1 << LAZY_HASH_BITS], six_at[1 << LAZY_HASH_BITS]; /* where such bytes were seen last */
    uint16_t three[MOST_LAZY], six[MOST_LAZY];                           /* where those of each place were */
    uint32_t tokens[MOST_LAZY];
    const uint8_t *bytes;
    uint32_t size, count; /* of bytes, and of tokens */
} Lazy;

/* No length where there is none. */
typedef struct {
    uint32_t length, distance;
} Repeat;

static inline unsigned top_bit(uint32_t number) { return 31u - (unsigned)__builtin_clz(number); }

static inline unsigned length_symbol(unsigned length) {
    const unsigned excess = length - LEAST_LAZY;
    if (excess < 8) return excess;
    return length == LONGEST_LAZY ? LENGTH_SYMBOLS - 1 : 4 * (top_bit(excess) - 1) + (excess >> (top_bit(excess) - 2) & 3);
}

static inline unsigned distance_symbol(unsigned distance) {
    const unsigned excess = distance - 1;
    return excess < 4 ? excess : 2 * top_bit(excess) + (excess >> (top_bit(excess) - 1) & 1);
}

/* The first three or six of eight bytes. */
#define THREE(bytes) ((bytes) << 40)
#define SIX(bytes) ((bytes) << 16)

static inline uint32_t lazy_hash(uint64_t bytes, uint32_t place) {
    return (uint32_t)((bytes | (place & 3)) * UINT64_C(0x9E3779B185EBCA87) >> (64 - LAZY_HASH_BITS));
}

/* Whether sixteen bytes go on as the word before them. */
static inline int in_run(const uint8_t *here) {
    return little_endian64(here) == little_endian64(here - 4) && little_endian64(here + 8) == little_endian64(here + 4);
}

/* Where the bytes of each place were seen before it. All at once: nothing here waits for what is found. */
static inline void look_back(Lazy *self, uint32_t end) {
    memset(self->three_at, 0, sizeof self->three_at);
    memset(self->six_at, 0, sizeof self->six_at);
    for (uint32_t place = 1; place < end; place++) {
        if (place > 4 && in_run(self->bytes + place)) {
            self->three[place] = self->six[place] = (uint16_t)(place - 4);
            continue;
        }
        const uint64_t bytes = little_endian64(self->bytes + place);
        uint16_t *three_at = self->three_at + lazy_hash(THREE(bytes), place);
        uint16_t *six_at = self->six_at + lazy_hash(SIX(bytes), place);
        const uint32_t three = *three_at, six = *six_at;
        *three_at = *six_at = (uint16_t)place;
        /* Others may have the same hash. */
        const uint32_t same_three = THREE(little_endian64(self->bytes + three) ^ bytes) == 0;
        const uint32_t same_six = SIX(little_endian64(self->bytes + six) ^ bytes) == 0;
        self->three[place] = (uint16_t)(three & (0u - same_three));
        self->six[place] = (uint16_t)(six & (0u - same_six));
    }
}

/* How many bytes are alike, of which the first ones are known to be. */
static inline uint32_t alike_bytes(const uint8_t *here, const uint8_t *there, uint32_t alike, uint32_t most) {
    for (; alike + 8 <= most; alike += 8) {
        const uint64_t differ = little_endian64(here + alike) ^ little_endian64(there + alike);
        if (differ) return alike + (uint32_t)(__builtin_ctzll(differ) >> 3);
    }
    while (alike < most && here[alike] == there[alike]) alike++;
    return alike;
}

/* The longest repeat at a place where three bytes are one, if it has more than `least`: what was seen last with three
   bytes alike, or one of those with six. */
static inline Repeat longest_at(const Lazy *self, uint32_t place, uint32_t least, int tries) {
    const uint32_t left = self->size - place, most = left < LONGEST_LAZY ? left : LONGEST_LAZY;
    const uint32_t three = self->three[place], enough = most < LONG_ENOUGH ? most : LONG_ENOUGH;
    const uint8_t *here = self->bytes + place;
    Repeat best = {least, 0};
    const uint32_t first = alike_bytes(here, self->bytes + three, LEAST_LAZY, most);
    if (first > least && (first > LEAST_LAZY || place - three <= NEAR_BYTES)) best = (Repeat){first, place - three};
    for (uint32_t seen = self->six[place]; seen && tries > 0 && best.length < enough; tries--, seen = self->six[seen]) {
        const uint8_t *there = self->bytes + seen;
        /* Only a longer one is of use: what would be its last bytes is looked at first. */
        const uint32_t end = best.length < 3 ? 0 : best.length - 3;
        if (little_endian32(there + end) != little_endian32(here + end)) continue;
        const uint32_t alike = alike_bytes(here, there, 6, most);
        if (alike > best.length) best = (Repeat){alike, place - seen};
    }
    return best.distance ? best : (Repeat){0, 0};
}

/* Whether the one that begins a byte later is worth the literal before it: what it is longer, and what it is nearer. */
static inline int is_better(Repeat next, Repeat now) {
    if (next.length < now.length) return 0;
    return 4 * (int)(next.length - now.length) + (int)top_bit(now.distance) - (int)top_bit(next.distance) > 2;
}

/* A token is a symbol and by how much its length exceeds the least, in 9 and 5 bits, and the same of the distance, in 5
   and 13. A literal has none: that is one more symbol, without any bits. */
#define NO_DISTANCE DISTANCE_SYMBOLS
#define TOKEN(symbol, excess, far, far_excess) ((symbol) | (excess) << 9 | (far) << 14 | (far_excess) << 19)

static inline void lazy_literal(Lazy *self, Deflater *codes, uint8_t byte) {
    self->tokens[self->count++] = TOKEN((uint32_t)byte, 0u, (uint32_t)NO_DISTANCE, 0u);
    codes->counts[byte]++;
}

static inline void lazy_repeat(Lazy *self, Deflater *codes, Repeat repeat) {
    const uint32_t length = length_symbol(repeat.length), far = distance_symbol(repeat.distance);
    const uint32_t excess = (repeat.length - LEAST_LAZY) & ((1u << LENGTH_EXTRA[length]) - 1);
    const uint32_t far_excess = (repeat.distance - 1) & ((1u << distance_extra(far)) - 1);
    self->tokens[self->count++] = TOKEN(END_OF_BLOCK + 1 + length, excess, far, far_excess);
    codes->counts[END_OF_BLOCK + 1 + length]++;
    codes->distance_counts[far]++;
}

static inline void choose_lazily(Lazy *self, Deflater *codes) {
    const uint32_t end = self->size > LAZY_TAIL ? self->size - LAZY_TAIL : 1;
    uint32_t place = 1;
    Repeat now = {0, 0};
    look_back(self, end);
    lazy_literal(self, codes, self->bytes[0]);
    while (place < end) {
        if (!now.length && self->three[place]) now = longest_at(self, place, LEAST_LAZY - 1, PLACES_TRIED);
        if (!now.length) {
            lazy_literal(self, codes, self->bytes[place++]);
            continue;
        }
        Repeat next = {0, 0};
        if (now.length < LONG_ENOUGH && place + 1 < end && self->three[place + 1])
            next = longest_at(self, place + 1, now.length - 1, PLACES_TRIED / 2);
        if (is_better(next, now)) {
            lazy_literal(self, codes, self->bytes[place++]);
            now = next;
            continue;
        }
        lazy_repeat(self, codes, now);
        place += now.length;
        now.length = 0;
    }
    while (place < self->size) lazy_literal(self, codes, self->bytes[place++]);
    codes->counts[END_OF_BLOCK] = 1;
}

/* Without a jump: whether a literal or a repeat comes next cannot be foretold. */
static inline void put_tokens(Output *output, const Lazy *self, const Deflater *codes) {
    uint8_t extra[MOST_SYMBOLS] = {0}, far_bits[NO_DISTANCE + 1] = {0}, far_extra[NO_DISTANCE + 1] = {0};
    uint16_t far_plain[NO_DISTANCE + 1] = {0};
    memcpy(extra + END_OF_BLOCK + 1, LENGTH_EXTRA, LENGTH_SYMBOLS);
    memcpy(far_bits, codes->distances.lengths, DISTANCE_SYMBOLS);
    memcpy(far_plain, codes->distances.plain, DISTANCE_SYMBOLS * sizeof *far_plain);
    for (unsigned i = 0; i < DISTANCE_SYMBOLS; i++) far_extra[i] = (uint8_t)distance_extra(i);
    Output own = *output;
    for (uint32_t i = 0; i < self->count; i++) {
        const uint32_t token = self->tokens[i], symbol = token & 511, far = token >> 14 & 31;
        const unsigned bits = codes->symbols.lengths[symbol], all = bits + extra[symbol];
        const uint64_t code = codes->symbols.plain[symbol] | (token >> 9 & 31) << bits;
        const uint64_t far_code = far_plain[far] | (token >> 19) << far_bits[far];
        put_number(&own, code | far_code << all, all + far_bits[far] + far_extra[far]);
    }
    *output = own;
}

static inline size_t make_lazily(Lazy *self, Deflater *codes, const uint8_t *bytes, size_t size, uint8_t *out) {
    Output output = {0, 0, out};
    memset(codes->counts, 0, sizeof codes->counts);
    memset(codes->distance_counts, 0, sizeof codes->distance_counts);
    self->bytes = bytes;
    self->size = (uint32_t)size;
    self->count = 0;
    choose_lazily(self, codes);
    make_codes(codes);
    put_description(&output, &codes->symbols, &codes->distances, 1);
    put_tokens(&output, self, codes);
    put_symbol(&output, &codes->symbols, END_OF_BLOCK);
    to_byte(&output);
    return (size_t)(output.out - out);
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static size_t lazily_avx2(Lazy *self, Deflater *codes, const uint8_t *bytes, size_t size,
                                                        uint8_t *out) {
    return make_lazily(self, codes, bytes, size, out);
}
#endif

/* All of an array of at most MOST_LAZY bytes, as one block; `out` has room for LAZY_BOUND. Returns the size. */
static size_t deflate_lazily(Lazy *self, Deflater *codes, const uint8_t *bytes, size_t size, uint8_t *out) {
#ifdef WITH_AVX2
    if (has_avx2()) return lazily_avx2(self, codes, bytes, size, out);
#endif
    return make_lazily(self, codes, bytes, size, out);
}

#endif
