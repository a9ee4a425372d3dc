"""Where reading may begin within a deflated array: each stretch of it stands alone, with its own checksum.

The list lies in the member's extra field of the ZIP directory, which every other reader passes over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from isal import isal_zlib

SPAN = 2**16  # shorter ones deflate worse and slower: 0.5 % and 6 % here, 1.2 % and 16 % at 2**15
MOST = 256  # beyond that many the stretches get longer: the directory must stay small
EXTRA_ID = 0x6D67
HEAD = struct.Struct("<HHI")


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

    def stretch(self, start: int, stop: int) -> tuple[range, int, int]:
        """Which segments hold the raw bytes from `start` to `stop`, and their place in the stream."""
        numbers = range(start // self.span, (stop - 1) // self.span + 1)
        return numbers, self.ends[numbers[0] - 1] if numbers[0] else 0, self.ends[numbers[-1]]

    def inflate(self, numbers: range, stream: bytes, raw_size: int) -> bytes | None:
        """The raw bytes of these segments from their part of the stream; None where they are damaged."""
        size = min(raw_size, (numbers[-1] + 1) * self.span) - numbers[0] * self.span
        raw: bytes = isal_zlib.decompressobj(-15).decompress(stream, max_length=size)
        before = self.checksums[numbers[0] - 1] if numbers[0] else 0
        return raw if len(raw) == size and isal_zlib.crc32(raw, before) == self.checksums[numbers[-1]] else None


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


def segments_of(extra: bytes, raw_size: int, packed_size: int) -> Segments | None:
    """The list in an extra field; None where there is none, or it cannot be right."""
    if len(extra) < HEAD.size:
        return None
    kind, size, span = HEAD.unpack_from(extra)
    if kind != EXTRA_ID or size + 4 != len(extra) or not 0 < span <= 2**31:
        return None
    count = -(-raw_size // span)
    if size - 4 != 8 * count:
        return None
    numbers = struct.unpack_from(f"<{2 * count}I", extra, HEAD.size)
    ends = numbers[:count]
    if list(ends) != sorted(set(ends)) or ends[-1] != packed_size:
        return None
    return Segments(span, ends, numbers[count:])


def _parts(body: memoryview, span: int, taken: int) -> Iterator[tuple[memoryview, bool]]:
    """The body's share of each segment, of which the header has `taken` bytes already; and whether it is the last."""
    start = 0
    while start < len(body):
        stop = start + span - (taken if start == 0 else 0)
        yield body[start:stop], stop >= len(body)
        start = stop
