"""The end of section 2 of a GRIB1 message: vertical coordinates, and the number of points in each row."""

from __future__ import annotations

from gribmill.grib.errors import GribError
from gribmill.grib.octets import unsigned
from gribmill.grib.product.keys import ECMWF

# Octets that describe the grid, by data representation type; the lists cannot begin before their end.
GRID_OCTETS = {0: 32, 1: 42, 3: 42, 4: 32, 5: 32, 8: 42, 10: 42, 13: 42, 14: 42, 20: 42, 24: 42, 30: 52, 34: 52,
               50: 32, 90: 44}  # fmt: skip
SHORTEST_GRID = 32
HARMONICS = 50
# ECMWF's space view leaves out six reserved octets.
SPACE_VIEW, SPACE_VIEW_ECMWF = 90, 38
GAUSSIAN, SHORTEST_ROW = {4, 14, 24, 34}, 2
NOTHING_FOLLOWS = 255
# ecCodes reads the number of rows of these grids, and of columns of Mercator grids, as signed.
SIGNED_ROWS, SIGNED_COLUMNS = GAUSSIAN | {1}, {1}
HIGHEST_SIGNED, NOT_GIVEN = 0x7FFF, 0xFFFF


def row_list(grid: bytes, centre: int) -> list[int] | None:
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
    if grid[5] not in GRID_OCTETS or grid[5] == HARMONICS:
        return None
    columns, rows = unsigned(grid, 7, 8), unsigned(grid, 9, 10)
    if (grid[5] in SIGNED_ROWS and rows > HIGHEST_SIGNED) or (grid[5] in SIGNED_COLUMNS and columns > HIGHEST_SIGNED):
        raise GribError(f"it states a grid of {columns} × {rows} points")
    return None if rows == NOT_GIVEN else rows


def _check_counts(grid: bytes, counts: list[int]) -> None:
    columns = unsigned(grid, 7, 8)
    # ecCodes aborts the process if a row around the globe has a single point.
    if grid[5] in GAUSSIAN and min(counts) < SHORTEST_ROW:
        raise GribError(f"it lists a row of {min(counts)} points around the globe")
    if columns != NOT_GIVEN and set(counts) != {columns}:
        raise GribError(f"it states rows of {columns} points and lists others")
