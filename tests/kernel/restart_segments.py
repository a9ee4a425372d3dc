"""The segments of a stream that the kernel deflated, as its `inflate` takes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.kernel import native
from gribmill.tiles.format.restart_points import RestartPoints


def segment_numbers(points: RestartPoints, raw_size: int) -> NDArray[np.uint32]:
    """For each segment: the byte of its block, its own bit, its raw size."""
    count = len(points.checksums)
    numbers = np.empty((count, 3), np.uint32)
    numbers[:, 0] = np.asarray(points.block_offsets)[np.arange(count) // (points.block_size // points.segment_size)]
    numbers[:, 1] = points.bit_offsets
    numbers[:, 2] = points.segment_size
    numbers[-1, 2] = raw_size - (count - 1) * points.segment_size
    return numbers


def inflate_all(stream: bytes, points: RestartPoints, raw_size: int) -> bytes | None:
    """All raw bytes; None where the kernel declines."""
    numbers, out = segment_numbers(points, raw_size), bytearray(raw_size)
    return bytes(out) if native.inflate((stream,) * len(numbers), numbers, out) else None
