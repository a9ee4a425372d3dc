/* Inflates segments of streams that deflate_block.h made, each with the codes of its block: whole words, from any
   segment on. Streams of other encoders are declined. Two segments are decoded at a time: while one waits for a table
   lookup, the other goes on. */
#ifndef GRIBMILL_INFLATE_H
#define GRIBMILL_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../byte_reader.h"
#include "../cpu.h"
#include "inflate_tables.h"
#include "tokens.h"

/* Matches are copied this many bytes at a time, and are at most MAX_MATCH_WORDS long: a token that begins this far from
   the end writes nothing beyond it. */
#define COPY_BYTES 16
#define OUT_SLACK (4 * MAX_MATCH_WORDS + COPY_BYTES)

/* A segment being inflated. */
typedef struct {
    BitSource source;
    const InflateTables *tables;
    uint8_t *out, *first, *end;
} InflateLane;

static inline void copy_word(uint8_t *to, const uint8_t *from) {
    uint32_t word;
    memcpy(&word, from, 4);
    memcpy(to, &word, 4);
}

/* Writes sixteen bytes at least, and at most fifteen too many. The first four words are copied one by one: most matches
   are no longer, and may be of words that were just written. Matches of a distance below sixteen are then periodic over
   sixteen or more. */
static inline void copy_match(uint8_t *out, unsigned distance, unsigned length) {
    copy_word(out, out - distance);
    copy_word(out + 4, out + 4 - distance);
    copy_word(out + 8, out + 8 - distance);
    copy_word(out + 12, out + 12 - distance);
    if (length <= COPY_BYTES) return;
    const unsigned back = distance >= COPY_BYTES ? distance : distance == 12 ? 24 : COPY_BYTES;
    for (unsigned i = COPY_BYTES; i < length; i += COPY_BYTES) memcpy(out + i, out + i - back, COPY_BYTES);
}

/* The length or distance of an entry, with the extra bits that follow its code. */
static inline unsigned entry_value(uint32_t entry, uint64_t bits) {
    const unsigned low = (unsigned)(bits & ((UINT64_C(1) << ENTRY_BITS(entry)) - 1));
    return ENTRY_BASE(entry) + (low >> ENTRY_CODE_BITS(entry));
}

/* The entry after one that is consumed. The count is reduced by all of the entry: only its lowest six bits count. */
static inline uint32_t next_entry(const uint32_t *table, uint32_t mask, uint32_t consumed, BitSource *source) {
    source->bits >>= ENTRY_BITS(consumed);
    source->count -= consumed;
    return table[source->bits & mask];
}

/* Four literals, or a match of whole words; 0 for anything else. With `careful`, near an end, nothing beyond it is read
   or written. */
static inline int inflate_token(InflateLane *self, const int careful) {
    const InflateTables *tables = self->tables;
    BitSource *source = &self->source;
    uint8_t *out = self->out;
    if (careful)
        refill(source);
    else
        refill_fast(source);
    const uint32_t entry = tables->literals[source->bits & (TABLE_SIZE - 1)];
    if (entry & LITERAL_FLAG) {
        const uint32_t second = next_entry(tables->literals, TABLE_SIZE - 1, entry, source);
        const uint32_t third = next_entry(tables->literals, TABLE_SIZE - 1, second, source);
        const uint32_t fourth = next_entry(tables->literals, TABLE_SIZE - 1, third, source);
        next_entry(tables->literals, 0, fourth, source);
        const uint8_t word[4] = {(uint8_t)(entry >> 16), (uint8_t)(second >> 16), (uint8_t)(third >> 16),
                                 (uint8_t)(fourth >> 16)};
        copy_word(out, word);
        self->out = out + 4;
        return (second & third & fourth & LITERAL_FLAG) != 0;
    }
    const unsigned length = entry_value(entry, source->bits);
    const uint32_t distance_entry = next_entry(tables->distances, tables->distance_mask, entry, source);
    const unsigned distance = entry_value(distance_entry, source->bits);
    next_entry(tables->distances, 0, distance_entry, source);
    if (!length || !ENTRY_BITS(distance_entry) || (length | distance) & 3 || distance > (size_t)(out - self->first) ||
        (careful && length > (size_t)(self->end - out)))
        return 0;
    if (careful)
        for (unsigned i = 0; i < length; i += 4) copy_word(out + i, out + i - distance);
    else
        copy_match(out, distance, length);
    self->out = out + length;
    return 1;
}

/* One of the bytes after the last whole word. */
static inline int inflate_literal(InflateLane *self) {
    refill(&self->source);
    const uint32_t entry = self->tables->literals[self->source.bits & (TABLE_SIZE - 1)];
    next_entry(self->tables->literals, 0, entry, &self->source);
    *self->out++ = (uint8_t)(entry >> 16);
    return (entry & LITERAL_FLAG) != 0;
}

