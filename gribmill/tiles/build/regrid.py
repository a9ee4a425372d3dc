"""Regrids fields from any grid to a regular one: nearest point, bilinear, or cell statistics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from gribmill.arrays import Floats, Indices, Marks, Values
from gribmill.regions.box import Box
from gribmill.regions.grids import Grid
from gribmill.regions.tile_options import LEAST_WEIGHT, Method
from gribmill.regions.window import Window, enclosing_columns, window
from gribmill.tiles.build.cell_points import PointNumbers, bands, cell_numbers, points_by_cell
from gribmill.tiles.errors import TileError

# Rows and columns of points of the source grid.
Points = tuple[Indices, Indices]

LIMIT_POINTS = 2**27


@dataclass(frozen=True, slots=True)
class RegularAxes:
    """The points of a regular grid: the multiples of the resolution inside the box."""

    lat: Floats
    lon: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.lat), len(self.lon)


class Regridder(Protocol):
    """Regrids a field from one source grid to one regular grid. Results are keyed by the suffix of their names.

    It needs only a window of the source field.
    """

    @property
    def window(self) -> Window: ...

    @property
    def nearest(self) -> Nearest:
        """The nearest-point regridder for the same window, for directions and codes, which must not be averaged."""

    def apply(self, part: Values) -> dict[str, Values]: ...


def target_axes(box: Box, resolution: float) -> RegularAxes:
    """Axes at multiples of the resolution in degrees, so that points of adjacent regions coincide."""
    lat = _multiples(box.south, box.north, resolution)
    lon = _multiples(box.west, box.west + box.width, resolution)
    if box.all_longitudes and len(lon) > 1 and lon[-1] - lon[0] >= 360.0 - 1e-9:
        lon = lon[:-1]
    if not len(lat) or not len(lon):
        raise TileError(f"the box {box} contains no multiple of {resolution:g}°: use a finer resolution")
    if len(lat) * len(lon) > LIMIT_POINTS:
        raise TileError(f"{resolution:g}° over the box {box} has {len(lat)} × {len(lon)} points: too many")
    return RegularAxes(lat, lon)


@lru_cache(maxsize=64)
def regridder(grid: Grid, box: Box, resolution: float, method: Method) -> Regridder:
    """The regridder for one source grid and one region, cached because its indices are expensive to compute."""
    axes = target_axes(box, resolution)
    if method == "nearest":
        return Nearest.of(grid, axes)
    if method == "bilinear":
        return Bilinear.of(grid, axes)
    return Cells.of(grid, axes, resolution)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The value of the nearest source point; NaN beyond half a cell outside the source grid."""

    window: Window
    points: Points
    inside: Marks

    @classmethod
    def of(cls, grid: Grid, axes: RegularAxes, *others: Points) -> Nearest:
        """The regridder; `others` are more points that its window must contain."""
        j, i, inside = _source_indices(grid, axes)
        rows, columns = _row(grid, np.rint(j)), _column(grid, np.rint(i))
        found = _window(grid, (rows[inside], columns[inside]), *others)
        return cls(found, _within(found, grid, (rows, columns), inside), inside)

    @property
    def nearest(self) -> Nearest:
        return self

    def apply(self, part: Values) -> dict[str, Values]:
        return {"": np.where(self.inside, part[self.points], np.float32(np.nan))}


@dataclass(frozen=True, slots=True)
class Bilinear:
    """Bilinear interpolation between the four points around each target; missing points have no weight."""

    corners: tuple[tuple[Points, Floats], ...]
    nearest: Nearest

    @classmethod
    def of(cls, grid: Grid, axes: RegularAxes) -> Bilinear:
        j, i, inside = _source_indices(grid, axes)
        j = np.clip(j, 0, grid.shape[0] - 1)
        i = i if grid.wraps else np.clip(i, 0, grid.shape[1] - 1)
        down, left = np.floor(j), np.floor(i)
        up_weight, right_weight = j - down, i - left
        corners = [
            ((_row(grid, down + up), _column(grid, left + right)), rows_weight * columns_weight)
            for up, rows_weight in ((0, 1 - up_weight), (1, up_weight))
            for right, columns_weight in ((0, 1 - right_weight), (1, right_weight))
        ]
        nearest = Nearest.of(grid, axes, *((rows[inside], columns[inside]) for (rows, columns), _ in corners))
        return cls(
            tuple((_within(nearest.window, grid, points, inside), weight) for points, weight in corners), nearest
        )

    @property
    def window(self) -> Window:
        return self.nearest.window

    def apply(self, part: Values) -> dict[str, Values]:
        inside = self.nearest.inside
        total = np.zeros(inside.shape)
        weights = np.zeros(inside.shape)
        for points, weight in self.corners:
            values = part[points]
            counts = np.where(np.isnan(values), 0.0, weight)
            # Not `values * counts`: the NaN of a point without weight must not propagate.
            total += np.where(counts > 0, values, 0.0) * counts
            weights += counts
        enough = inside & (weights >= LEAST_WEIGHT)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"": np.where(enough, total / weights, np.nan).astype(np.float32)}


