"""The page that a box is drawn on: a conformal map with north up in its middle, cropped to the box.

Tiles of projected grids are the smallest window of their grid around the box, often tilted and larger than it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats
from gribmill.draw.drawable import Drawable
from gribmill.draw.map.graticule import Extent
from gribmill.draw.map.plane import Plane

LEAST_POINTS, MOST_POINTS = 900, 2600  # along the longer side
EDGE_POINTS = 120  # along each edge of the box
WIDEST_DEG = 120.0  # wider boxes have no useful flat map: the tile's grid is drawn instead
LEAST_SHARE = 0.75  # share of the box that the grid must cover
FAR_SIDE = -0.5  # cosine of the distance from the middle beyond which nothing is projected


@dataclass(frozen=True, slots=True)
class MapPage:
    """A plane for a box, the outline of the box on it, and the positions of its points on the field's grid."""

    plane: Plane
    box: Extent
    outline: Floats  # (column, row), closed
    rows: Floats
    columns: Floats
    inside: NDArray[np.bool_]  # the box
    covered: NDArray[np.bool_]  # by the grid

    def sample(self, values: NDArray[np.floating], *, nearest: bool = False, cropped: bool = False) -> Floats:
        """A field at the page's points; NaN beyond the grid and, if `cropped`, outside the box."""
        found = _nearest(values, self.rows, self.columns) if nearest else _linear(values, self.rows, self.columns)
        return np.where(self.inside, found, np.nan) if cropped else found


def page_of(field: Drawable, source: Plane) -> MapPage | None:
    """The page of a field on a projected grid; None if its own grid is more suitable."""
    if field.box is None or np.isfinite(source.seam_columns):
        return None
    box = _extent(field.box)
    if not 0 < box.east - box.west <= WIDEST_DEG or not box.south < box.north:
        return None
    middle = (box.south + box.north) / 2, (box.west + box.east) / 2
    outline = _outline(box)
    x, y = _stereographic(outline[:, 1], outline[:, 0], *middle)
    if not np.isfinite(x).all():
        return None
    plane = _plane(x, y, middle, source)
    rows, columns = np.meshgrid(*(np.arange(n, dtype=np.float64) for n in plane.shape), indexing="ij")
    lat, lon = plane.locate(rows, columns)
    inside = (lat >= box.south) & (lat <= box.north) & ((lon - box.west) % 360 <= box.east - box.west)
    on_grid = source.project(lat, lon)
    covered = _covered(on_grid, source.shape)
    if not covered[inside].mean() >= LEAST_SHARE:
        return None
    projected = plane.project(outline[:, 1], outline[:, 0])
    return MapPage(plane, box, np.column_stack(projected[::-1]), *on_grid, inside, covered)


def in_box(field: Drawable) -> NDArray[np.bool_]:
    """Whether each point of a field is inside its box."""
    if field.box is None:
        return np.ones(field.values.shape, dtype=bool)
    box = _extent(field.box)
    lat, lon = field.lat, field.lon
    if lat.ndim == 1:
        lat, lon = np.meshgrid(lat, lon, indexing="ij")
    return np.asarray((lat >= box.south) & (lat <= box.north) & ((lon - box.west) % 360 <= box.east - box.west + 1e-9))


def _extent(box: tuple[float, float, float, float]) -> Extent:
    west, south, east, north = box
    return Extent(south, north, west, west + ((east - west) % 360 or 360.0))


def _outline(box: Extent) -> Floats:
    """The edge of the box as (lon, lat), closed: parallels are curves on most maps."""
    lon, lat = np.linspace(box.west, box.east, EDGE_POINTS), np.linspace(box.south, box.north, EDGE_POINTS)
    same = np.ones(EDGE_POINTS)
    edges = [
        (lon, box.south * same),
        (box.east * same, lat),
        (lon[::-1], box.north * same),
        (box.west * same, lat[::-1]),
    ]
    return np.concatenate([np.column_stack(edge) for edge in edges])


