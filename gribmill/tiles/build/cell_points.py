"""Assigns the points of a source grid to the cells of a regular grid, with little memory for grids of any size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats, Indices
from gribmill.regions.grids import Grid
from gribmill.regions.window import Window

# Points and cells are both far fewer than 2³¹.
PointNumbers = NDArray[np.int32]

BLOCK_POINTS = 2**19  # located at once, with about 40 MB of working memory
BAND_POINTS = 2**22  # sorted or averaged at once


class PointsByCell(NamedTuple):
    """Positions of points in a window, in row order, grouped by cell; `starts` is the start of each group."""

    points: PointNumbers
    starts: Indices
    cells: Indices


def cell_numbers(grid: Grid, found: Window, lat: Floats, lon: Floats, resolution: float) -> PointNumbers:
    """The number of the cell that contains each point of the window, in row order; -1 outside all cells."""
    j = np.arange(found.rows.start, found.rows.stop)
    i = np.concatenate([np.arange(part.start, part.stop) for part in found.cols])
    numbers = np.empty(found.shape, np.int32)
    rows = max(1, BLOCK_POINTS // len(i))
    for begin in range(0, len(j), rows):
        block = slice(begin, begin + rows)
        lats, lons = np.broadcast_arrays(*grid.latlon(j[block, None], i[None, :]))
        # Rounded up: a point on the border of two cells belongs to the northern or eastern one.
        row = np.floor((lats - lat[0]) / resolution + 0.5 + 1e-9)
        column = np.floor(np.mod(lons - lon[0] + resolution / 2 + 1e-9, 360.0) / resolution)
        inside = (row >= 0) & (row < len(lat)) & (column < len(lon))
        numbers[block] = np.where(inside, row * len(lon) + column, -1)
    return numbers


def points_by_cell(numbers: PointNumbers, grid: Grid, found: Window, target: Window, cells: int) -> PointsByCell:
    """The points of `found` sorted by cell, as positions in the window `target`, which contains it."""
    flat = numbers.reshape(-1)
    bands = max(1, -(-flat.size // BAND_POINTS))
    edges = np.linspace(0, cells, bands + 1).astype(np.int64)
    points = np.empty(np.count_nonzero(flat >= 0), np.int32)
    starts: list[Indices] = []
    used: list[Indices] = []
    count = 0
    for low, high in pairwise(edges.tolist()):
        places = np.flatnonzero((flat >= low) & (flat < high))
        cell = flat[places]
        order = np.argsort(cell, kind="stable")
        cell, places = cell[order], places[order]
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        points[count : count + len(places)] = _places_in(target, grid, found, places)
        starts.append(first + count)
        used.append(cell[first].astype(np.intp))
        count += len(places)
    return PointsByCell(points, np.concatenate(starts), np.concatenate(used))


def bands(starts: Indices, points: int) -> Iterator[tuple[slice, slice]]:
    """Yields runs of whole cells with about BAND_POINTS points, as slices of the cells and of the points."""
    begin = 0
    while begin < len(starts):
        end = int(np.searchsorted(starts, starts[begin] + BAND_POINTS))
        end = max(end, begin + 1)
        stop = int(starts[end]) if end < len(starts) else points
        yield slice(begin, end), slice(int(starts[begin]), stop)
        begin = end


def _places_in(target: Window, grid: Grid, found: Window, places: Indices) -> PointNumbers:
    width = found.shape[1]
    rows = places // width + (found.rows.start - target.rows.start)
    # Both windows number columns from their first one, and continue past the seam.
    shift = (found.cols[0].start - target.cols[0].start) % grid.shape[1]
    columns = (places % width + shift) % grid.shape[1]
    return np.asarray(rows * target.shape[1] + columns, np.int32)
