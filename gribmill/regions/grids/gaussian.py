"""Regular Gaussian grids: rows at the roots of a Legendre polynomial (GFS flux files)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.errors import RegionError
from gribmill.regions.grids.columns import MeridianGrid, column_of, eastward_step
from gribmill.regions.grids.grid import Earth, check_part

MOST_PARALLELS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianGrid(MeridianGrid):
    """`n` parallels between pole and equator; `first_row` is counted from the southernmost of all 2n rows."""

    n: int
    first_row: int

    def __post_init__(self) -> None:
        MeridianGrid.__post_init__(self)
        _check_parallels(self.n)
        if self.first_row < 0 or self.first_row + self.ny > 2 * self.n:
            raise RegionError(
                f"{self.ny} rows from row {self.first_row} are not within the {2 * self.n} of n = {self.n}"
            )

    @classmethod
    def spanning(
        cls, *, n: int, nx: int, ny: int, south: float, west: float, east: float, earth: Earth
    ) -> GaussianGrid:
        """The grid with this latitude of the southernmost row, and these first and last longitudes."""
        _check_parallels(n)
        first_row = int(np.argmin(np.abs(gaussian_latitudes(n) - south)))
        return cls(n=n, first_row=first_row, ny=ny, nx=nx, west=west, dlon=eastward_step(west, east, nx), earth=earth)

    @property
    def y(self) -> Floats:
        return gaussian_latitudes(self.n)[self.first_row : self.first_row + self.ny]

    @property
    def separable(self) -> bool:
        return True

    @property
    def cell_km(self) -> float:
        return math.pi / (2 * self.n) * self.earth.a / 1000

    def latlon(self, j: npt.ArrayLike, i: npt.ArrayLike) -> tuple[Floats, Floats]:
        row = np.asarray(j, dtype=np.float64)
        lat, lon = np.broadcast_arrays(
            np.interp(row, np.arange(self.ny), self.y, left=np.nan, right=np.nan),
            wrap_longitude(self.west + self.dlon * np.asarray(i, dtype=np.float64)),
        )
        return lat, lon

    def index(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Rows are spaced unevenly: j is interpolated linearly between adjacent rows, and extrapolated beyond them."""
        latitude = np.asarray(lat, dtype=np.float64)
        y, step = self.y, 90.0 / self.n
        inner = np.interp(latitude, y, np.arange(self.ny, dtype=np.float64))
        beyond = (np.maximum(latitude - y[-1], 0.0) + np.minimum(latitude - y[0], 0.0)) / step
        j, i = np.broadcast_arrays(inner + beyond, column_of(lon, self.west, self.dlon, self.nx))
        return j, i

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(np.shape(lat), np.shape(lon)))

    def part(self, j: int, ny: int, i: int, nx: int) -> GaussianGrid:
        check_part(self.shape, self.wraps, j, ny, i, nx)
        return replace(self, first_row=self.first_row + j, ny=ny, nx=nx, west=self.west + i * self.dlon)

    def cf(self) -> dict[str, Any]:
        return {"grid_mapping_name": "latitude_longitude", **self.earth.cf()}

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "gaussian",
            "n": self.n,
            "first_row": self.first_row,
            "ny": self.ny,
            "nx": self.nx,
            "west": self.west,
            "dlon": self.dlon,
            "earth": [self.earth.a, self.earth.b],
        }


def _check_parallels(n: int) -> None:
    if not 1 <= n <= MOST_PARALLELS:
        raise RegionError(f"a Gaussian grid cannot have n = {n}: 1 to {MOST_PARALLELS} are possible")


@lru_cache(maxsize=8)
def gaussian_latitudes(n: int) -> Floats:
    """The 2n latitudes south to north: arcsines of the roots of the Legendre polynomial of degree 2n."""
    degree = 2 * n
    k = np.arange(1, n + 1)
    z = np.cos(np.pi * (k - 0.25) / (degree + 0.5))
    for _ in range(10):
        previous, value = np.ones(n), z.copy()
        for m in range(2, degree + 1):
            previous, value = value, ((2 * m - 1) * z * value - (m - 1) * previous) / m
        step = value * (z * z - 1) / (degree * (z * value - previous))
        z -= step
        if np.abs(step).max() < 1e-15:
            break
    north = np.degrees(np.arcsin(z))
    latitudes = np.concatenate([-north, north[::-1]])
    latitudes.flags.writeable = False
    return latitudes
