"""Parts of an array in a file that can be read alone, each with its own checksum."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from isal import igzip_lib, isal_zlib

from gribmill.kernel import native

if TYPE_CHECKING:
    from gribmill.tiles.format.restart_points import Segments
    from gribmill.tiles.format.zip_directory import Entry

Raw = bytes | memoryview
INFLATE_ERRORS: Any = (igzip_lib.IsalError, EOFError, ValueError)

STORED = 0
# As many as the kernel takes in one call. One array's list cannot tell of so many; those of many arrays can.
MOST_PARTS = 65536
# ISA-L looks further than the code it is at: without anything behind it, the last one is not always taken.
AHEAD_BYTES = 8
# Blocks of nothing: with the codes that every inflater knows, and with codes of its own. As number and size in bits,
# of which the one is even and the other odd: between them they fill up any byte.
EMPTY = 0b010, 10
EMPTY_ODD = 0x4D5FF10000000000081C004, 91


class Stretch(NamedTuple):
    """A part of an array: its place in the stream and among the raw bytes, and the checksums that frame it."""

    begin: int  # where its block begins
    end: int  # and where nothing more is needed: some bytes behind it
    raw_begin: int
    raw_size: int
    before: int
    checksum: int
    codes: int = 0  # how many bits of the block come before its first stretch, where the list tells
    skip: int = 0  # and how many before this one
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
    if bits:
        codes, skip = bits[number * per_block] - 8 * begin, bits[first] - 8 * begin
    end, raw_end = entry.packed_size, entry.raw_size
    if last + 1 < len(checksums):
        # Within its block another one follows on the next bit.
        end = segments.blocks[number + 1] if (last + 1) % per_block == 0 else -(-bits[last + 1] // 8)
        raw_end = (last + 1) * span
    if not begin < end <= entry.packed_size or not 0 <= codes <= skip < 8 * (end - begin):
        return None
    stored = entry.method == STORED
    if not stored:
        end = min(end + AHEAD_BYTES, entry.packed_size)
    before = checksums[first - 1] if first else 0
    return Stretch(begin, end, first * span, raw_end - first * span, before, checksums[last], codes, skip, stored)


def inflate(streams: Sequence[bytes], stretches: Sequence[Stretch]) -> list[Raw | None]:
    """The raw bytes of each stretch, from its part of a stream; None for those that are damaged."""
    told = [number for number, stretch in enumerate(stretches) if stretch.codes]
    raws = _by_kernel([streams[number] for number in told], [stretches[number] for number in told])
    by_number = dict(zip(told, raws, strict=True))
    return [
        _proven(by_number.get(number), stretch) or _proven(_by_isal(stream, stretch), stretch)
        for number, (stream, stretch) in enumerate(zip(streams, stretches, strict=True))
    ]


def _by_kernel(streams: Sequence[bytes], stretches: Sequence[Stretch]) -> list[Raw | None]:
    """All in one call, which is faster than one by one; nothing where the kernel is not there, or cannot."""
    if not 0 < len(streams) <= MOST_PARTS or not native.available():
        return [None] * len(streams)
    places = array("I", [number for stretch in stretches for number in (0, stretch.skip, stretch.raw_size)])
    out = np.empty(sum(stretch.raw_size for stretch in stretches), np.uint8).data
    if not native.inflate(tuple(streams), places, out):
        return [None] * len(streams)
    ends = list(accumulate(stretch.raw_size for stretch in stretches))
    return [out[end - stretch.raw_size : end] for end, stretch in zip(ends, stretches, strict=True)]


def _by_isal(stream: bytes, stretch: Stretch) -> bytes | None:
    if stretch.stored:
        return stream
    if stretch.skip > stretch.codes:
        stream = _joined(stream, stretch.codes, stream[stretch.skip // 8 :], stretch.skip)
    try:
        raw: bytes = isal_zlib.decompressobj(-15).decompress(stream, max_length=stretch.raw_size)
    except INFLATE_ERRORS:
        return None
    return raw


def _proven(raw: Raw | None, stretch: Stretch) -> Raw | None:
    if raw is None or len(raw) != stretch.raw_size:
        return None
    return raw if isal_zlib.crc32(raw, stretch.before) == stretch.checksum else None


def _joined(block: bytes, codes: int, rest: bytes, skip: int) -> bytes:
    """The first bits of a block, `codes` of them, and what begins at its bit `skip`, as if nothing lay between.

    They are moved to where they end on the bit at which the rest begins, so that its bytes stay as they are.
    """
    filler, size = FILLERS[(skip - codes) % 8]
    bits = filler | (int.from_bytes(block[: codes // 8 + 1], "little") & ((1 << codes) - 1)) << size
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
