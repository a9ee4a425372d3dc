/* The way back from deflate.h: stretches of whole words, each with the codes of its block. What other writers make is
   declined. Two stretches are read at a time: while one waits for a table, the other goes on. */
#ifndef GRIBMILL_INFLATE_H
#define GRIBMILL_INFLATE_H

#include "deflate_block.h"
#include "../byte_reader.h"

#define CODE_ROOM (1u << LONGEST_CODE)
/* A table's entry: the bits of a code and of what follows it, together in the lowest eight; those of the code alone;
   the least length or distance, or a literal. */
#define LITERAL_FLAG (UINT32_C(1) << 31)
#define ENTRY_BITS(entry) ((entry) & 63)
#define ENTRY_LEAST(entry) ((entry) >> 16 & 0x7FFF)
#define ENTRY(more, least) ((uint32_t)(more) | (uint32_t)(least) << 16)
#define CODE_BITS(bits) ((uint32_t)(bits) << 8 | (uint32_t)(bits))
/* A refill leaves so many bits at least: more than any token takes. */
#define REFILLED 56
/* So many bytes are copied at a time, and the longest repeat has 64 words: so far from its end, no token writes beyond
   a stretch. */
#define COPIED_BYTES 16
#define OUT_SLACK (4 * LONGEST_WORDS + COPIED_BYTES)

typedef struct {
    uint32_t symbols[CODE_ROOM], distances[CODE_ROOM];
    uint32_t distance_mask;
} Codes;

typedef struct {
    const uint8_t *in, *in_end;
    uint64_t bits; /* the next one lowest */
    unsigned count;
    const Codes *codes;
    uint8_t *out, *first, *end;
} Lane;

/* Where eight bytes may be read. Of the count, only the lowest six bits are looked at. */
static inline void refill_fast(Lane *self) {
    self->bits |= little_endian64(self->in) << (self->count & 63);
    self->in += 7 - (self->count >> 3 & 7);
    self->count |= REFILLED;
}

/* Anywhere: zeros stand for what lies beyond the end. */
static inline void refill(Lane *self) {
    if (self->in_end - self->in >= 8) {
        refill_fast(self);
        return;
    }
    for (self->count &= 63; self->count < REFILLED; self->count += 8)
        if (self->in < self->in_end) self->bits |= (uint64_t)*self->in++ << self->count;
}

static inline unsigned low_bits(uint64_t word, unsigned bits) { return (unsigned)word & ((1u << bits) - 1); }

static unsigned take(Lane *self, unsigned bits) {
    refill(self);
    const unsigned number = low_bits(self->bits, bits);
    self->bits >>= bits;
    self->count -= bits;
    return number;
}

static void go_to(Lane *self, Octets stream, uint64_t bit) {
    const size_t byte = bit >> 3 < stream.size ? (size_t)(bit >> 3) : stream.size;
    self->in = stream.bytes + byte;
    self->in_end = stream.bytes + stream.size;
    self->bits = self->count = 0;
    take(self, bit & 7);
}

/* A table of 2^(longest length) entries: a code's entry stands wherever the code comes first. Doubled length by length,
   so that shorter codes are repeated by copying. Returns its size; 0 where there cannot be such codes. */
static unsigned fill_table(const uint8_t *lengths, unsigned symbols, const uint32_t *entries, uint32_t *table) {
    uint16_t ordered[MOST_SYMBOLS];
    unsigned start[LONGEST_CODE + 2] = {0}, taken = 0, size = 1, code = 0;
    for (unsigned i = 0; i < symbols; i++) {
        if (lengths[i] > LONGEST_CODE) return 0;
        start[lengths[i] + 1]++;
    }
    for (unsigned i = 1; i <= LONGEST_CODE; i++) {
        taken += start[i + 1] << (LONGEST_CODE - i);
        start[i + 1] += start[i];
    }
    if (taken > CODE_ROOM) return 0;
    const unsigned unused = start[1];
    for (unsigned i = 0; i < symbols; i++) ordered[start[lengths[i]]++] = (uint16_t)i;
    table[0] = 0;
    for (unsigned i = unused; i < symbols; i++) {
        const unsigned symbol = ordered[i], length = lengths[symbol];
        for (; size < 1u << length; size *= 2) memcpy(table + size, table, size * sizeof *table);
        table[code] = entries[symbol] + CODE_BITS(length);
        /* The next code is one more; its first bit is the lowest. */
        unsigned bit = size / 2;
        for (; code & bit; bit /= 2) code ^= bit;
        code |= bit;
    }
    return size;
}

