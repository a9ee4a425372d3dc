"""The interface of all grids, and the shape of the Earth that a grid assumes: a sphere or an ellipsoid.

Row 0 is the southernmost (smallest y), column 0 the westernmost (smallest x).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError

Corner = Literal["sw", "se", "nw", "ne"]

# More rows or columns than any weather grid has: anything beyond is an error or an attack.
MOST_POINTS_ALONG = 200_000
# More points than any grid has: the largest published one has 47 million.
MOST_POINTS = 64_000_000
# Each iteration reduces the error by e² (0.0067 on the Earth, at most 0.04 here): seven reach full precision.
_LATITUDE_STEPS = 7
_MOST_FLATTENING = 0.02
# The mean length of a degree of latitude, for grid spacings.
KM_PER_DEGREE = 111.2


@dataclass(frozen=True, slots=True)
class Earth:
    """Semi-axes in metres: `a` at the equator, `b` at the poles; equal on a sphere."""

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not (1e6 <= self.a <= 1e8 and (1 - _MOST_FLATTENING) * self.a <= self.b <= self.a):
            raise RegionError(f"no Earth has the semi-axes {self.a:g} and {self.b:g} m")

    @property
    def is_sphere(self) -> bool:
        """True if both axes are equal."""
        return self.a == self.b

    @property
    def eccentricity(self) -> float:
        """First eccentricity, 0 on a sphere."""
        return math.sqrt((self.a - self.b) * (self.a + self.b)) / self.a

    def cf(self) -> dict[str, float]:
        """The CF grid mapping attributes of this shape."""
        if self.is_sphere:
            return {"earth_radius": self.a}
        return {"semi_major_axis": self.a, "semi_minor_axis": self.b}

    def parallel_radius(self, lat_deg: float) -> float:
        """Radius of a parallel, in units of `a`."""
        phi = math.radians(lat_deg)
        return math.cos(phi) / math.sqrt(1.0 - (self.eccentricity * math.sin(phi)) ** 2)

    def conformal_colatitude(self, lat_deg: npt.ArrayLike) -> Floats:
        """tan of half the conformal colatitude: 0 at the north pole, 1 at the equator, huge in the far south.

        All three conformal projections are simple functions of it.
        """
        phi = np.radians(np.asarray(lat_deg, dtype=np.float64))
        t = np.tan(np.pi / 4 - phi / 2)
        if self.is_sphere:
            return np.asarray(t)
        e = self.eccentricity
        return np.asarray(t * np.exp(e * np.arctanh(e * np.sin(phi))))

    def latitude(self, conformal_colatitude: Floats) -> Floats:
        """The inverse of `conformal_colatitude`: latitude in degrees."""
        t = np.asarray(conformal_colatitude, dtype=np.float64)
        phi = np.pi / 2 - 2 * np.arctan(t)
        e = self.eccentricity
        if e > 0.0:
            for _ in range(_LATITUDE_STEPS):
                phi = np.pi / 2 - 2 * np.arctan(t * np.exp(-e * np.arctanh(e * np.sin(phi))))
        return np.asarray(np.degrees(phi))


class Grid(Protocol):
    """An immutable, hashable value that is cheap to create, to compare and to use as a key."""

    def __hash__(self) -> int:
        """Equal grids have equal hashes."""

    @property
    def shape(self) -> tuple[int, int]:
        """(ny, nx)."""

    @property
    def y(self) -> Floats:
        """Coordinate of each row, ascending: degrees, or metres on a projected grid."""

    @property
    def x(self) -> Floats:
        """Coordinate of each column, ascending without a jump: degrees, or metres on a projected grid."""

    @property
    def wraps(self) -> bool:
        """True if the first column follows the last."""

    @property
    def separable(self) -> bool:
        """True if latitude depends only on the row and longitude only on the column."""

    @property
    def cell_km(self) -> float:
        """Nominal distance between adjacent points."""

    def latlon(self, j: npt.ArrayLike, i: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Latitude and longitude (in [-180, 180)) of indices, which may be fractional; they broadcast."""

    def index(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Fractional (j, i) of points, also outside the grid; NaN for points that the projection cannot represent."""

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        """Radians a with u_east = u cos a + v sin a and v_north = v cos a - u sin a."""

    def part(self, j: int, ny: int, i: int, nx: int) -> Grid:
        """The grid of a window; `i + nx` may exceed the number of columns of a grid that wraps."""

    def cf(self) -> dict[str, Any]:
        """CF grid mapping attributes."""

    def spec(self) -> dict[str, Any]:
        """Plain values from which `grid_from_spec` creates an equal grid."""


def check_count(name: str, count: int) -> int:
    """The number of rows or columns. Raises RegionError if it is not valid."""
    if isinstance(count, bool) or int(count) != count or not 1 <= count <= MOST_POINTS_ALONG:
        raise RegionError(f"a grid cannot have {name} = {count}: 1 to {MOST_POINTS_ALONG} are possible")
    return int(count)


def check_number(name: str, value: float, low: float, high: float) -> float:
    """The number. Raises RegionError unless it is finite and within [low, high]."""
    number = float(value)
    if not (math.isfinite(number) and low <= number <= high):
        raise RegionError(f"a grid cannot have {name} = {value:g}: it must be between {low:g} and {high:g}")
    return number


def check_part(shape: tuple[int, int], wraps: bool, j: int, ny: int, i: int, nx: int) -> None:
    """Raise RegionError if a window is not on the grid."""
    rows, columns = shape
    reach = columns * 2 if wraps else columns
    if not (j >= 0 and ny >= 1 and j + ny <= rows and 0 <= i < columns and 1 <= nx <= columns and i + nx <= reach):
        raise RegionError(f"rows {j}+{ny}, columns {i}+{nx} are not a part of a grid of {rows}×{columns} points")
