"""Synthetic fields to draw."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gribmill.arrays import Floats
from gribmill.draw.drawable import Drawable
from gribmill.regions.grids import Earth, LambertGrid

HRRR = LambertGrid.at_corner(
    21.138123,
    237.280472,
    earth=Earth(6371229.0, 6371229.0),
    ny=1059,
    nx=1799,
    dx=3000.0,
    dy=3000.0,
    lov=262.5,
    latin1=38.5,
    latin2=38.5,
    lad=38.5,
)


def regular(values: Any, west: float = -10.0, south: float = 40.0, step: float = 0.5, **words: Any) -> Drawable:
    """A field on a regular grid."""
    array = np.asarray(values, dtype=np.float32)
    lat, lon = south + step * np.arange(array.shape[0]), west + step * np.arange(array.shape[1])
    facts = {"units": "K", "long_name": "Temperature at 2 m", "name": "t2m", "palette": "temperature", **words}
    return Drawable(array, lat, lon, **facts)


def northeast(step: int = 8, **words: Any) -> Drawable:
    """The north-east of HRRR's grid, every `step`-th point, values rising eastward."""
    rows, columns = np.arange(560, 1018, step), np.arange(1340, 1798, step)
    lat, lon = HRRR.latlon(rows[:, None], columns[None, :])
    grid = LambertGrid.at_corner(
        float(lat[0, 0]), float(lon[0, 0]), earth=HRRR.earth, ny=len(rows), nx=len(columns),
        dx=3000.0 * step, dy=3000.0 * step, lov=262.5, latin1=38.5, latin2=38.5, lad=38.5,
    )  # fmt: skip
    values = np.broadcast_to(np.linspace(270, 300, len(columns), dtype=np.float32), lat.shape)
    return Drawable(values, lat, lon, units="K", palette="temperature", grid=grid, **words)


class PolarPlane:
    """An azimuthal equidistant plane with the north pole at row and column 20."""

    def latlon(self, j: ArrayLike, i: ArrayLike, /) -> tuple[Floats, Floats]:
        y, x = np.asarray(j) - 20.0, np.asarray(i) - 20.0
        return 90 - np.hypot(x, y), np.degrees(np.arctan2(x, -y))

    def index(self, lat: ArrayLike, lon: ArrayLike, /) -> tuple[Floats, Floats]:
        away, angle = 90.0 - np.asarray(lat), np.radians(lon)
        return 20 - away * np.cos(angle), 20 + away * np.sin(angle)


def polar() -> Drawable:
    """A field around the north pole, warmer away from it."""
    lat, lon = PolarPlane().latlon(*np.mgrid[0:41, 0:41])
    return Drawable(340 - lat, lat, lon, "K", palette="temperature", grid=PolarPlane())


WORDS: dict[str, Any] = {
    "model": "hrrr",
    "run": "2023-07-22 06Z",
    "region": "ne · Northeast",
    "hour": 1,
    "valid": datetime(2023, 7, 22, 7, tzinfo=UTC),
}
