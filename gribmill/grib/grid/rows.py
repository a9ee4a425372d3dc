"""The points of a message as rows: how many, in which order, and their conversion to south→north and west→east.

The rows of a reduced Gaussian grid have fewer points towards the poles. They are expanded to the length of the longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gribmill.grib.errors import GribError
from gribmill.grib.product.keys import ECMWF
from gribmill.grib.sections import optional, unsigned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gribmill.regions.window import Window

# The octet of the scanning mode in each GRIB2 grid template. Columns and rows are in octets 31-38.
SCANNING_OCTET = {0: 72, 1: 72, 2: 72, 3: 72, 10: 60, 12: 60, 20: 65, 30: 65, 31: 65, 40: 72, 41: 72, 42: 72,
                  43: 72, 32768: 72, 32769: 72}  # fmt: skip
# GRIB1 grids of rows and columns: lat-lon, Mercator, Lambert, Gaussian, polar stereographic, rotated.
ROWS_AND_COLUMNS1 = {0, 1, 3, 4, 5, 10, 13, 14}
# Instead of the number of columns, if rows differ in length.
NOT_GIVEN1 = 0xFFFF
# Grids with rows and columns in the same octets that are not supported in tiles: Albers, stretched, space view, NCEP's
# staggered grids. Spherical harmonics are complex numbers up to a total wave number.
OTHER_ROWS1 = {8, 20, 24, 30, 34, 90, 203, 205}
HARMONICS1 = 50

I_NEGATIVE, J_POSITIVE, J_CONSECUTIVE, ALTERNATING = 0x80, 0x40, 0x20, 0x10
STAGGERED = 0x0F


@dataclass(frozen=True, slots=True)
class ScanLayout:
    """Rows, columns and the scanning mode (flag table 3.4)."""

    ny: int
    nx: int
    scanning: int

    def normalise(self, flat: NDArray[np.float64]) -> NDArray[np.float32]:
        """The values as float32 rows south→north of columns west→east."""
        if self.scanning & STAGGERED:
            raise GribError(f"scanning mode {self.scanning} has staggered rows, which are not supported")
        by_column = bool(self.scanning & J_CONSECUTIVE)
        lines: NDArray[Any] = flat.reshape((self.nx, self.ny) if by_column else (self.ny, self.nx))
        if self.scanning & ALTERNATING:
            lines = lines.copy()
            lines[1::2] = lines[1::2, ::-1]
        rows = lines.T if by_column else lines
        if not self.scanning & J_POSITIVE:
            rows = rows[::-1]
        if self.scanning & I_NEGATIVE:
            rows = rows[:, ::-1]
        return to_float32(rows)


def to_float32(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """The values rounded to float32, in a new array in row order."""
    import numpy as np

    # A double beyond the range of float32 becomes infinite on purpose, without a warning.
    with np.errstate(over="ignore"):
        return values.astype(np.float32, order="C")


# Cached: every message of a file repeats the same section.
@lru_cache(maxsize=64)
def layout2(grid: bytes) -> ScanLayout | None:
    """The layout of a GRIB2 field, from section 3; None if its rows do not all have the same length."""
    template = unsigned(grid, 13, 14)
    if template not in SCANNING_OCTET:
        return None
    nx, ny = optional(grid, 31, 34), optional(grid, 35, 38)
    if nx is None or ny is None:
        return None
    return ScanLayout(ny, nx, unsigned(grid, SCANNING_OCTET[template], SCANNING_OCTET[template]))


def layout1(grid: bytes) -> ScanLayout | None:
    """The layout of a GRIB1 field, from section 2; None if it is not stated or its rows differ in length."""
    if not grid or grid[5] not in ROWS_AND_COLUMNS1:
        return None
    nx, ny = unsigned(grid, 7, 8), unsigned(grid, 9, 10)
    return None if NOT_GIVEN1 in (nx, ny) else ScanLayout(ny, nx, unsigned(grid, 28, 28))


def points1(grid: bytes, centre: int) -> int | None:
    """The number of points of a GRIB1 field; None if it is not stated. Raises GribError if the section is damaged."""
    counts = _row_list(grid, centre) if grid else None
    layout = layout1(grid)
    if layout:
        return layout.ny * layout.nx
    if grid and grid[5] in OTHER_ROWS1:
        return unsigned(grid, 7, 8) * unsigned(grid, 9, 10)
    if grid and grid[5] == HARMONICS1:
        wave_number = unsigned(grid, 7, 8)
        return (wave_number + 1) * (wave_number + 2)
    return sum(counts) if counts else None


GAUSSIAN1, GAUSSIAN2, LAT_LON2 = 4, 40, 0
# GRIB2's templates 3.0 and 3.40 end with octet 72. The list counts points on full circles (code table 3.11).
LIST_BEGIN2, WHOLE_CIRCLES = 72, 1
MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class ReducedRows:
    """The number of points in each row, in the order of the message."""

    counts: tuple[int, ...]
    south_first: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the regular grid: as many columns as the longest row has points."""
        return len(self.counts), max(self.counts)

    @property
    def points(self) -> int:
        """The number of points in the message."""
        return sum(self.counts)

    def take(self, flat: NDArray[np.float64], window: Window) -> NDArray[np.float32]:
        """The values of a window of the regular grid, each from the nearest point in its row."""
        import numpy as np

        if flat.size != self.points:
            raise GribError(f"it has {flat.size} values, but lists {self.points} points in its rows")
        counts = np.array(self.counts if self.south_first else self.counts[::-1])
        begins = np.cumsum(self.counts) - self.counts
        begins = begins if self.south_first else begins[::-1]
        columns = np.concatenate([np.arange(part.start, part.stop) for part in window.cols])
        counts, begins = counts[window.rows, None], begins[window.rows, None]
        # Halfway between two points, the eastern one is used.
        nearest = (2 * columns * counts + self.shape[1]) // (2 * self.shape[1]) % counts
        return to_float32(flat[begins + nearest])


