"""The plane that a tile is drawn on: its rows and columns, and the position of any point on the Earth on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gribmill.arrays import Floats
from gribmill.draw.drawable import Drawable
from gribmill.draw.errors import DrawError

Project = Callable[[Floats, Floats], tuple[Floats, Floats]]

MARGIN_CELLS = 200  # lines are kept this far outside, so that none ends inside the frame
STEP_CELLS = 0.02  # difference for directions: small compared with any curvature, large compared with rounding


@dataclass(frozen=True, slots=True)
class Plane:
    """Rows and columns as y and x. `project` converts lat, lon to (row, column); `locate` is its inverse."""

    shape: tuple[int, int]
    project: Project
    locate: Project
    aspect: float  # height of a row step divided by the width of a column step
    seam_columns: float  # a line that jumps over more columns crosses the edge of the map

    def lines(self, points: Floats) -> Floats:
        """Lines of (lon, lat), NaN between them, as (column, row), clipped to the tile and its surroundings."""
        row, column = self.project(points[:, 1], points[:, 0])
        ny, nx = self.shape
        reach = max(ny, nx) + MARGIN_CELLS
        with np.errstate(invalid="ignore"):
            near = (column > -reach) & (column < nx + reach) & (row > -reach) & (row < ny + reach)
            jumps = np.flatnonzero(np.abs(np.diff(column)) > self.seam_columns) + 1
        placed = np.where(near[:, None], np.column_stack([column, row]), np.nan)
        return np.insert(placed, jumps, np.nan, axis=0)

    def axis_angle(self, row: ArrayLike, column: ArrayLike) -> Floats:
        """Radians by which the map's x axis is rotated from east, anticlockwise."""
        j, i = np.asarray(row, dtype=np.float64), np.asarray(column, dtype=np.float64)
        lat0, lon0 = self.locate(j, i - STEP_CELLS)
        lat1, lon1 = self.locate(j, i + STEP_CELLS)
        east = ((lon1 - lon0 + 180) % 360 - 180) * np.cos(np.radians((lat0 + lat1) / 2))
        return np.arctan2(lat1 - lat0, east)


def plane_of(field: Drawable) -> Plane:
    """The plane of a field: by latitudes and longitudes, or by its grid."""
    axes = _axes(field)
    if axes is not None:
        return _separable(*axes)
    grid = field.grid
    if grid is None:
        raise DrawError(f"{field.name or 'a field'} is on a projected grid, which is not given: it cannot be drawn")
    ny, nx = shape = field.values.shape
    return Plane(shape, grid.index, grid.latlon, _aspect(grid.latlon, ny / 2, nx / 2), np.inf)


def _axes(field: Drawable) -> tuple[Floats, Floats] | None:
    """1-D latitudes and continuous longitudes, also if they were given as 2-D arrays."""
    lat, lon = np.asarray(field.lat, np.float64), np.asarray(field.lon, np.float64)
    if lat.ndim == 2:
        if not (np.ptp(lat, axis=1).max() < 1e-6 and np.ptp(lon, axis=0).max() < 1e-6):
            return None
        lat, lon = lat[:, 0], lon[0]
    return lat, np.unwrap(lon, period=360)


def _separable(lat: Floats, lon: Floats) -> Plane:
    ny, nx = len(lat), len(lon)
    dlon = float(lon[-1] - lon[0]) / (nx - 1) if nx > 1 else 1.0
    dlat = float(lat[-1] - lat[0]) / (ny - 1) if ny > 1 else dlon
    if nx == 1 and ny > 1:
        dlon = dlat
    west = float(lon[0]) + dlon * (nx - 1) / 2 - 180  # the edge of the map is opposite its middle

    def project(lats: Floats, lons: Floats) -> tuple[Floats, Floats]:
        # Rows are interpolated, since Gaussian latitudes are not evenly spaced, and extrapolated beyond the ends.
        row = np.interp(lats, lat, np.arange(ny)) if ny > 1 else np.zeros_like(lats)
        row = row + np.minimum(lats - lat[0], 0) / dlat + np.maximum(lats - lat[-1], 0) / dlat
        return row, ((lons - west) % 360 + west - lon[0]) / dlon

    def locate(rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        lats = np.interp(rows, np.arange(ny), lat)
        lats = lats + (np.minimum(rows, 0) + np.maximum(rows - (ny - 1), 0)) * dlat
        return np.clip(lats, -90, 90), (lon[0] + columns * dlon + 180) % 360 - 180

    middle = np.cos(np.radians((lat[0] + lat[-1]) / 2))
    return Plane((ny, nx), project, locate, dlat / (dlon * max(float(middle), 0.1)), 180 / dlon)


def _aspect(locate: Project, row: float, column: float) -> float:
    """Height divided by width of a cell on the ground, in the middle of the tile."""
    lat, lon = locate(np.array([row, row, row + 1]), np.array([column, column + 1, column]))
    x = (lon - lon[0] + 180) % 360 - 180
    x, y = x * np.cos(np.radians(lat[0])), lat - lat[0]
    width, height = np.hypot(x[1], y[1]), np.hypot(x[2], y[2])
    return float(height / width) if width > 0 and height > 0 else 1.0