def _plane(x: Floats, y: Floats, middle: tuple[float, float], source: Plane) -> Plane:
    """Rows and columns over the outline, about as many as the field has, but enough to be smooth."""
    width, height = float(np.ptp(x)), float(np.ptp(y))
    points = int(np.clip(max(source.shape), LEAST_POINTS, MOST_POINTS))
    cell = max(width, height) / points
    nx, ny = (max(3, round(side / cell)) for side in (width, height))
    left, bottom = float(x.min()) + cell / 2, float(y.min()) + cell / 2

    def project(lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        across, up = _stereographic(np.asarray(lat), np.asarray(lon), *middle)
        return (up - bottom) / cell, (across - left) / cell

    def locate(row: Floats, column: Floats) -> tuple[Floats, Floats]:
        return _inverse(left + np.asarray(column) * cell, bottom + np.asarray(row) * cell, *middle)

    return Plane((ny, nx), project, locate, 1.0, np.inf)


def _stereographic(lat: Floats, lon: Floats, lat0: float, lon0: float) -> tuple[Floats, Floats]:
    """Snyder 21-2 to 21-4 on a sphere of radius 1; NaN on the far side."""
    phi, away = np.radians(lat), np.radians(np.asarray(lon) - lon0)
    sine0, cosine0 = np.sin(np.radians(lat0)), np.cos(np.radians(lat0))
    distance = sine0 * np.sin(phi) + cosine0 * np.cos(phi) * np.cos(away)
    k = 2 / (1 + np.where(distance > FAR_SIDE, distance, np.nan))
    return k * np.cos(phi) * np.sin(away), k * (cosine0 * np.sin(phi) - sine0 * np.cos(phi) * np.cos(away))


def _inverse(x: Floats, y: Floats, lat0: float, lon0: float) -> tuple[Floats, Floats]:
    """Snyder 20-14, 20-15 and 21-15."""
    sine0, cosine0 = np.sin(np.radians(lat0)), np.cos(np.radians(lat0))
    rho = np.hypot(x, y)
    c = 2 * np.arctan2(rho, 2)
    ratio = np.where(rho > 0, y / np.where(rho > 0, rho, 1), 0.0)
    lat = np.degrees(np.arcsin(np.clip(np.cos(c) * sine0 + ratio * np.sin(c) * cosine0, -1, 1)))
    lon = lon0 + np.degrees(np.arctan2(x * np.sin(c), rho * cosine0 * np.cos(c) - y * sine0 * np.sin(c)))
    return lat, (lon + 180) % 360 - 180


def _covered(places: tuple[Floats, Floats], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Whether positions are on a grid of that shape or up to a cell beyond: a box extends past its points."""
    (rows, columns), (ny, nx) = places, shape
    with np.errstate(invalid="ignore"):
        return np.asarray((rows >= -1) & (rows <= ny) & (columns >= -1) & (columns <= nx))


def _nearest(values: NDArray[np.floating], rows: Floats, columns: Floats) -> Floats:
    covered = _covered((rows, columns), values.shape)
    j = np.clip(np.rint(np.where(covered, rows, 0)), 0, values.shape[0] - 1).astype(np.intp)
    i = np.clip(np.rint(np.where(covered, columns, 0)), 0, values.shape[1] - 1).astype(np.intp)
    return np.where(covered, np.asarray(values, np.float64)[j, i], np.nan)


def _linear(values: NDArray[np.floating], rows: Floats, columns: Floats) -> Floats:
    """Linear interpolation between adjacent points that are not missing; missing if the nearest point is."""
    field = np.asarray(values, np.float64)
    present = np.isfinite(field)
    if present.all():
        return np.where(_covered((rows, columns), field.shape), _blend(field, rows, columns), np.nan)
    weighted = _blend(np.where(present, field, 0.0), rows, columns)
    weights = _blend(present.astype(np.float64), rows, columns)
    known = _nearest(present, rows, columns) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, weighted / weights, np.nan)


def _blend(field: Floats, rows: Floats, columns: Floats) -> Floats:
    ny, nx = field.shape
    j, i = np.clip(np.nan_to_num(rows), 0, ny - 1), np.clip(np.nan_to_num(columns), 0, nx - 1)
    down, left = np.minimum(j.astype(np.intp), max(ny - 2, 0)), np.minimum(i.astype(np.intp), max(nx - 2, 0))
    up, right = np.minimum(down + 1, ny - 1), np.minimum(left + 1, nx - 1)
    y, x = j - down, i - left
    south = field[down, left] * (1 - x) + field[down, right] * x
    north = field[up, left] * (1 - x) + field[up, right] * x
    return np.asarray(south * (1 - y) + north * y)