/* How many tokens of any kind can be read and written without coming near an end. */
static inline size_t safe_tokens_of(const InflateLane *self) {
    const size_t out = (size_t)(self->end - self->out) / OUT_SLACK;
    const size_t in = (size_t)(self->source.in_end - self->source.in) / 8;
    return out < in ? out : in;
}

static inline int finish_portable(InflateLane *self) {
    InflateLane lane = *self;
    for (size_t safe; (safe = safe_tokens_of(&lane)) > 0;)
        for (; safe > 0; safe--)
            if (!inflate_token(&lane, 0)) return 0;
    while (lane.end - lane.out >= 4)
        if (!inflate_token(&lane, 1)) return 0;
    while (lane.out < lane.end)
        if (!inflate_literal(&lane)) return 0;
    *self = lane;
    return 1;
}

/* Both until one of them is near its end, then that one to its end. */
static inline int advance_both_portable(InflateLane *first, InflateLane *second) {
    InflateLane a = *first, b = *second;
    size_t of_a, of_b;
    while ((of_a = safe_tokens_of(&a)) > 0 && (of_b = safe_tokens_of(&b)) > 0)
        for (size_t safe = of_a < of_b ? of_a : of_b; safe > 0; safe--)
            if (!(inflate_token(&a, 0) & inflate_token(&b, 0))) return 0;
    *first = a;
    *second = b;
    return finish_portable(of_a > 0 ? second : first);
}

#ifdef WITH_AVX2
AVX2 __attribute__((flatten)) static int advance_both_avx2(InflateLane *first, InflateLane *second) {
    return advance_both_portable(first, second);
}
AVX2 __attribute__((flatten)) static int finish_avx2(InflateLane *lane) { return finish_portable(lane); }
#endif

/* `second` may be NULL. Returns 0 if a stream is not one that deflate_block.h makes. */
static int advance(InflateLane *first, InflateLane *second) {
#ifdef WITH_AVX2
    if (has_avx2()) return second ? advance_both_avx2(first, second) : finish_avx2(first);
#endif
    return second ? advance_both_portable(first, second) : finish_portable(first);
}

/* A segment: the byte where its block begins, the bit where it begins itself, and its size in raw bytes. */
typedef struct {
    ByteSpan stream;
    uint32_t block, bit, size;
} Segment;

/* The tables of the last block. */
typedef struct {
    const uint8_t *stream;
    uint32_t block;
    InflateTables tables;
} CachedTables;

/* The tables of a segment's block, which may be cached; those that the other lane uses are not overwritten. */
static const InflateTables *tables_of(CachedTables cache[2], const Segment *segment, const InflateTables *in_use) {
    for (int i = 0; i < 2; i++)
        if (cache[i].stream == segment->stream.bytes && cache[i].block == segment->block) return &cache[i].tables;
    CachedTables *own = in_use == &cache[0].tables ? cache + 1 : cache;
    BitSource source;
    seek(&source, segment->stream, 8 * (uint64_t)segment->block);
    own->stream = NULL;
    if (!read_tables(&source, &own->tables)) return NULL;
    own->stream = segment->stream.bytes;
    own->block = segment->block;
    return &own->tables;
}

static int start_segment(InflateLane *lane, const Segment *segment, uint8_t *out, CachedTables cache[2],
                         const InflateTables *in_use) {
    const InflateTables *tables = segment->stream.size ? tables_of(cache, segment, in_use) : NULL;
    seek(&lane->source, segment->stream, segment->bit);
    lane->tables = tables;
    lane->out = lane->first = out;
    lane->end = out + segment->size;
    return tables != NULL;
}

/* The raw bytes of all segments, one after another; 0 if one of them is not as deflate_block.h makes it. */
static int inflate_segments(const Segment *segments, size_t count, uint8_t *out, CachedTables cache[2]) {
    InflateLane lanes[2];
    const Segment *end = segments + count;
    cache[0].stream = cache[1].stream = NULL;
    memset(lanes, 0, sizeof lanes);
    for (;;) {
        for (int i = 0; i < 2; i++) {
            if (lanes[i].out < lanes[i].end || segments == end) continue;
            if (!start_segment(lanes + i, segments, out, cache, lanes[1 - i].tables)) return 0;
            out += segments++->size;
        }
        const int first = lanes[0].out < lanes[0].end, second = lanes[1].out < lanes[1].end;
        if (!first && !second && segments == end) return 1;
        if (!advance(lanes + !first, first && second ? lanes + 1 : NULL)) return 0;
    }
}

#endif