/* The lengths of all codes of a block, themselves coded. */
static int read_lengths(Lane *self, unsigned wanted, unsigned sent, uint8_t *lengths) {
    uint8_t own[TELLING_SYMBOLS] = {0};
    uint32_t entries[TELLING_SYMBOLS], table[1 << 7]; /* their own lengths have three bits */
    for (unsigned i = 0; i < sent; i++) own[ORDER[i]] = (uint8_t)take(self, 3);
    for (unsigned i = 0; i < TELLING_SYMBOLS; i++) entries[i] = ENTRY(0, i);
    const unsigned size = fill_table(own, TELLING_SYMBOLS, entries, table);
    for (unsigned i = 0; size && i < wanted;) {
        refill(self);
        const uint32_t entry = table[self->bits & (size - 1)];
        const unsigned symbol = ENTRY_LEAST(entry);
        if (!ENTRY_BITS(entry)) return 0;
        take(self, ENTRY_BITS(entry));
        if (symbol < SAME) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        const unsigned run = (symbol == MANY_ZEROS ? LEAST_MANY : LEAST_SAME) + take(self, MORE_BITS[symbol]);
        if (run > wanted - i || (symbol == SAME && !i)) return 0;
        memset(lengths + i, symbol == SAME ? lengths[i - 1] : 0, run);
        i += run;
    }
    return size != 0;
}

/* The tables of the block that begins here; 0 where it is none with codes of its own, or with longer ones. */
static int read_codes(Lane *self, Codes *codes) {
    uint8_t lengths[MOST_SYMBOLS + 32 + DISTANCE_SYMBOLS];
    uint32_t entries[MOST_SYMBOLS];
    if (take(self, 3) >> 1 != 2) return 0;
    const unsigned symbols = 257 + take(self, 5), distances = 1 + take(self, 5), sent = 4 + take(self, 4);
    if (symbols > MOST_SYMBOLS || distances > DISTANCE_SYMBOLS) return 0;
    if (!read_lengths(self, symbols + distances, sent, lengths)) return 0;
    for (unsigned i = 0; i < LITERALS; i++) entries[i] = ENTRY(0, i) | LITERAL_FLAG;
    entries[END_OF_BLOCK] = 0;
    for (unsigned i = 0, least = 3; i < LENGTH_SYMBOLS; i++) {
        /* The longest of all lengths is not one of whole words. */
        entries[END_OF_BLOCK + 1 + i] = i + 1 < LENGTH_SYMBOLS ? ENTRY(LENGTH_EXTRA[i], least) : 0;
        least += 1u << LENGTH_EXTRA[i];
    }
    uint32_t size = fill_table(lengths, symbols, entries, codes->symbols);
    for (; size && size < CODE_ROOM; size *= 2) memcpy(codes->symbols + size, codes->symbols, size * sizeof(uint32_t));
    for (unsigned i = 0, least = 1; i < DISTANCE_SYMBOLS; i++) {
        entries[i] = ENTRY(distance_extra(i), least);
        least += 1u << distance_extra(i);
    }
    codes->distance_mask = fill_table(lengths + symbols, distances, entries, codes->distances) - 1;
    return size && codes->distance_mask != UINT32_MAX;
}

