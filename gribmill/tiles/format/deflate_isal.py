"""An array as one deflate stream that may be read from several places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from isal import isal_zlib

from gribmill.tiles.format.restart_points import MOST, Segments

BLOCK = 2**16
ISAL_LEVEL = 2


@dataclass(frozen=True, slots=True)
class Stream:
    """Deflated bytes, the checksum of what they were, and where one may begin to read."""

    data: bytes
    crc: int
    segments: Segments


def deflate_bytes(header: bytes, body: memoryview) -> Stream:
    """Of any array, by ISA-L: a block ends where a stretch does."""
    span = _span(len(header) + len(body))
    if len(header) + len(body) <= span:
        return _deflate_at_once(header + body, span)
    compressor: Any = isal_zlib.compressobj(ISAL_LEVEL, isal_zlib.DEFLATED, -15)
    pieces = [compressor.compress(header)]
    begins = [0]
    for begin, end in pairwise(_cuts(header, body, span)):
        pieces.append(compressor.compress(body[begin:end]))
        pieces.append(compressor.flush(isal_zlib.Z_FINISH if end == len(body) else isal_zlib.Z_FULL_FLUSH))
        begins.append(begins[-1] + len(pieces[-2]) + len(pieces[-1]) + (len(pieces[0]) if begin == 0 else 0))
    checksums = list(_checksums(header, body, span))
    return Stream(b"".join(pieces), checksums[-1], Segments(span, span, begins[:-1], checksums))


def _deflate_at_once(raw: bytes, span: int) -> Stream:
    """A single stretch: in half the time, and a third smaller."""
    data = isal_zlib.compress(raw, ISAL_LEVEL, -15)
    crc = isal_zlib.crc32(raw)
    return Stream(data, crc, Segments(span, span, [0], [crc]))


def _span(size: int) -> int:
    """The length of a stretch, so that there are not too many of them."""
    span = BLOCK
    while size > span * MOST:
        span *= 2
    return span


def _cuts(header: bytes, body: memoryview, span: int) -> Sequence[int]:
    """Where stretches begin and end in the body: the header is part of the first."""
    return [0, *range(span - len(header), len(body), span), len(body)]


def _checksums(header: bytes, body: memoryview, span: int) -> Iterator[int]:
    crc: int = isal_zlib.crc32(header)
    for begin, end in pairwise(_cuts(header, body, span)):
        crc = isal_zlib.crc32(body[begin:end], crc)
        yield crc
