"""Determines whether points are on land, from the coastlines, fast enough for every pixel of a picture."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats
from gribmill.draw.map.coastlines import rings_of

BANDS = 180  # edges are sorted into belts of one degree, so that a point is compared with few of them


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
