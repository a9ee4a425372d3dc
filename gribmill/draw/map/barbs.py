"""Wind barbs on a map: thinned to a readable density, and rotated to the map's axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gribmill.draw.drawable import Barbs
from gribmill.draw.map.plane import Plane
from gribmill.tiles.read.units import KNOTS_PER_M_S

BARBS_ACROSS = 26  # along the longer side: about 9 mm apart on the page
CROWDED_DEG = 88.0  # closer to a pole, the columns of a lat-lon grid converge


@dataclass(frozen=True, slots=True)
class MapBarbs:
    """Barbs at (column, row), in knots along the map's x and y; `flip` in the southern hemisphere."""

    column: NDArray[np.float64]
    row: NDArray[np.float64]
    u: NDArray[np.float64]
    v: NDArray[np.float64]
    flip: NDArray[np.bool_]


def map_barbs(barbs: Barbs, plane: Plane) -> MapBarbs:
    """The barbs to draw: earth-relative winds rotated by the angle of the map's x axis at each point."""
    ny, nx = plane.shape
    spacing = max(nx, ny * plane.aspect) / BARBS_ACROSS
    rows, columns = _spread(ny, spacing / plane.aspect), _spread(nx, spacing)
    j, i = (a.ravel() for a in np.meshgrid(rows, columns, indexing="ij"))
    lat, _ = plane.locate(j.astype(np.float64), i.astype(np.float64))
    east, north = np.asarray(barbs.u, np.float64)[j, i], np.asarray(barbs.v, np.float64)[j, i]
    keep = np.isfinite(east) & np.isfinite(north) & (np.abs(lat) < CROWDED_DEG)
    row, column = j[keep].astype(np.float64), i[keep].astype(np.float64)
    u, v = along_map_axes(east[keep], north[keep], plane.axis_angle(row, column))
    return MapBarbs(column, row, u * KNOTS_PER_M_S, v * KNOTS_PER_M_S, lat[keep] < 0)


def along_map_axes(
    east: NDArray[np.float64], north: NDArray[np.float64], angle: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The components along axes rotated by `angle` radians anticlockwise from east and north."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return east * cosine + north * sine, north * cosine - east * sine


def _spread(count: int, spacing: float) -> NDArray[np.intp]:
    """Every n-th index, about `spacing` apart, with equal margins and gaps even on coarse grids."""
    every = max(1, round(spacing))
    return np.arange((count - 1) % every // 2, count, every)
