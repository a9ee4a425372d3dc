"""Coasts, borders, US states and the Great Lakes' US shore, from `coastlines.npz` beside this file.

Natural Earth 4.1 (public domain, through npm `world-atlas`) and US Census Bureau boundaries of 2017 (public
domain, through npm `us-atlas`); `scripts/make_coastlines.py` makes the file and says how.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

LONGEST_DEG = 0.5  # borders along a parallel are curves on most maps, so long steps get points in between
SEAM_DEG = 179.98  # steps between two points beyond this run along the dateline, where rings were cut


@dataclass(frozen=True, slots=True)
class Coastlines:
    """Lines in degrees as (points, 2) arrays of longitude and latitude, a NaN row after each line."""

    land: NDArray[np.float64]
    borders: NDArray[np.float64]
    states: NDArray[np.float64]
    lakes: NDArray[np.float64]


@cache
def coastlines() -> Coastlines:
    """Every line, ready to project and draw: cut at the dateline, without the cuts' own edges."""
    return Coastlines(**{kind: drawable(rings_of(kind)) for kind in ("land", "borders", "states", "lakes")})


def rings_of(kind: str, archive: bytes | None = None) -> list[NDArray[np.float64]]:
    """The lines of one kind as stored (in `archive`, else in the package); those of `land` are closed rings."""
    stored = archive or (files(__package__) / "coastlines.npz").read_bytes()
    with np.load(io.BytesIO(stored), allow_pickle=False) as npz:
        quantum = float(npz["quantum_deg"])
        starts, counts, steps = npz[f"{kind}_start"], npz[f"{kind}_count"], unfolded(npz[f"{kind}_step"])
    ends = np.cumsum(counts - 1)
    lines = zip(starts, np.split(steps, ends[:-1]), strict=True)
    return [np.concatenate([[start], start + np.cumsum(step, axis=0)]) * quantum for start, step in lines]


def unfolded(planes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Steps (dx, dy) from their byte planes, the sign taken back out of the lowest bit."""
    low, middle, high = (planes.reshape(2, 3, -1)[:, k].astype(np.int64) for k in range(3))
    folded = low | middle << 8 | high << 16
    return np.asarray(((folded >> 1) ^ -(folded & 1)).T)


def drawable(lines: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """All lines in one array, broken by NaN at each end, at jumps and along the dateline."""
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([piece for line in lines for piece in (line, gap)])
    lon = points[:, 0]
    with np.errstate(invalid="ignore"):
        seam = (np.abs(lon[:-1]) > SEAM_DEG) & (np.abs(lon[1:]) > SEAM_DEG)
        cuts = np.flatnonzero(seam | (np.abs(np.diff(lon)) > 180)) + 1
    return densified(np.insert(points, cuts, np.nan, axis=0))


def densified(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same lines with no step longer than LONGEST_DEG."""
    steps = np.abs(np.diff(points, axis=0)).max(axis=1)
    pieces = np.ceil(np.nan_to_num(steps, nan=1.0) / LONGEST_DEG).astype(int).clip(min=1)
    at = np.repeat(np.arange(len(pieces)), pieces)
    share = (np.arange(len(at)) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[at]
    # A step into or out of a gap is not divided: NaN would spread to the points beside it.
    between = np.where(share[:, None] > 0, points[at] + (points[at + 1] - points[at]) * share[:, None], points[at])
    return np.concatenate([between, points[-1:]])