@dataclass(frozen=True, slots=True)
class Cells:
    """Mean, minimum and maximum of the source points in each cell; the nearest point for an empty cell."""

    points: PointNumbers  # positions in the window in row order, grouped by cell
    starts: Indices
    cells: Indices
    nearest: Nearest
    empty: Marks

    @classmethod
    def of(cls, grid: Grid, axes: RegularAxes, resolution: float) -> Cells:
        empty = np.ones(axes.shape, np.bool_)
        found = window(grid, _box_of_cells(axes, resolution))
        if found is None:
            nothing = np.zeros(0, np.intp)
            return cls(nothing.astype(np.int32), nothing, nothing, Nearest.of(grid, axes), empty)
        numbers = cell_numbers(grid, found, axes.lat, axes.lon, resolution)
        inside = numbers >= 0
        columns = np.concatenate([np.arange(part.start, part.stop) for part in found.cols])
        used = np.flatnonzero(inside.any(axis=1)) + found.rows.start, columns[inside.any(axis=0)]
        del inside
        nearest = Nearest.of(grid, axes, used)
        points, starts, cells = points_by_cell(numbers, grid, found, nearest.window, empty.size)
        empty.flat[cells] = False
        return cls(points, starts, cells, nearest, empty)

    @property
    def window(self) -> Window:
        return self.nearest.window

    def apply(self, part: Values) -> dict[str, Values]:
        nearest = self.nearest.apply(part)[""]
        blank = np.where(self.empty, nearest, np.float32(np.nan))
        result = {suffix: blank.copy() for suffix in ("", "_min", "_max")}
        flat = part.reshape(-1)
        for some, points in bands(self.starts, len(self.points)):
            values, starts, cells = flat[self.points[points]], self.starts[some] - points.start, self.cells[some]
            known = ~np.isnan(values)
            counts = np.add.reduceat(known, starts, dtype=np.intp)
            sums = np.add.reduceat(np.where(known, values, 0.0), starts, dtype=np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = (sums / counts).astype(np.float32)
            result[""].flat[cells] = mean
            result["_min"].flat[cells] = np.fmin.reduceat(values, starts)
            result["_max"].flat[cells] = np.fmax.reduceat(values, starts)
        return result

    def most_frequent(self, part: Values) -> Values:
        """The most frequent value in each cell, the smallest one in case of a tie. Missing points are ignored."""
        nearest = self.nearest.apply(part)[""]
        result = np.where(self.empty, nearest, np.float32(np.nan))
        for some, points in bands(self.starts, len(self.points)):
            values, starts = part.reshape(-1)[self.points[points]], self.starts[some] - points.start
            cells, best = _most_frequent(values, starts)
            result.flat[self.cells[some][cells]] = best
        return result


def _most_frequent(values: Values, starts: Indices) -> tuple[Indices, Values]:
    """The cells with a value (as indices into `starts`), and the most frequent value of each."""
    cell = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    known = ~np.isnan(values)
    values, cell = values[known], cell[known]
    order = np.lexsort((values, cell))
    values, cell = values[order], cell[order]
    changes = np.flatnonzero((np.diff(cell) != 0) | (np.diff(values) != 0)) + 1
    runs = np.concatenate([np.zeros(min(len(values), 1), np.intp), changes])
    counts = np.diff(runs, append=len(values))
    # The last run of each cell in this order has the most points, then the smallest value.
    best = np.lexsort((-values[runs], counts, cell[runs]))
    cells = cell[runs][best]
    last = np.flatnonzero(np.diff(cells, append=-1) != 0)
    return cells[last], values[runs][best][last]


def _multiples(low: float, high: float, step: float) -> Floats:
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    if last - first > LIMIT_POINTS:
        raise TileError(f"{step:g}° between {low:g} and {high:g} has too many points")
    return np.round(np.arange(first, last + 1) * step, 10) + 0.0


def _source_indices(grid: Grid, axes: RegularAxes) -> tuple[Floats, Floats, Marks]:
    """Fractional source indices of all target points, and whether each is on the source grid."""
    j, i = np.broadcast_arrays(*grid.index(axes.lat[:, None], axes.lon[None, :]))
    rows, columns = grid.shape
    inside = (j >= -0.5) & (j <= rows - 0.5)
    if not grid.wraps:
        inside &= (i >= -0.5) & (i <= columns - 0.5)
    inside &= ~(np.isnan(j) | np.isnan(i))
    return np.where(inside, j, 0.0), np.where(inside, i, 0.0), inside


def _row(grid: Grid, j: Floats) -> Indices:
    return np.clip(j, 0, grid.shape[0] - 1).astype(np.intp)


def _column(grid: Grid, i: Floats) -> Indices:
    columns = grid.shape[1]
    return (np.mod(i, columns) if grid.wraps else np.clip(i, 0, columns - 1)).astype(np.intp)


def _window(grid: Grid, *points: Points) -> Window:
    """The smallest window with all of these points; a single point if there are none."""
    rows, columns = (np.concatenate(part) for part in zip(*points, strict=True))
    if not rows.size:
        return Window(slice(0, 1), (slice(0, 1),))
    marks = np.zeros(grid.shape[1], np.bool_)
    marks[columns] = True
    return Window(slice(int(rows.min()), int(rows.max()) + 1), enclosing_columns(marks, wraps=grid.wraps))


def _within(found: Window, grid: Grid, points: Points, inside: Marks | None = None) -> Points:
    """The points as indices into the window; points that are not inside become its first point."""
    rows = points[0] - found.rows.start
    columns = np.mod(points[1] - found.cols[0].start, grid.shape[1])
    return (rows, columns) if inside is None else (np.where(inside, rows, 0), np.where(inside, columns, 0))


def _box_of_cells(axes: RegularAxes, resolution: float) -> Box:
    """A box around all cells, slightly enlarged so that no point is lost to rounding."""
    margin = resolution / 2 + 1e-6
    west, east = axes.lon[0] - margin, axes.lon[-1] + margin
    if east - west >= 360.0:
        west, east = -180.0, 180.0
    # The axis of a wide box across the dateline continues past 360°.
    east = east if east <= 360.0 else east - 360.0
    return Box(west, max(-90.0, axes.lat[0] - margin), east, min(90.0, axes.lat[-1] + margin))