static inline void copy_word(uint8_t *to, const uint8_t *from) {
    uint32_t word;
    memcpy(&word, from, 4);
    memcpy(to, &word, 4);
}

/* Sixteen bytes at least, and at most fifteen too many. The first four words one by one: most repeats are no longer,
   and may be of words that have just been written. What repeats within fewer than sixteen bytes has then done so over
   sixteen or more. */
static inline void repeat(uint8_t *out, unsigned distance, unsigned length) {
    copy_word(out, out - distance);
    copy_word(out + 4, out + 4 - distance);
    copy_word(out + 8, out + 8 - distance);
    copy_word(out + 12, out + 12 - distance);
    if (length <= COPIED_BYTES) return;
    const unsigned back = distance >= COPIED_BYTES ? distance : distance == 12 ? 24 : COPIED_BYTES;
    for (unsigned i = COPIED_BYTES; i < length; i += COPIED_BYTES) memcpy(out + i, out + i - back, COPIED_BYTES);
}

/* The length or distance of an entry, with the bits that follow its code. */
static inline unsigned number_of(uint32_t entry, uint64_t bits) {
    return ENTRY_LEAST(entry) + ((unsigned)(bits & ((UINT64_C(1) << ENTRY_BITS(entry)) - 1)) >> (entry >> 8 & 15));
}

/* The entry behind one that is passed over. Of the count, only the lowest six bits are looked at: others may be
   wrong. */
static inline uint32_t next_entry(const uint32_t *table, uint32_t mask, uint32_t passed, Lane *self) {
    self->bits >>= ENTRY_BITS(passed);
    self->count -= passed;
    return table[self->bits & mask];
}

/* Four literals, or a repeat of whole words; 0 where it is something else. `safe`: near an end, where nothing beyond it
   may be read or written. */
static inline int take_token(Lane *self, const int safe) {
    const Codes *codes = self->codes;
    uint8_t *out = self->out;
    if (safe)
        refill(self);
    else
        refill_fast(self);
    const uint32_t entry = codes->symbols[self->bits & (CODE_ROOM - 1)];
    if (entry & LITERAL_FLAG) {
        const uint32_t second = next_entry(codes->symbols, CODE_ROOM - 1, entry, self);
        const uint32_t third = next_entry(codes->symbols, CODE_ROOM - 1, second, self);
        const uint32_t fourth = next_entry(codes->symbols, CODE_ROOM - 1, third, self);
        next_entry(codes->symbols, 0, fourth, self);
        const uint8_t word[4] = {(uint8_t)(entry >> 16), (uint8_t)(second >> 16), (uint8_t)(third >> 16),
                                 (uint8_t)(fourth >> 16)};
        copy_word(out, word);
        self->out = out + 4;
        return (second & third & fourth & LITERAL_FLAG) != 0;
    }
    const unsigned length = number_of(entry, self->bits);
    const uint32_t far = next_entry(codes->distances, codes->distance_mask, entry, self);
    const unsigned distance = number_of(far, self->bits);
    next_entry(codes->distances, 0, far, self);
    if (!length || !ENTRY_BITS(far) || (length | distance) & 3 || distance > (size_t)(out - self->first) ||
        (safe && length > (size_t)(self->end - out)))
        return 0;
    if (safe)
        for (unsigned i = 0; i < length; i += 4) copy_word(out + i, out + i - distance);
    else
        repeat(out, distance, length);
    self->out = out + length;
    return 1;
}

/* What is left behind the last whole word. */
static inline int take_literal(Lane *self) {
    refill(self);
    const uint32_t entry = self->codes->symbols[self->bits & (CODE_ROOM - 1)];
    next_entry(self->codes->symbols, 0, entry, self);
    *self->out++ = (uint8_t)(entry >> 16);
    return (entry & LITERAL_FLAG) != 0;
}

/* How many tokens there is room for, whatever they are. */
static inline size_t sure_tokens(const Lane *self) {
    const size_t out = (size_t)(self->end - self->out) / OUT_SLACK, in = (size_t)(self->in_end - self->in) / 8;
    return out < in ? out : in;
}

