"""Finds the window of a box on a grid: the smallest one with all grid points inside the box.

On a map projection it is found along the whole perimeter of the box. A row or column that bounds the part of the grid
inside the box touches either the edge of the box or the border of the grid, so it is enough to follow both, in steps of
at most one cell. The four corners are not enough, because parallels are curved on the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats, Marks
from gribmill.regions.box import Box, wrap_longitude
from gribmill.regions.grids import Grid, LambertGrid
from gribmill.regions.grids.plane import PlaneGrid

Scalar = TypeVar("Scalar", bound=np.generic)

# Points examined at once while a window is tightened, with about 30 MB of working memory.
_CHUNK_POINTS = 500_000
# Initial steps of one degree: over one degree a parallel turns by at most one degree, so that it stays within
# 0.0022 of its chord's length on every conformal map.
_FIRST_STEP_DEG = 1.0
_BULGE = 0.01
# 2^-24 degrees are 7 mm; a step of this size that still skips cells crosses a seam or a pole of the grid.
_MOST_HALVINGS = 24
_MOST_STEPS = 2_000_000
# Distance from a cut in the projection, small compared with any cell.
_BESIDE_DEG = 1e-9


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


class Rectangle(NamedTuple):
    """Rows [j0, j1) and columns [i0, i1)."""

    j0: int
    j1: int
    i0: int
    i1: int


def reach(grid: Grid, box: Box) -> Rectangle | None:
    """A rectangle with every grid point inside the box, at most a few cells too large; None if there are none."""
    spans = [span for span in (_border_inside(grid, box), _edge_inside(grid, box)) if span is not None]
    if not spans:
        return None
    low = np.min([span[0] for span in spans], axis=0)
    high = np.max([span[1] for span in spans], axis=0)
    limit = np.array(grid.shape)
    first = np.clip(np.floor(low) - 1, 0, limit - 1).astype(int)
    last = np.clip(np.ceil(high) + 1, 0, limit - 1).astype(int)
    return Rectangle(int(first[0]), int(last[0]) + 1, int(first[1]), int(last[1]) + 1)


def _border_inside(grid: Grid, box: Box) -> tuple[Floats, Floats] | None:
    """Minimum and maximum (j, i) of the grid's border points inside the box."""
    ny, nx = grid.shape
    rows, columns = np.arange(ny), np.arange(nx)
    j = np.concatenate([rows, rows, np.zeros(nx, dtype=int), np.full(nx, ny - 1)])
    i = np.concatenate([np.zeros(ny, dtype=int), np.full(ny, nx - 1), columns, columns])
    inside = box.contains(*grid.latlon(j, i))
    return _span(j[inside], i[inside])


def _edge_inside(grid: Grid, box: Box) -> tuple[Floats, Floats] | None:
    """Minimum and maximum (j, i) along the parts of the box's edge that are on the grid or within a cell of it."""
    start, end = _first_steps(grid, box)
    seen_j: list[Floats] = []
    seen_i: list[Floats] = []
    for _ in range(_MOST_HALVINGS):
        (ja, ia), (jb, ib) = _index(grid, start), _index(grid, end)
        stride = np.maximum(np.abs(jb - ja), np.abs(ib - ia))
        near = _near(grid, ja, ia, jb, ib, _length_deg(start, end))
        fine = near & (stride <= 1.0)
        seen_j += [ja[fine], jb[fine]]
        seen_i += [ia[fine], ib[fine]]
        coarse = near & ~fine
        start, end = start[:, coarse], end[:, coarse]
        if not coarse.any() or 2 * start.shape[1] > _MOST_STEPS:
            break
        middle = (start + end) / 2
        start, end = np.concatenate([start, middle], axis=1), np.concatenate([middle, end], axis=1)
    if start.shape[1]:
        # Unresolved steps may contain anything: take all columns of these rows, and tighten the window later.
        (ja, _), (jb, _) = _index(grid, start), _index(grid, end)
        slack = _length_deg(start, end) / _row_deg(grid)
        seen_j += [np.minimum(ja, jb) - slack, np.maximum(ja, jb) + slack]
        seen_i += [np.zeros(ja.size), np.full(ja.size, float(grid.shape[1]))]
    return _span(np.concatenate(seen_j), np.concatenate(seen_i))


