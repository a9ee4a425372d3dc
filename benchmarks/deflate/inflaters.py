"""Ways to inflate arrays that the kernel deflated: whole, and the part that holds one point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import deflate
import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from benchmarks.deflate.tile_arrays import Array
from gribmill.kernel import native
from gribmill.tiles.format import restart_points
from gribmill.tiles.format.npz_writer import deflate_restartable, encode_member, npy_header
from gribmill.tiles.format.restart_points import RestartPoints, Segment, parse_restart_points
from gribmill.tiles.format.zip_directory import DEFLATED, ZipEntry
from tests.kernel.restart_segments import segment_numbers


@dataclass(frozen=True, slots=True)
class Deflated:
    """One deflated array with restart points."""

    stream: bytes
    entry: ZipEntry
    points: RestartPoints


def by_kernel(arrays: Sequence[Array]) -> list[Deflated]:
    """As in tiles, without arrays that are stored or have no restart points."""
    found = []
    for array in arrays:
        made = encode_member("x", array)
        points = parse_restart_points(made.extra, made.raw_size)
        if made.method == DEFLATED and points is not None:
            found.append(_deflated(bytes(made.data), made.raw_size, points))
    return found


def by_isal(arrays: Sequence[Array]) -> list[Deflated]:
    """The same arrays in ISA-L's restartable blocks of 64 KiB: the fallback without the kernel."""
    found = []
    for array in arrays:
        made = encode_member("x", array)
        if made.method != DEFLATED or not made.extra:
            continue
        header = npy_header(array.dtype, array.shape)
        stream = deflate_restartable(header, array.reshape(-1).view("u1").data)
        found.append(_deflated(stream.data, len(header) + array.nbytes, stream.points))
    return found


def _deflated(stream: bytes, raw_size: int, points: RestartPoints) -> Deflated:
    return Deflated(stream, ZipEntry("x", DEFLATED, points.checksums[-1], len(stream), raw_size, 0, b""), points)


def whole_kernel(arrays: Sequence[Deflated]) -> int:
    """Into newly allocated memory for each array, like the other two."""
    return sum(len(_all_segments(one)) for one in arrays)


def _all_segments(one: Deflated) -> NDArray[np.uint8]:
    numbers, out = segment_numbers(one.points, one.entry.raw_size), np.empty(one.entry.raw_size, np.uint8)
    assert native.inflate((one.stream,) * len(numbers), numbers, out)
    return out


def whole_isal(arrays: Sequence[Deflated]) -> int:
    return sum(
        len(isal_zlib.decompressobj(-15).decompress(one.stream, max_length=one.entry.raw_size + 1)) for one in arrays
    )


def whole_libdeflate(arrays: Sequence[Deflated]) -> int:
    return sum(len(deflate.deflate_decompress(one.stream, one.entry.raw_size)) for one in arrays)


Inflate = Callable[[Sequence[bytes], Sequence[Segment]], "list[restart_points.Raw | None]"]


def middle_points(arrays: Sequence[Deflated], inflate: Inflate) -> int:
    """The parts that hold the middle value of every array, checksums compared; returns how many values there are."""
    parts = []
    for one in arrays:
        middle = one.entry.raw_size // 8 * 4
        parts += [(one, part) for part in restart_points.segments_between(one.entry, one.points, middle, middle + 4)]
    found = inflate([one.stream[part.begin : part.end] for one, part in parts], [part for _, part in parts])
    assert None not in found
    return 4 * len(found)


def points_kernel(streams: Sequence[bytes], parts: Sequence[Segment]) -> list[restart_points.Raw | None]:
    return restart_points.inflate_segments(streams, parts)


def points_isal(streams: Sequence[bytes], parts: Sequence[Segment]) -> list[restart_points.Raw | None]:
    return [
        restart_points.checked(restart_points.inflate_by_isal(stream, part), part)
        for stream, part in zip(streams, parts, strict=True)
    ]
