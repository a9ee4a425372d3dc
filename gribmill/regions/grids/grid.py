"""The interface of all grids. Row 0 is the southernmost (smallest y), column 0 the westernmost (smallest x)."""

from __future__ import annotations

import math
from typing import Any, Literal, Protocol

import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError

Corner = Literal["sw", "se", "nw", "ne"]

# More rows or columns than any weather grid has: anything beyond is an error or an attack.
MOST_POINTS_ALONG = 200_000
# More points than any grid has: the largest published one has 47 million.
MOST_POINTS = 64_000_000


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