def _first_steps(grid: Grid, box: Box) -> tuple[Floats, Floats]:
    """Start and end of each initial step along the edge, as (2, n) arrays of latitude and longitude."""
    meridians = [] if box.all_longitudes else [box.west, box.west + box.width]
    arcs = [(box.west, box.west + box.width)]
    if isinstance(grid, LambertGrid):
        # The flattened cone is cut along the meridian opposite LoV: both sides of the cut are edges too.
        tear = box.west + (wrap_longitude(grid.lov + 180.0) - box.west) % 360.0
        if tear <= arcs[0][1]:
            meridians += [tear - _BESIDE_DEG, tear + _BESIDE_DEG]
            arcs = [(arcs[0][0], tear - _BESIDE_DEG), (tear + _BESIDE_DEG, arcs[0][1])]
    lines = [_line(lat, west, lat, east) for lat in (box.south, box.north) for west, east in arcs]
    lines += [_line(box.south, lon, box.north, lon) for lon in meridians]
    return (
        np.concatenate([line[:, :-1] for line in lines], axis=1),
        np.concatenate([line[:, 1:] for line in lines], axis=1),
    )


def _line(lat0: float, lon0: float, lat1: float, lon1: float) -> Floats:
    count = 2 + int(max(abs(lat1 - lat0), abs(lon1 - lon0)) / _FIRST_STEP_DEG)
    return np.stack([np.linspace(lat0, lat1, count), np.linspace(lon0, lon1, count)])


def _index(grid: Grid, places: Floats) -> tuple[Floats, Floats]:
    """The indices of points; a pole that projects to infinity is moved slightly to get a finite index."""
    lat, lon = places
    with np.errstate(invalid="ignore", over="ignore"):
        j, i = grid.index(lat, lon)
        lost = ~(np.isfinite(j) & np.isfinite(i))
        if lost.any():
            j, i = grid.index(np.where(lost, lat * (1 - 1e-11), lat), lon)
    return j, i


def _near(grid: Grid, ja: Floats, ia: Floats, jb: Floats, ib: Floats, length_deg: Floats) -> npt.NDArray[np.bool_]:
    """Whether each step may touch the grid; false only if it certainly does not."""
    ny, nx = grid.shape
    if isinstance(grid, PlaneGrid):
        pad = 1.0 + _BULGE * np.maximum(np.abs(jb - ja), np.abs(ib - ia))
        columns = (np.minimum(ia, ib) - pad <= nx) & (np.maximum(ia, ib) + pad >= -1)
    else:
        # A latitude, rotated or not, changes by no more than the length of the step; a longitude may change more.
        pad = 1.0 + length_deg / _row_deg(grid)
        columns = np.ones(ja.shape, dtype=np.bool_)
    rows = (np.minimum(ja, jb) - pad <= ny) & (np.maximum(ja, jb) + pad >= -1)
    return np.asarray(rows & columns, dtype=np.bool_)


def _length_deg(start: Floats, end: Floats) -> Floats:
    """An upper bound of each step's length on the sphere, in degrees of arc."""
    return np.asarray(np.abs(end - start).sum(axis=0))


def _row_deg(grid: Grid) -> float:
    """Approximate degrees of arc between rows."""
    return grid.cell_km / 111.0


def _span(j: npt.NDArray[np.generic], i: npt.NDArray[np.generic]) -> tuple[Floats, Floats] | None:
    if j.size == 0:
        return None
    return np.array([j.min(), i.min()], dtype=np.float64), np.array([j.max(), i.max()], dtype=np.float64)
