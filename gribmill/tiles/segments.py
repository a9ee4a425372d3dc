"""Where reading may begin within a deflated array: each stretch of it can be read alone, with its own checksum.

A block starts on a byte, with the codes that all its stretches share; a stretch starts on any bit. The list lies in
the member's extra field of the ZIP directory, which every other reader passes over.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from isal import isal_zlib

if TYPE_CHECKING:
    from gribmill.tiles.directory import Entry

DEFLATED = 8
MOST = 256  # beyond that many the stretches get longer: the directory must stay small
EXTRA_ID = 0x6D68
HEAD = struct.Struct("<HHII")
LONGEST = 2**31
# An empty stored block between blocks: its lengths lie on a byte, which they no longer do once bits are moved.
FLUSH_BYTES = 4


class Stretch(NamedTuple):
    """A part of a member: its place in the stream and among the raw bytes, and the checksums that frame it."""

    begin: int  # where its block begins
    end: int
    raw_begin: int
    raw_size: int
    before: int
    checksum: int
    codes: int = 0  # how many bits of the block come before its first stretch
    skip: int = 0  # and how many before this one, where it is not the first


@dataclass(frozen=True, slots=True)
class Segments:
    """Stretches of `span` raw bytes in blocks of `block`, which is a multiple of it."""

    span: int
    block: int
    blocks: Sequence[int]  # the byte of the stream where each block begins
    checksums: Sequence[int]  # of all raw bytes up to the end of each stretch
    bits: Sequence[int] = ()  # where each stretch begins; nothing where it is a block

    def extra(self) -> bytes:
        """As an extra field of a ZIP directory."""
        numbers = (*self.checksums, *self.blocks, *self.bits)
        packed = struct.pack(f"<{len(numbers)}I", *numbers)
        return HEAD.pack(EXTRA_ID, HEAD.size - 4 + len(packed), self.span, self.block) + packed


def stretches_of(entry: Entry, start: int, stop: int) -> list[Stretch]:
    """The parts of a member that hold its raw bytes from `start` to `stop`: one of each block, in their order.

    None at all where its writer left no word of stretches, or one that cannot be right.
    """
    extra = entry.extra
    if len(extra) < HEAD.size or entry.method != DEFLATED or not 0 <= start < stop <= entry.raw_size:
        return []
    kind, size, span, block = HEAD.unpack_from(extra)
    if kind != EXTRA_ID or size + 4 != len(extra) or not 0 < span <= block <= LONGEST or block % span:
        return []
    count, blocks = -(-entry.raw_size // span), -(-entry.raw_size // block)
    if len(extra) - HEAD.size != 4 * (count + blocks + (count if span < block else 0)):
        return []
    first, last, per_block = start // span, (stop - 1) // span, block // span
    found = []
    for number in range(first // per_block, last // per_block + 1):
        own = range(max(first, number * per_block), min(last, number * per_block + per_block - 1) + 1)
        stretch = _stretch(entry, own, (span, count, blocks, per_block))
        if stretch is None:
            return []
        found.append(stretch)
    return found


def _stretch(entry: Entry, own: range, sizes: tuple[int, int, int, int]) -> Stretch | None:
    """The part that the stretches `own` of one block are."""
    extra = entry.extra
    span, count, blocks, per_block = sizes
    first, last = own[0], own[-1]
    number = first // per_block
    begin = _word(extra, count + number)
    codes = skip = 0
    if first % per_block:
        codes = _word(extra, count + blocks + number * per_block) - 8 * begin
        skip = _word(extra, count + blocks + first) - 8 * begin
    end = _end(extra, entry.packed_size, sizes[1:], last)
    if skip and last + 1 < count and (last + 1) % per_block == 0:
        end -= FLUSH_BYTES
    if not 0 <= begin < end <= entry.packed_size or not 0 <= codes <= skip < 8 * (end - begin):
        return None
    raw_size = min(entry.raw_size, (last + 1) * span) - first * span
    before = _word(extra, first - 1) if first else 0
    return Stretch(begin, end, first * span, raw_size, before, _word(extra, last), codes, skip)


def inflate(stream: bytes, stretch: Stretch) -> bytes | None:
    """The raw bytes of a stretch from its part of the stream; None where they are damaged."""
    alone = _joined(stream, stretch.codes, stretch.skip) if stretch.skip else stream
    raw: bytes = isal_zlib.decompressobj(-15).decompress(alone, max_length=stretch.raw_size)
    whole = len(raw) == stretch.raw_size and isal_zlib.crc32(raw, stretch.before) == stretch.checksum
    return raw if whole else None


def _joined(stream: bytes, codes: int, skip: int) -> bytes:
    """The first bits, `codes` of them, and those from `skip` on as if nothing lay between."""
    head = int.from_bytes(stream[: codes // 8 + 1], "little") & ((1 << codes) - 1)
    rest = int.from_bytes(stream[skip // 8 :], "little") >> skip % 8
    return (head | rest << codes).to_bytes(len(stream) - skip // 8 + codes // 8 + 2, "little")


def _end(extra: bytes, packed_size: int, sizes: tuple[int, int, int], last: int) -> int:
    """The byte where a stretch ends: within its block another follows on the next bit."""
    count, blocks, per_block = sizes
    if last + 1 == count:
        return packed_size
    if (last + 1) % per_block == 0:
        return _word(extra, count + (last + 1) // per_block)
    return -(-_word(extra, count + blocks + last + 1) // 8)


def _word(extra: bytes, number: int) -> int:
    at = HEAD.size + 4 * number
    return int.from_bytes(extra[at : at + 4], "little")
