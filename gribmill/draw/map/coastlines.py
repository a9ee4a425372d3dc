"""Shores of seas and lakes, borders, and the states of a few countries, from the `.npz` files beside this one.

Natural Earth 1:10m (public domain), from ECMWF's Magics: `coastlines_10m.npz` is simplified to 280 metres,
`coastlines.npz` to a kilometre. `scripts/make_coastlines.py` makes both and explains how.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

LONGEST_DEG = 0.5  # borders along a parallel are curves on most maps, so long steps are divided
SEAM_DEG = 179.98  # steps between two points beyond this are along the dateline, where rings were cut
POLE_DEG = -89.9  # the southern edge of Antarctica's ring is not a coast
DETAILED_BELOW_DEG = 25  # wider maps cannot show more than the simplified lines
ISLAND_SHARE = 1 / 400  # of a map's span: smaller islands are specks
LAKE_SHARE = 1 / 90  # and so are lakes with less than the square of this; reservoirs are long, but narrow
DETAILED_LAKE_SHARE = 1 / 400


@dataclass(frozen=True, slots=True)
class Coastlines:
    """Lines in degrees as (points, 2) arrays of longitude and latitude, a NaN row after each line."""

    land: NDArray[np.float64]
    borders: NDArray[np.float64]
    states: NDArray[np.float64]


def coastlines_for(span_deg: float) -> Coastlines:
    """The lines at the scale of a map that spans this many degrees."""
    # Rounded down to a power of two, so that few sizes are kept.
    span = float(2.0 ** np.floor(np.log2(max(span_deg, 0.1))))
    if span_deg < DETAILED_BELOW_DEG:
        return coastlines(detailed=True, lake_deg=span * DETAILED_LAKE_SHARE)
    return coastlines(island_deg=span * ISLAND_SHARE, lake_deg=span * LAKE_SHARE)


@cache
def coastlines(*, detailed: bool = False, island_deg: float = 0.0, lake_deg: float = 0.0) -> Coastlines:
    """All lines, ready to project and draw: cut at the dateline, without the edges of the cuts.

    Islands narrower than `island_deg` and lakes smaller than the square of `lake_deg` are left out.
    """
    rings = rings_of("land", detailed=detailed)
    land = [ring for ring in rings if np.ptp(ring, axis=0).max() >= island_deg and _lake_area(ring) >= lake_deg**2]
    borders, states = (drawable(rings_of(kind, detailed=detailed)) for kind in ("borders", "states"))
    return Coastlines(drawable(land), borders, states)


def rings_of(kind: str, archive: bytes | None = None, *, detailed: bool = False) -> list[NDArray[np.float64]]:
    """The lines of one kind as stored (in `archive`, else in the package); `land` consists of closed rings."""
    name = "coastlines_10m.npz" if detailed else "coastlines.npz"
    stored = archive or (files(__package__) / name).read_bytes()
    with np.load(io.BytesIO(stored), allow_pickle=False) as npz:
        quantum = float(npz["quantum_deg"])
        starts, counts, steps = npz[f"{kind}_start"], npz[f"{kind}_count"], unfolded(npz[f"{kind}_step"])
    ends = np.cumsum(counts - 1)
    lines = zip(starts, np.split(steps, ends[:-1]), strict=True)
    return [np.concatenate([[start], start + np.cumsum(step, axis=0)]) * quantum for start, step in lines]


def _lake_area(ring: NDArray[np.float64]) -> float:
    """The area of a lake, whose ring is anticlockwise, in square degrees; infinity for land."""
    lon, lat = ring.T
    area = float(lon[:-1] @ lat[1:] - lon[1:] @ lat[:-1]) / 2
    return area if area > 0 else np.inf


def unfolded(planes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Decodes steps (dx, dy) from their byte planes, with the sign in the lowest bit."""
    low, middle, high = (planes.reshape(2, 3, -1)[:, k].astype(np.int64) for k in range(3))
    folded = low | middle << 8 | high << 16
    return np.asarray(((folded >> 1) ^ -(folded & 1)).T)


def drawable(lines: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """All lines in one array, separated by NaN, also at jumps and along the dateline."""
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([piece for line in lines for piece in (line, gap)] or [gap])
    lon, lat = points.T
    with np.errstate(invalid="ignore"):
        seam = (np.abs(lon[:-1]) > SEAM_DEG) & (np.abs(lon[1:]) > SEAM_DEG)
        pole = (lat[:-1] < POLE_DEG) & (lat[1:] < POLE_DEG)
        cuts = np.flatnonzero(seam | pole | (np.abs(np.diff(lon)) > 180)) + 1
    return densified(np.insert(points, cuts, np.nan, axis=0))


def densified(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lines with additional points, so that no step is longer than LONGEST_DEG."""
    steps = np.abs(np.diff(points, axis=0)).max(axis=1)
    pieces = np.ceil(np.nan_to_num(steps, nan=1.0) / LONGEST_DEG).astype(int).clip(min=1)
    at = np.repeat(np.arange(len(pieces)), pieces)
    share = (np.arange(len(at)) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[at]
    # A step into or out of a gap is not divided, because NaN would spread to adjacent points.
    between = np.where(share[:, None] > 0, points[at] + (points[at + 1] - points[at]) * share[:, None], points[at])
    return np.concatenate([between, points[-1:]])


def within(points: NDArray[np.float64], south: float, north: float, west: float, east: float) -> NDArray[np.float64]:
    """The parts of drawable lines near these degrees; the rest need not be projected."""
    margin = 2 * LONGEST_DEG
    lon, lat = points.T
    with np.errstate(invalid="ignore"):
        near = (lat > south - margin) & (lat < north + margin)
        near &= (lon - west + margin) % 360 < east - west + 2 * margin
    # One gap after each part that is kept.
    kept = near | np.concatenate([[False], near[:-1]])
    return np.asarray(np.where(near[:, None], points, np.nan)[kept])
