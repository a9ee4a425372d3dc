"""Finds the window of a box on a grid: the smallest one with all grid points inside the box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats, Marks
from gribmill.regions.box import Box
from gribmill.regions.grids.grid import Grid
from gribmill.regions.perimeter import Rectangle, reach

Scalar = TypeVar("Scalar", bound=np.generic)

# Points examined at once while a window is tightened, with about 30 MB of working memory.
_CHUNK_POINTS = 500_000


@dataclass(frozen=True, slots=True)
class Window:
    """Rows, and columns from west to east: two slices if the window crosses the seam of a grid that wraps."""

    rows: slice
    cols: tuple[slice, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return _length(self.rows), sum(_length(part) for part in self.cols)

    @property
    def points(self) -> int:
        """The number of grid points in it."""
        return self.shape[0] * self.shape[1]

    def take(self, array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """The window of an array whose last two axes are the grid's; a view unless there are two slices."""
        parts = [array[..., self.rows, part] for part in self.cols]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    def grid(self, grid: Grid) -> Grid:
        """The window as a separate grid; its x and y continue without a jump across the seam."""
        rows, columns = self.shape
        return grid.part(self.rows.start, rows, self.cols[0].start, columns)

    def latlon(self, grid: Grid) -> tuple[Floats, Floats]:
        """2-D latitudes and longitudes (in [-180, 180)) of the window's points."""
        j = np.arange(self.rows.start, self.rows.stop)
        i = np.concatenate([np.arange(part.start, part.stop) for part in self.cols])
        return grid.latlon(j[:, None], i[None, :])

    # Slices cannot be hashed before Python 3.12.
    def __hash__(self) -> int:
        rows, first = self.rows, self.cols[0]
        return hash((rows.start, rows.stop, first.start, first.stop))


@lru_cache(maxsize=4096)
def window(grid: Grid, box: Box) -> Window | None:
    """The smallest window with all grid points inside the box; None if no point is inside.

    A box smaller than a cell may contain no point.
    """
    if grid.separable:
        return _from_axes(grid, box)
    if grid.wraps:
        return _from_every_point(grid, box)
    rectangle = reach(grid, box)
    return _tightened(grid, box, rectangle) if rectangle else None


def _from_axes(grid: Grid, box: Box) -> Window | None:
    """Examines each row and column once, because latitude depends on the row and longitude on the column."""
    lat, _ = grid.latlon(np.arange(grid.shape[0]), 0)
    _, lon = grid.latlon(0, np.arange(grid.shape[1]))
    return _enclosing(box.contains_latitude(lat), box.contains_longitude(lon), wraps=grid.wraps)


def _from_every_point(grid: Grid, box: Box) -> Window | None:
    """Examines the whole grid: rotated grids around the globe are rare."""
    ny, nx = grid.shape
    rows, columns = np.zeros(ny, dtype=np.bool_), np.zeros(nx, dtype=np.bool_)
    step = max(1, _CHUNK_POINTS // nx)
    for start in range(0, ny, step):
        inside = _inside(grid, box, start, min(start + step, ny), 0, nx)
        rows[start : start + step] = inside.any(axis=1)
        columns |= inside.any(axis=0)
    return _enclosing(rows, columns, wraps=True)


def _enclosing(rows: Marks, columns: Marks, *, wraps: bool) -> Window | None:
    if not (rows.any() and columns.any()):
        return None
    marked = np.flatnonzero(rows)
    return Window(slice(int(marked[0]), int(marked[-1]) + 1), enclosing_columns(columns, wraps=wraps))


def enclosing_columns(columns: Marks, *, wraps: bool) -> tuple[slice, ...]:
    """The shortest run of columns with all marked ones; on a ring it leaves out the widest gap."""
    marked = np.flatnonzero(columns)
    first, last = int(marked[0]), int(marked[-1])
    if not wraps:
        return (slice(first, last + 1),)
    gaps = np.diff(marked, append=marked[0] + columns.size)
    widest = int(np.argmax(gaps))
    # Among equal gaps the one at the seam is left out, so that the run stays in one piece.
    if gaps[widest] == gaps[-1]:
        return (slice(first, last + 1),)
    return slice(int(marked[widest + 1]), columns.size), slice(0, int(marked[widest]) + 1)


def _tightened(grid: Grid, box: Box, rectangle: Rectangle) -> Window | None:
    """Leave out the edge rows and columns without a point of the box."""
    j0, j1, i0, i1 = rectangle
    rows = partial(_marked_rows, grid, box, i0, i1)
    lowest = _first(rows, j0, j1, 1, _CHUNK_POINTS // (i1 - i0))
    if lowest is None:
        return None
    highest = _first(rows, j1 - 1, lowest - 1, -1, _CHUNK_POINTS // (i1 - i0))
    assert highest is not None
    columns = partial(_marked_columns, grid, box, lowest, highest + 1)
    most = _CHUNK_POINTS // (highest + 1 - lowest)
    left, right = _first(columns, i0, i1, 1, most), _first(columns, i1 - 1, i0 - 1, -1, most)
    assert left is not None and right is not None
    return Window(slice(lowest, highest + 1), (slice(left, right + 1),))


def _first(marked: Callable[[int, int], Marks], start: int, stop: int, step: int, most: int) -> int | None:
    """The first marked index from `start` towards `stop`, looked for in strips that double in width."""
    width = 1
    while (stop - start) * step > 0:
        end = start + step * min(width, (stop - start) * step)
        low = min(start, end + 1) if step < 0 else start
        found = np.flatnonzero(marked(low, low + abs(end - start)))
        if found.size:
            return low + int(found[0 if step > 0 else -1])
        start, width = end, max(1, min(width * 2, most))
    return None


def _marked_rows(grid: Grid, box: Box, i0: int, i1: int, j0: int, j1: int) -> Marks:
    return np.asarray(_inside(grid, box, j0, j1, i0, i1).any(axis=1))


def _marked_columns(grid: Grid, box: Box, j0: int, j1: int, i0: int, i1: int) -> Marks:
    return np.asarray(_inside(grid, box, j0, j1, i0, i1).any(axis=0))


def _inside(grid: Grid, box: Box, j0: int, j1: int, i0: int, i1: int) -> Marks:
    return box.contains(*grid.latlon(np.arange(j0, j1)[:, None], np.arange(i0, i1)[None, :]))


def _length(part: slice) -> int:
    return int(part.stop - part.start)
