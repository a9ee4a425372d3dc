"""Winds on a whole grid, rotated to east and north: the reference for every region's window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import rotate
from gribmill.regions.grids import Grid


def earth_relative(u: Field, v: Field) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Eastward and northward components, rotated where the message says they are along the grid."""
    if not u.grid_relative_winds:
        return u.values(), v.values()
    return rotate(u.values(), v.values(), *turn_of(u.grid))


def turn_of(grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine and sine of the grid's rotation at each of its points."""
    ny, nx = grid.shape
    lat, lon = grid.latlon(np.arange(ny)[:, None], np.arange(nx)[None, :])
    angle = grid.rotation(lat, lon)
    return np.cos(angle), np.sin(angle)
