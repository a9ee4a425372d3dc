"""Base class of grids on a map projection: evenly spaced points on a plane, in metres."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError
from gribmill.regions.grids.grid import Corner, Earth, check_count, check_number, check_part

# Ten times around the Earth: anything beyond is an error.
_FARTHEST_M = 4e8


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneGrid(ABC):
    """`x0`, `y0`: coordinates of column 0 and row 0 on the plane, in metres; `dx`, `dy`: positive steps."""

    nx: int
    ny: int
    dx: float
    dy: float
    x0: float
    y0: float
    earth: Earth

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "nx", check_count("nx", self.nx))
        put(self, "ny", check_count("ny", self.ny))
        for name in ("dx", "dy"):
            put(self, name, check_number(name, getattr(self, name), 0.001, 1e7))
        for name in ("x0", "y0"):
            put(self, name, check_number(name, getattr(self, name), -_FARTHEST_M, _FARTHEST_M))

    @classmethod
    def at_corner(cls, lat: float, lon: float, corner: Corner = "sw", **values: Any) -> Self:
        """A grid placed by the latitude and longitude of one corner point, as in GRIB, instead of `x0` and `y0`."""
        check_number("latitude of its first point", lat, -90, 90)
        check_number("longitude of its first point", lon, -720, 720)
        bare = cls(x0=0.0, y0=0.0, **values)
        x, y = bare.project(lat, lon)
        if not (np.isfinite(x) and np.isfinite(y)):
            raise RegionError(f"the first point {lat:g}, {lon:g} has no place on the grid's map")
        return replace(
            bare,
            x0=float(x) - (bare.dx * (bare.nx - 1) if corner.endswith("e") else 0.0),
            y0=float(y) - (bare.dy * (bare.ny - 1) if corner.startswith("n") else 0.0),
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.ny, self.nx

    @property
    def y(self) -> Floats:
        return self.y0 + self.dy * np.arange(self.ny, dtype=np.float64)

    @property
    def x(self) -> Floats:
        return self.x0 + self.dx * np.arange(self.nx, dtype=np.float64)

    @property
    def wraps(self) -> bool:
        return False

    @property
    def separable(self) -> bool:
        return False

    @property
    def cell_km(self) -> float:
        return max(self.dx, self.dy) / 1000

    @abstractmethod
    def project(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The x and y on the plane, in metres."""

    @abstractmethod
    def unproject(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The latitude and longitude of x and y on the plane."""

    def latlon(self, j: npt.ArrayLike, i: npt.ArrayLike) -> tuple[Floats, Floats]:
        return self.unproject(
            self.x0 + self.dx * np.asarray(i, dtype=np.float64),
            self.y0 + self.dy * np.asarray(j, dtype=np.float64),
        )

    def index(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        x, y = self.project(lat, lon)
        return (y - self.y0) / self.dy, (x - self.x0) / self.dx

    def part(self, j: int, ny: int, i: int, nx: int) -> Self:
        check_part(self.shape, self.wraps, j, ny, i, nx)
        return replace(self, ny=ny, nx=nx, x0=self.x0 + i * self.dx, y0=self.y0 + j * self.dy)

    def plane_spec(self) -> dict[str, Any]:
        """The part of `spec` that all projected grids share."""
        return {
            "nx": self.nx,
            "ny": self.ny,
            "dx": self.dx,
            "dy": self.dy,
            "x0": self.x0,
            "y0": self.y0,
            "earth": [self.earth.a, self.earth.b],
        }
