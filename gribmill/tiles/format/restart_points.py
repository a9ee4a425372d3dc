"""Restart points of a deflated array: positions where inflating can start, so that parts can be read separately.

They are listed in an extra field of the ZIP directory, which other readers ignore. A deflate block starts at a byte
boundary, with the code lengths for all its segments; a segment starts at any bit of a block and has a checksum.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from isal import igzip_lib, isal_zlib

from gribmill.kernel import native

if TYPE_CHECKING:
    from gribmill.tiles.format.zip_directory import ZipEntry

Raw = bytes | memoryview
INFLATE_ERRORS: Any = (igzip_lib.IsalError, EOFError, ValueError)

MOST_SEGMENTS = 256  # larger arrays get longer segments, so that the ZIP directory stays small
EXTRA_ID = 0x6D68
EXTRA_HEAD = struct.Struct("<HHII")
LONGEST = 2**31
STORED = 0
# The kernel's limit for one call, which only the segments of many arrays together can reach.
MOST_PER_CALL = 65536
# ISA-L reads ahead: without more bytes it does not always decode the last symbol.
READ_AHEAD_BYTES = 8
# Empty deflate blocks with fixed and with dynamic Huffman codes, as an integer and its size in bits. One size is even
# and the other odd, so that together they can pad to any bit offset.
EMPTY_FIXED = 0b010, 10
EMPTY_DYNAMIC = 0x4D5FF10000000000081C004, 91


@dataclass(frozen=True, slots=True)
class RestartPoints:
    """Segments of `segment_size` raw bytes, in blocks of `block_size`, a multiple of it."""

    segment_size: int
    block_size: int
    block_offsets: Sequence[int]  # the byte offset of each block in the stream
    checksums: Sequence[int]  # CRC-32 of all raw bytes up to the end of each segment
    bit_offsets: Sequence[int] = ()  # the bit offset of each segment; empty if every segment is a block

    def extra_field(self) -> bytes:
        """The extra field of the ZIP directory."""
        numbers = (*self.checksums, *self.block_offsets, *self.bit_offsets)
        packed = struct.pack(f"<{len(numbers)}I", *numbers)
        size = EXTRA_HEAD.size - 4 + len(packed)
        return EXTRA_HEAD.pack(EXTRA_ID, size, self.segment_size, self.block_size) + packed


class Segment(NamedTuple):
    """A part of an array: its bytes in the stream, its raw bytes, and the running checksums before and after it."""

    begin: int  # the start of its block
    end: int  # the end of its last byte, plus a few bytes
    raw_begin: int
    raw_size: int
    crc_before: int
    crc: int
    header_bits: int = 0  # bits of the block before its first segment; 0 if the segment is a whole block
    skip_bits: int = 0  # bits of the block before this segment
    stored: bool = False  # the stream is not compressed


def parse_restart_points(extra: bytes, raw_size: int) -> RestartPoints | None:
    """Parses the extra field of an array of `raw_size` bytes; None if it has no valid list."""
    if len(extra) < EXTRA_HEAD.size:
        return None
    kind, size, segment, block = EXTRA_HEAD.unpack_from(extra)
    if kind != EXTRA_ID or size + 4 != len(extra) or not 0 < segment <= block <= LONGEST or block % segment:
        return None
    count, blocks = -(-raw_size // segment), -(-raw_size // block)
    if len(extra) - EXTRA_HEAD.size != 4 * (count + blocks + (count if segment < block else 0)):
        return None
    numbers = array("I", extra[EXTRA_HEAD.size :])
    if sys.byteorder == "big":
        numbers.byteswap()
    return RestartPoints(segment, block, numbers[count : count + blocks], numbers[:count], numbers[count + blocks :])


def segments_between(entry: ZipEntry, points: RestartPoints | None, start: int, stop: int) -> list[Segment]:
    """The parts of an array that contain its raw bytes from `start` to `stop`: one per block, in order.

    Empty if the array has no restart points, or invalid ones.
    """
    if points is None or not 0 <= start < stop <= entry.raw_size:
        return []
    first, last = start // points.segment_size, (stop - 1) // points.segment_size
    per_block = points.block_size // points.segment_size
    found = []
    while first <= last:
        number, within = divmod(first, per_block)
        block_last = first - within + per_block - 1
        segment = _segment(entry, points, number, first, last if last < block_last else block_last)
        if segment is None:
            return []
        found.append(segment)
        first = block_last + 1
    return found


def _segment(entry: ZipEntry, points: RestartPoints, block: int, first: int, last: int) -> Segment | None:
    """Segments `first` to `last` of one block, as one part."""
    size, checksums, bits = points.segment_size, points.checksums, points.bit_offsets
    per_block = points.block_size // size
    begin, header_bits, skip_bits = points.block_offsets[block], 0, 0
    if bits:
        header_bits, skip_bits = bits[block * per_block] - 8 * begin, bits[first] - 8 * begin
    end, raw_end = entry.packed_size, entry.raw_size
    if last + 1 < len(checksums):
        # Within a block, the next segment follows at the next bit.
        end = points.block_offsets[block + 1] if (last + 1) % per_block == 0 else -(-bits[last + 1] // 8)
        raw_end = (last + 1) * size
    if not begin < end <= entry.packed_size or not 0 <= header_bits <= skip_bits < 8 * (end - begin):
        return None
    stored = entry.method == STORED
    if not stored:
        end = min(end + READ_AHEAD_BYTES, entry.packed_size)
    crc_before = checksums[first - 1] if first else 0
    raw_size = raw_end - first * size
    return Segment(begin, end, first * size, raw_size, crc_before, checksums[last], header_bits, skip_bits, stored)


def inflate_segments(streams: Sequence[bytes], segments: Sequence[Segment]) -> list[Raw | None]:
    """The raw bytes of each segment, from its part of the stream; None for damaged segments."""
    of_kernel = [number for number, segment in enumerate(segments) if segment.header_bits]
    raws = _by_kernel([streams[number] for number in of_kernel], [segments[number] for number in of_kernel])
    by_number = dict(zip(of_kernel, raws, strict=True))
    return [
        checked(by_number.get(number), segment) or checked(inflate_by_isal(stream, segment), segment)
        for number, (stream, segment) in enumerate(zip(streams, segments, strict=True))
    ]


def _by_kernel(streams: Sequence[bytes], segments: Sequence[Segment]) -> list[Raw | None]:
    """All in one call, which is faster than one by one; None for all if the kernel is missing or declines."""
    if not 0 < len(streams) <= MOST_PER_CALL or not native.available():
        return [None] * len(streams)
    places = array("I", [number for segment in segments for number in (0, segment.skip_bits, segment.raw_size)])
    out = np.empty(sum(segment.raw_size for segment in segments), np.uint8).data
    if not native.inflate(tuple(streams), places, out):
        return [None] * len(streams)
    ends = list(accumulate(segment.raw_size for segment in segments))
    return [out[end - segment.raw_size : end] for end, segment in zip(ends, segments, strict=True)]


def inflate_by_isal(stream: bytes, segment: Segment) -> bytes | None:
    """The raw bytes of one segment, unverified; None if ISA-L rejects the stream."""
    if segment.stored:
        return stream
    if segment.skip_bits > segment.header_bits:
        stream = _spliced(stream, segment.header_bits, stream[segment.skip_bits // 8 :], segment.skip_bits)
    try:
        raw: bytes = isal_zlib.decompressobj(-15).decompress(stream, max_length=segment.raw_size)
    except INFLATE_ERRORS:
        return None
    return raw


def checked(raw: Raw | None, segment: Segment) -> Raw | None:
    """The raw bytes; None if the size or checksum is wrong."""
    if raw is None or len(raw) != segment.raw_size:
        return None
    return raw if isal_zlib.crc32(raw, segment.crc_before) == segment.crc else None


def _spliced(block: bytes, header_bits: int, rest: bytes, skip_bits: int) -> bytes:
    """The header of a block, followed by the bits from its bit `skip_bits` on.

    Empty blocks before the header shift it so that it ends where the rest starts, whose bytes need not be shifted.
    """
    filler, size = FILLERS[(skip_bits - header_bits) % 8]
    bits = filler | (int.from_bytes(block[: header_bits // 8 + 1], "little") & ((1 << header_bits) - 1)) << size
    whole, within = divmod(size + header_bits, 8)
    bits |= (int.from_bytes(rest[:1], "little") >> within << within) << 8 * whole
    return bits.to_bytes(whole + 1, "little") + rest[1:]


def _fillers() -> dict[int, tuple[int, int]]:
    """Sequences of empty blocks by their size in bits modulo 8, each as an integer and its size."""
    found = {}
    for bits, size in ((0, 0), EMPTY_DYNAMIC):
        for _ in range(4):
            found[size % 8] = bits, size
            bits, size = bits | EMPTY_FIXED[0] << size, size + EMPTY_FIXED[1]
    return found


FILLERS = _fillers()