# Cached: every message of a file repeats the same section.
@lru_cache(maxsize=16)
def reduced_rows(edition: int, section: bytes) -> ReducedRows | None:
    """The rows of a reduced Gaussian grid; None for all other grids. Raises GribError if they cannot be used."""
    if not section:
        return None
    counts = _counts1(section) if edition == 1 else _counts2(section)
    if counts is None:
        return None
    if not counts or len(counts) > MOST_ROWS or min(counts) < SHORTEST_ROW:
        raise GribError("its reduced grid has no rows, too many, or a row with fewer than two points")
    scanning = unsigned(section, 28, 28) if edition == 1 else unsigned(section, 72, 72)
    if scanning & ~J_POSITIVE:
        raise GribError(f"scanning mode {scanning} is not supported on a reduced Gaussian grid")
    return ReducedRows(counts, bool(scanning & J_POSITIVE))


def _counts1(section: bytes) -> tuple[int, ...] | None:
    if section[5] != GAUSSIAN1 or unsigned(section, 7, 8) != NOT_GIVEN1:
        return None
    counts = _row_list(section, 0)
    if counts is None:
        raise GribError("its reduced grid does not list the points of its rows")
    return tuple(counts)


def _counts2(section: bytes) -> tuple[int, ...] | None:
    if unsigned(section, 13, 14) != GAUSSIAN2 or optional(section, 31, 34) is not None:
        return None
    if unsigned(section, 12, 12) != WHOLE_CIRCLES:
        raise GribError("its reduced grid does not list the points of its rows around the globe")
    return _listed2(section)


def _listed2(section: bytes) -> tuple[int, ...]:
    size, rows = unsigned(section, 11, 11), unsigned(section, 35, 38)
    if not 1 <= size <= 4 or LIST_BEGIN2 + size * rows > len(section):
        raise GribError("its reduced grid does not list the points of its rows")
    begins = range(LIST_BEGIN2 + 1, LIST_BEGIN2 + 1 + size * rows, size)
    return tuple(unsigned(section, begin, begin + size - 1) for begin in begins)