static inline int finish(Lane *self) {
    Lane lane = *self;
    for (size_t sure; (sure = sure_tokens(&lane)) > 0;)
        for (; sure > 0; sure--)
            if (!take_token(&lane, 0)) return 0;
    while (lane.end - lane.out >= 4)
        if (!take_token(&lane, 1)) return 0;
    while (lane.out < lane.end)
        if (!take_literal(&lane)) return 0;
    *self = lane;
    return 1;
}

/* Both go on until one of them is near its end, and that one to its end. */
static inline int go_on(Lane *first, Lane *second) {
    Lane a = *first, b = *second;
    size_t of_a, of_b;
    while ((of_a = sure_tokens(&a)) > 0 && (of_b = sure_tokens(&b)) > 0)
        for (size_t sure = of_a < of_b ? of_a : of_b; sure > 0; sure--)
            if (!(take_token(&a, 0) & take_token(&b, 0))) return 0;
    *first = a;
    *second = b;
    return finish(of_a > 0 ? second : first);
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static int go_on_avx2(Lane *first, Lane *second) { return go_on(first, second); }
AVX2 __attribute__((flatten)) static int finish_avx2(Lane *lane) { return finish(lane); }
#endif

/* The second is NULL where there is no other. */
static int inflate_lanes(Lane *first, Lane *second) {
#ifdef WITH_AVX2
    if (has_avx2()) return second ? go_on_avx2(first, second) : finish_avx2(first);
#endif
    return second ? go_on(first, second) : finish(first);
}

/* A stretch: where its block begins, in bytes, and where it begins itself, in bits; and its size, in raw bytes. */
typedef struct {
    Octets stream;
    uint32_t block, bit, size;
} Part;

/* The codes of a block. */
typedef struct {
    const uint8_t *stream;
    uint32_t block;
    Codes codes;
} Known;

/* The codes of a part's block, which may be known already; those that the other lane is at are not touched. */
static const Codes *codes_of(Known known[2], const Part *part, const Codes *busy) {
    for (int i = 0; i < 2; i++)
        if (known[i].stream == part->stream.bytes && known[i].block == part->block) return &known[i].codes;
    Known *own = busy == &known[0].codes ? known + 1 : known;
    Lane lane;
    go_to(&lane, part->stream, 8 * (uint64_t)part->block);
    own->stream = NULL;
    if (!read_codes(&lane, &own->codes)) return NULL;
    own->stream = part->stream.bytes;
    own->block = part->block;
    return &own->codes;
}

static int begin_part(Lane *lane, const Part *part, uint8_t *out, Known known[2], const Codes *busy) {
    const Codes *codes = part->stream.size ? codes_of(known, part, busy) : NULL;
    go_to(lane, part->stream, part->bit);
    lane->codes = codes;
    lane->out = lane->first = out;
    lane->end = out + part->size;
    return codes != NULL;
}

/* The raw bytes of all parts, one after the other; 0 where one of them is not as deflate.h makes it. */
static int inflate_parts(const Part *parts, size_t count, uint8_t *out, Known known[2]) {
    Lane lanes[2];
    const Part *end = parts + count;
    known[0].stream = known[1].stream = NULL;
    memset(lanes, 0, sizeof lanes);
    for (;;) {
        for (int i = 0; i < 2; i++) {
            if (lanes[i].out < lanes[i].end || parts == end) continue;
            if (!begin_part(lanes + i, parts, out, known, lanes[1 - i].codes)) return 0;
            out += parts++->size;
        }
        const int first = lanes[0].out < lanes[0].end, second = lanes[1].out < lanes[1].end;
        if (!first && !second && parts == end) return 1;
        if (!inflate_lanes(lanes + !first, first && second ? lanes + 1 : NULL)) return 0;
    }
}

#endif
