"""The segments of a stream that the kernel deflated, as its `inflate` takes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.kernel import native
from gribmill.tiles.format.restart_points import Segments


def segment_numbers(segments: Segments, raw_size: int) -> NDArray[np.uint32]:
    """For each segment: the byte of its block, its own bit, its raw size."""
    count = len(segments.checksums)
    numbers = np.empty((count, 3), np.uint32)
    numbers[:, 0] = np.asarray(segments.blocks)[np.arange(count) // (segments.block // segments.span)]
    numbers[:, 1] = segments.bits
    numbers[:, 2] = segments.span
    numbers[-1, 2] = raw_size - (count - 1) * segments.span
    return numbers


def inflate_all(stream: bytes, segments: Segments, raw_size: int) -> bytes | None:
    """All raw bytes; None where the kernel declines."""
    numbers, out = segment_numbers(segments, raw_size), bytearray(raw_size)
    return bytes(out) if native.inflate((stream,) * len(numbers), numbers, out) else None
