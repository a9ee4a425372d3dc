"""Where reading may begin within a deflated array: each stretch of it stands alone, with its own checksum.

The list lies in the member's extra field of the ZIP directory, which every other reader passes over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from isal import isal_zlib

if TYPE_CHECKING:
    from gribmill.tiles.directory import Entry

DEFLATED = 8
SPAN = 2**16  # shorter ones deflate worse and slower: 0.5 % and 6 % here, 1.2 % and 16 % at 2**15
MOST = 256  # beyond that many the stretches get longer: the directory must stay small
EXTRA_ID = 0x6D67
HEAD = struct.Struct("<HHI")


class Stretch(NamedTuple):
    """A part of a member: its place in the stream and among the raw bytes, and the checksums that frame it."""

    begin: int
    end: int
    raw_begin: int
    raw_size: int
    before: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Segments:
    """Stretches of `span` raw bytes: where each ends in the stream, and the checksum of all bytes up to there."""

    span: int
    ends: tuple[int, ...]
    checksums: tuple[int, ...]

    def extra(self) -> bytes:
        """As an extra field of a ZIP directory."""
        numbers = struct.pack(f"<{2 * len(self.ends)}I", *self.ends, *self.checksums)
        return HEAD.pack(EXTRA_ID, 4 + len(numbers), self.span) + numbers


def deflate_in_segments(header: bytes, body: memoryview, level: int) -> tuple[bytes, int, Segments]:
    """One deflate stream of header and body, its checksum, and where one may begin to read it."""
    raw_size = len(header) + len(body)
    span = SPAN * -(-raw_size // (SPAN * MOST))
    compressor: Any = isal_zlib.compressobj(level, isal_zlib.DEFLATED, -15)
    pieces = [compressor.compress(header)]
    crc = isal_zlib.crc32(header)
    size = len(pieces[0])
    ends, checksums = [], []
    for part, last in _parts(body, span, len(header)):
        piece = compressor.compress(part)
        rest = compressor.flush(isal_zlib.Z_FINISH if last else isal_zlib.Z_FULL_FLUSH)
        crc = isal_zlib.crc32(part, crc)
        size += len(piece) + len(rest)
        pieces += [piece, rest]
        ends.append(size)
        checksums.append(crc)
    return b"".join(pieces), crc, Segments(span, tuple(ends), tuple(checksums))


def stretch_of(entry: Entry, start: int, stop: int) -> Stretch | None:
    """The stretch of a member that holds its raw bytes from `start` to `stop`.

    None where its writer left no word of stretches, or one that cannot be right.
    """
    extra = entry.extra
    if len(extra) < HEAD.size or entry.method != DEFLATED or not 0 <= start < stop <= entry.raw_size:
        return None
    kind, size, span = HEAD.unpack_from(extra)
    count = -(-entry.raw_size // span) if 0 < span <= 2**31 else 0
    if kind != EXTRA_ID or size + 4 != len(extra) or not count or size - 4 != 8 * count:
        return None
    first, last = start // span, (stop - 1) // span
    begin, before = (_word(extra, first - 1), _word(extra, count + first - 1)) if first else (0, 0)
    end = _word(extra, last)
    if not begin < end <= entry.packed_size:
        return None
    raw_end = min(entry.raw_size, (last + 1) * span)
    return Stretch(begin, end, first * span, raw_end - first * span, before, _word(extra, count + last))


def inflate(stream: bytes, stretch: Stretch) -> bytes | None:
    """The raw bytes of a stretch from its part of the stream; None where they are damaged."""
    raw: bytes = isal_zlib.decompressobj(-15).decompress(stream, max_length=stretch.raw_size)
    whole = len(raw) == stretch.raw_size and isal_zlib.crc32(raw, stretch.before) == stretch.checksum
    return raw if whole else None


def _word(extra: bytes, number: int) -> int:
    return int.from_bytes(extra[HEAD.size + 4 * number : HEAD.size + 4 * number + 4], "little")


def _parts(body: memoryview, span: int, taken: int) -> Iterator[tuple[memoryview, bool]]:
    """The body's share of each segment, of which the header has `taken` bytes already; and whether it is the last."""
    start = 0
    while start < len(body):
        stop = start + span - (taken if start == 0 else 0)
        yield body[start:stop], stop >= len(body)
        start = stop
