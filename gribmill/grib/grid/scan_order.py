"""The scan order of a message's points, and its conversion to rows south→north of columns west→east."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gribmill.grib.errors import GribError
from gribmill.grib.grid.reduced_rows import row_list
from gribmill.grib.octets import optional, unsigned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The octet of the scanning mode in each GRIB2 grid template. Columns and rows are in octets 31-38.
SCANNING_OCTET = {0: 72, 1: 72, 2: 72, 3: 72, 10: 60, 12: 60, 20: 65, 30: 65, 31: 65, 40: 72, 41: 72, 42: 72,
                  43: 72, 32768: 72, 32769: 72}  # fmt: skip
# GRIB1 grids of rows and columns: lat-lon, Mercator, Lambert, Gaussian, polar stereographic, rotated.
ROWS_AND_COLUMNS1 = {0, 1, 3, 4, 5, 10, 13, 14}
NO_COLUMNS1 = 0xFFFF
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
    return None if NO_COLUMNS1 in (nx, ny) else ScanLayout(ny, nx, unsigned(grid, 28, 28))


def points1(grid: bytes, centre: int) -> int | None:
    """The number of points of a GRIB1 field; None if it is not stated. Raises GribError if the section is damaged."""
    counts = row_list(grid, centre) if grid else None
    layout = layout1(grid)
    if layout:
        return layout.ny * layout.nx
    if grid and grid[5] in OTHER_ROWS1:
        return unsigned(grid, 7, 8) * unsigned(grid, 9, 10)
    if grid and grid[5] == HARMONICS1:
        wave_number = unsigned(grid, 7, 8)
        return (wave_number + 1) * (wave_number + 2)
    return sum(counts) if counts else None
