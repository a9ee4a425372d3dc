"""Regular latitude-longitude grids (GFS, ECMWF, waves), and the base class that rotated ones share with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.columns import MeridianGrid, column_of, eastward_step
from gribmill.regions.grids.grid import check_number, check_part


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeGrid(MeridianGrid):
    """Even steps in latitude and longitude, geographic or rotated.

    `south`: the first row; `dlat`: the step in degrees, positive.
    """

    south: float
    dlat: float

    def __post_init__(self) -> None:
        MeridianGrid.__post_init__(self)
        put = object.__setattr__
        put(self, "dlat", check_number("dlat", self.dlat, 1e-6, 180))
        put(self, "south", check_number("south", self.south, -90.001, 90.001))
        check_number("its north-most latitude", self.south + (self.ny - 1) * self.dlat, -90.001, 90.001)

    @classmethod
    def spanning(cls, *, nx: int, ny: int, south: float, north: float, west: float, east: float, **values: Any) -> Self:
        """From first and last points. Steps computed from them are more accurate than rounded increments."""
        return cls(
            nx=nx,
            ny=ny,
            south=south,
            west=west,
            dlat=(north - south) / (ny - 1) if ny > 1 else 1.0,
            dlon=eastward_step(west, east, nx),
            **values,
        )

    @property
    def y(self) -> Floats:
        return self.south + self.dlat * np.arange(self.ny, dtype=np.float64)

    @property
    def cell_km(self) -> float:
        return math.radians(self.dlat) * self.earth.a / 1000

    def part(self, j: int, ny: int, i: int, nx: int) -> Self:
        check_part(self.shape, self.wraps, j, ny, i, nx)
        return replace(self, nx=nx, ny=ny, south=self.south + j * self.dlat, west=self.west + i * self.dlon)

    def numbers(self) -> dict[str, Any]:
        """The part of `spec` that these grids have in common."""
        return {
            "nx": self.nx,
            "ny": self.ny,
            "south": self.south,
            "west": self.west,
            "dlat": self.dlat,
            "dlon": self.dlon,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LatLonGrid(DegreeGrid):
    """Rows are parallels and columns meridians, both evenly spaced."""

    @property
    def separable(self) -> bool:
        return True

    def latlon(self, j: npt.ArrayLike, i: npt.ArrayLike) -> tuple[Floats, Floats]:
        lat, lon = np.broadcast_arrays(
            self.south + self.dlat * np.asarray(j, dtype=np.float64),
            wrap_longitude(self.west + self.dlon * np.asarray(i, dtype=np.float64)),
        )
        return lat, lon

    def index(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        j, i = np.broadcast_arrays(
            (np.asarray(lat, dtype=np.float64) - self.south) / self.dlat,
            column_of(lon, self.west, self.dlon, self.nx),
        )
        return j, i

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(np.shape(lat), np.shape(lon)))

    def cf(self) -> dict[str, Any]:
        return {"grid_mapping_name": "latitude_longitude", **self.earth.cf()}

    def spec(self) -> dict[str, Any]:
        return {"kind": "latlon", **self.numbers(), "earth": [self.earth.a, self.earth.b]}
