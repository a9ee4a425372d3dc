"""Parts of an array in a file that can be read alone, each with its own checksum."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from isal import isal_zlib

if TYPE_CHECKING:
    from gribmill.tiles.directory import Entry
    from gribmill.tiles.segments import Segments

# What gives the bytes of a stream from one place to another.
Read = Callable[[int, int], bytes]

STORED = 0
# ISA-L looks further than the code it is at: without anything behind it, the last one is not always taken.
AHEAD_BYTES = 8
# Blocks of nothing: with the codes that every inflater knows, and with codes of its own. As number and size in bits,
# of which the one is even and the other odd: between them they fill up any byte.
EMPTY = 0b010, 10
EMPTY_ODD = 0x4D5FF10000000000081C004, 91


class Stretch(NamedTuple):
    """A part of an array: its place in the stream and among the raw bytes, and the checksums that frame it."""

    begin: int  # where its block begins
    end: int
    raw_begin: int
    raw_size: int
    before: int
    checksum: int
    codes: int = 0  # how many bits of the block come before its first stretch
    skip: int = 0  # and how many before this one, where it is not the first
    stored: bool = False  # the stream is the raw bytes themselves


def stretches_of(entry: Entry, segments: Segments | None, start: int, stop: int) -> list[Stretch]:
    """The parts of an array that hold its raw bytes from `start` to `stop`: one of each block, in their order.

    None at all where its writer left no word of stretches, or one that cannot be right.
    """
    if segments is None or not 0 <= start < stop <= entry.raw_size:
        return []
    first, last, per_block = start // segments.span, (stop - 1) // segments.span, segments.block // segments.span
    found = []
    while first <= last:
        number, within = divmod(first, per_block)
        block_last = first - within + per_block - 1
        stretch = _stretch(entry, segments, number, first, last if last < block_last else block_last)
        if stretch is None:
            return []
        found.append(stretch)
        first = block_last + 1
    return found


def _stretch(entry: Entry, segments: Segments, number: int, first: int, last: int) -> Stretch | None:
    """The part that these stretches of one block are."""
    span, checksums, bits = segments.span, segments.checksums, segments.bits
    per_block = segments.block // span
    begin, codes, skip = segments.blocks[number], 0, 0
    if first != number * per_block:
        codes, skip = bits[number * per_block] - 8 * begin, bits[first] - 8 * begin
    end, raw_end = entry.packed_size, entry.raw_size
    if last + 1 < len(checksums):
        # Within its block another one follows on the next bit.
        follows = segments.blocks[number + 1] if (last + 1) % per_block == 0 else -(-bits[last + 1] // 8)
        end, raw_end = follows, (last + 1) * span
    if not begin < end <= entry.packed_size or not 0 <= codes <= skip < 8 * (end - begin):
        return None
    before = checksums[first - 1] if first else 0
    stored = entry.method == STORED
    return Stretch(begin, end, first * span, raw_end - first * span, before, checksums[last], codes, skip, stored)


def inflate(read: Read, stretch: Stretch) -> bytes | None:
    """The raw bytes of a stretch; None where they are damaged."""
    begin, codes, skip = stretch.begin, stretch.codes, stretch.skip
    if stretch.stored:
        raw = read(begin, stretch.end)
    else:
        stream = read(begin + skip // 8, stretch.end + AHEAD_BYTES)
        if skip:
            stream = _joined(read(begin, begin + codes // 8 + 1), codes, stream, skip)
        raw = isal_zlib.decompressobj(-15).decompress(stream, max_length=stretch.raw_size)
    whole = len(raw) == stretch.raw_size and isal_zlib.crc32(raw, stretch.before) == stretch.checksum
    return raw if whole else None


def _joined(head: bytes, codes: int, rest: bytes, skip: int) -> bytes:
    """The first bits of a block, `codes` of them, and what begins at its bit `skip`, as if nothing lay between.

    They are moved to where they end on the bit at which the rest begins, so that its bytes stay as they are.
    """
    filler, size = FILLERS[(skip - codes) % 8]
    bits = filler | (int.from_bytes(head, "little") & ((1 << codes) - 1)) << size
    whole, within = divmod(size + codes, 8)
    bits |= (int.from_bytes(rest[:1], "little") >> within << within) << 8 * whole
    return bits.to_bytes(whole + 1, "little") + rest[1:]


def _fillers() -> dict[int, tuple[int, int]]:
    """By the bits they leave over beyond whole bytes: empty blocks, as number and size in bits."""
    found = {}
    for bits, size in ((0, 0), EMPTY_ODD):
        for _ in range(4):
            found[size % 8] = bits, size
            bits, size = bits | EMPTY[0] << size, size + EMPTY[1]
    return found


FILLERS = _fillers()