def check_listed2(section: bytes, points: int) -> None:
    """Raise GribError where ecCodes could not compute the places of a reduced grid's points.

    If the rows of a reduced lat-lon grid do not have `points` points, it writes out of bounds. It aborts the process if
    a row of a reduced Gaussian grid has a single point.
    """
    template = unsigned(section, 13, 14)
    if template not in (LAT_LON2, GAUSSIAN2) or optional(section, 31, 34) is not None:
        return
    listed = _listed2(section)
    if template == LAT_LON2 and sum(listed) != points:
        raise GribError(f"its rows list {sum(listed)} points, but it states {points}")
    if template == GAUSSIAN2 and min(listed, default=0) < SHORTEST_ROW:
        raise GribError("its reduced grid has no rows, or a row with fewer than two points")


# Section 2 of a GRIB1 message ends with vertical coordinates, and with a list of the number of points in each row.
# Octets that describe the grid, by data representation type; the lists cannot begin before their end.
GRID_OCTETS = {0: 32, 1: 42, 3: 42, 4: 32, 5: 32, 8: 42, 10: 42, 13: 42, 14: 42, 20: 42, 24: 42, 30: 52, 34: 52,
               50: 32, 90: 44}  # fmt: skip
SHORTEST_GRID = 32
# ECMWF's space view leaves out six reserved octets.
SPACE_VIEW, SPACE_VIEW_ECMWF = 90, 38
GAUSSIANS1, SHORTEST_ROW = {4, 14, 24, 34}, 2
NOTHING_FOLLOWS = 255
# ecCodes reads the number of rows of these grids, and of columns of Mercator grids, as signed.
SIGNED_ROWS, SIGNED_COLUMNS = GAUSSIANS1 | {1}, {1}
HIGHEST_SIGNED = 0x7FFF


def _row_list(grid: bytes, centre: int) -> list[int] | None:
    """The number of points in each row, if section 2 lists it. Raises GribError if the section is too short.

    ecCodes reads past the end of a section that is too short, and crashes.
    """
    begin, rows = _list_offset(grid, centre), _rows(grid)
    needed = begin + len(grid) % 2
    if rows is None or not len(grid) >= begin + 2 * rows > begin:
        counts = None
    else:
        counts = [unsigned(grid, place, place + 1) for place in range(begin + 1, begin + 2 * rows, 2)]
        needed += 2 * rows
    if needed > len(grid):
        raise GribError(f"its grid section needs {needed} bytes and has {len(grid)}")
    if counts:
        _check_counts(grid, counts)
    return counts


def _list_offset(grid: bytes, centre: int) -> int:
    """The number of octets before the list: the grid description and the vertical coordinates."""
    octets = GRID_OCTETS.get(grid[5], SHORTEST_GRID)
    if grid[5] == SPACE_VIEW and centre == ECMWF:
        octets = SPACE_VIEW_ECMWF
    if grid[4] != NOTHING_FOLLOWS:
        octets = max(octets, grid[4] - 1)
    return octets + 4 * grid[3]


def _rows(grid: bytes) -> int | None:
    """The number of rows in the list; None if the type has no list, or the number is not given."""
    if grid[5] not in GRID_OCTETS or grid[5] == HARMONICS1:
        return None
    columns, rows = unsigned(grid, 7, 8), unsigned(grid, 9, 10)
    if (grid[5] in SIGNED_ROWS and rows > HIGHEST_SIGNED) or (grid[5] in SIGNED_COLUMNS and columns > HIGHEST_SIGNED):
        raise GribError(f"it states a grid of {columns} × {rows} points")
    return None if rows == NOT_GIVEN1 else rows


def _check_counts(grid: bytes, counts: list[int]) -> None:
    columns = unsigned(grid, 7, 8)
    # ecCodes aborts the process if a row around the globe has a single point.
    if grid[5] in GAUSSIANS1 and min(counts) < SHORTEST_ROW:
        raise GribError(f"it lists a row of {min(counts)} points around the globe")
    if columns != NOT_GIVEN1 and set(counts) != {columns}:
        raise GribError(f"it states rows of {columns} points and lists others")
