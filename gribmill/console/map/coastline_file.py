"""Coastlines, borders and states of a box as a small NPZ file, which the map reads like a tile."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.draw.map.coastlines import coastlines_for, within
from gribmill.regions.box import Box
from gribmill.tiles.format.npz_writer import encode_member, zip_pieces

# The largest span of a box, and the quantum for it, both in degrees.
QUANTA = ((8, 0.0002), (100, 0.001), (360, 0.005))
# Marks the end of a line; no real step is that long.
BREAK = -(2**31)


@lru_cache(maxsize=64)
def coastline_file(west: float, south: float, east: float, north: float) -> bytes:
    """The lines near this box: `land`, `borders` and `states` as steps in units of `quantum_deg`."""
    width = Box(west, south, east, north).width
    span = max(width, north - south)
    quantum = next(step for most, step in QUANTA if span <= most)
    lines = coastlines_for(span)
    arrays: dict[str, npt.NDArray[np.generic]] = {"quantum_deg": np.array(quantum)}
    for kind in ("land", "borders", "states"):
        arrays[kind] = steps_of(within(getattr(lines, kind), south, north, west, west + width), quantum)
    members = [encode_member(name, array, "compact") for name, array in arrays.items()]
    return b"".join(bytes(piece) for piece in zip_pieces(members))


def steps_of(points: Floats, quantum: float) -> npt.NDArray[np.int32]:
    """Lines as (2, n) integer steps in longitude and latitude between points; each line starts from zero.

    A column of BREAK ends each line.
    """
    if not len(points):
        return np.empty((2, 0), np.int32)
    finite = np.isfinite(points[:, 0])
    # Points that coincide after rounding, and repeated gaps, are left out.
    whole = np.where(finite[:, None], np.rint(np.nan_to_num(points) / quantum), BREAK).astype(np.int64)
    changed = np.ones(len(whole), dtype=bool)
    changed[1:] = (whole[1:] != whole[:-1]).any(axis=1)
    whole = whole[changed]
    gap = whole[:, 0] == BREAK
    steps = np.diff(whole, axis=0, prepend=np.zeros((1, 2), np.int64))
    first = np.concatenate([[True], gap[:-1]])[: len(whole)]
    steps[first] = whole[first]
    steps[gap] = BREAK
    return np.ascontiguousarray(steps.T.astype(np.int32))
