"""Shores of seas and lakes, borders, and the states of a few countries, from the `.npz` files beside this one.

The shores also determine whether a point is on land, fast enough for every pixel of a picture.

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

from gribmill.arrays import Floats

LONGEST_DEG = 0.5  # borders along a parallel are curves on most maps, so long steps are divided
SEAM_DEG = 179.98  # steps between two points beyond this are along the dateline, where rings were cut
POLE_DEG = -89.9  # the southern edge of Antarctica's ring is not a coast
DETAILED_BELOW_DEG = 25  # wider maps cannot show more than the simplified lines
ISLAND_SHARE = 1 / 400  # of a map's span: smaller islands are specks
LAKE_SHARE = 1 / 90  # and so are lakes with less than the square of this; reservoirs are long, but narrow
DETAILED_LAKE_SHARE = 1 / 400
BANDS = 180  # edges are sorted into belts of one degree, so that a point is compared with few of them


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


def is_land(lat: Floats, lon: Floats) -> NDArray[np.bool_]:
    """True inside an odd number of rings (a lake inside a ring is water); longitudes may be in any range."""
    lats = np.asarray(lat, np.float64).ravel()
    lons = (np.asarray(lon, np.float64).ravel() + 180) % 360 - 180
    inside = np.zeros(len(lats), dtype=bool)
    bands = _band(np.nan_to_num(lats))
    for number in np.unique(bands):
        edges = _edges()[number]
        here = np.flatnonzero(bands == number)
        for part in np.array_split(here, max(1, len(here) // 256)):
            inside[part] = _crossings_west(lats[part], lons[part], edges) % 2 == 1
    return (inside & np.isfinite(lats)).reshape(np.shape(lat))


def _crossings_west(lats: Floats, lons: Floats, edges: Floats) -> NDArray[np.intp]:
    """The number of edges (lon, lat, lon, lat) crossed by the way from the dateline eastward to each point."""
    x0, y0, x1, y1 = edges.T
    y = lats[:, None]
    spans = (y0 <= y) != (y1 <= y)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    return np.asarray(np.count_nonzero(spans & (x < lons[:, None]), axis=1))


@cache
def _edges() -> list[Floats]:
    """The edges of all rings, by the belts of latitude that they touch."""
    pieces = [np.hstack([ring[:-1], ring[1:]]) for ring in rings_of("land")]
    edges = np.concatenate(pieces)
    jump = np.abs(edges[:, 2] - edges[:, 0]) > 180
    edges = np.concatenate([edges[~jump], _closed_at_dateline(edges[jump])])
    low, high = _band(edges[:, [1, 3]].min(axis=1)), _band(edges[:, [1, 3]].max(axis=1))
    return [edges[(low <= number) & (number <= high)] for number in range(BANDS)]


def _closed_at_dateline(steps: Floats) -> Floats:
    """Steps over the dateline, each cut there and closed by a wall from the cut to the south pole.

    Two walls of one ring cancel beyond its cuts; Antarctica has only one, which ends in its middle.
    """
    east_first = steps[:, :1] > 0
    east, west = np.where(east_first, steps[:, :2], steps[:, 2:]), np.where(east_first, steps[:, 2:], steps[:, :2])
    before, after = 180 - east[:, 0], west[:, 0] + 180
    share = np.where(before + after > 0, before / np.maximum(before + after, 1e-12), 0.0)
    cut = east[:, 1] + share * (west[:, 1] - east[:, 1])
    dateline, pole = np.full_like(cut, -180.0), np.full_like(cut, -90.0)
    return np.concatenate(
        [
            np.column_stack([east, -dateline, cut]),
            np.column_stack([west, dateline, cut]),
            np.column_stack([dateline, cut, dateline, pole]),
        ]
    )


def _band(lat: Floats) -> NDArray[np.intp]:
    return np.clip((lat + 90) * BANDS / 180, 0, BANDS - 1).astype(np.intp)
