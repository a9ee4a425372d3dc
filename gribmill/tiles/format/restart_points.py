"""Where reading may begin within a deflated array: a list in the ZIP directory, which every other reader passes over.

A block starts on a byte, with the codes that all its stretches share; a stretch starts on any bit, and has its own
checksum.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 256  # beyond that many the stretches get longer: the directory must stay small
EXTRA_ID = 0x6D68
HEAD = struct.Struct("<HHII")
LONGEST = 2**31


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


def segments_in(extra: bytes, raw_size: int) -> Segments | None:
    """The list in the extra field of an array of so many raw bytes; None where there is none that can be right."""
    if len(extra) < HEAD.size:
        return None
    kind, size, span, block = HEAD.unpack_from(extra)
    if kind != EXTRA_ID or size + 4 != len(extra) or not 0 < span <= block <= LONGEST or block % span:
        return None
    count, blocks = -(-raw_size // span), -(-raw_size // block)
    if len(extra) - HEAD.size != 4 * (count + blocks + (count if span < block else 0)):
        return None
    numbers = array("I", extra[HEAD.size :])
    if sys.byteorder == "big":
        numbers.byteswap()
    return Segments(span, block, numbers[count : count + blocks], numbers[:count], numbers[count + blocks :])
