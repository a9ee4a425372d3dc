"""CoverageJSON of a point over time, and of a grid over time.

Latitude-longitude grids keep their points. Projected grids are resampled to the nearest point on a regular grid of
about the same spacing, aligned to multiples of it, so that neighbouring boxes fit together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gribmill.arrays import Floats, Values
from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.grid import KM_PER_DEGREE
from gribmill.server.edr.collection import Collection, text_of, time_of
from gribmill.server.edr.query import Polygon, QueryBox, QueryTimes
from gribmill.server.problems import HttpProblem
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.kept_tiles import check_there
from gribmill.tiles.read.point.place import locate_in_tile, place_at
from gribmill.tiles.read.point.point import TileSource
from gribmill.tiles.read.tile import Tile, read_tile

MOST_VALUES = 2_000_000
SPACE = {
    "coordinates": ["x", "y"],
    "system": {"type": "GeographicCRS", "id": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"},
}
TIME = {"coordinates": ["t"], "system": {"type": "TemporalRS", "calendar": "Gregorian"}}
# Clients may send axis values back rounded.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class GridPart:
    """The axes of a coverage, and the index in the tile of each of its points; -1 outside."""

    x: Floats
    y: Floats
    points: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.y)


def position(
    source: TileSource, one: Collection, lon: float, lat: float, names: Sequence[str], times: QueryTimes
) -> dict[str, Any]:
    """A PointSeries at the nearest grid point."""
    place = place_at(lat, lon)
    if locate_in_tile(one.tile, place.lat, place.lon) is None:
        raise HttpProblem(400, f"{lon:g} {lat:g} is outside the collection {one.id}")
    try:
        (samples,) = source.sample(one.candidate.choice.folders[0], [place], "nearest", [*names])
    except VanishedRun:
        raise
    except TileError:
        raise HttpProblem(404, f"no tile of run {one.run} of {one.id} can be read") from None
    steps = _steps(one, times)
    rows = {step: row for row, step in enumerate(samples.steps)}
    at = [rows.get(step, -1) for step in steps]
    values = {}
    for name in names:
        found = [*samples.values(name), math.nan]
        values[name] = np.array([found[row] for row in at], np.float32)
    where = samples.location
    axes = {"x": {"values": [where.lon]}, "y": {"values": [where.lat]}, "t": _time_axis(one, steps)}
    ranges = {name: _array(column, ["t"], [len(steps)]) for name, column in values.items()}
    return _coverage(one, "PointSeries", axes, ranges)


def cube(
    one: Collection, bounds: QueryBox, names: Sequence[str], times: QueryTimes, mask: Polygon | None = None
) -> dict[str, Any]:
    """A Grid over the box; with a mask, points outside of it are null."""
    steps = _steps(one, times)
    part = grid_part(one.tile, bounds)
    if mask is not None:
        # The polygon may have longitudes up to 360.
        x = bounds.west + (part.x - bounds.west + TOLERANCE) % 360.0 - TOLERANCE
        part.points[~mask.contains(x, part.y)] = -1
    if not part.points.size or (part.points < 0).all():
        raise HttpProblem(400, f"the collection {one.id} has no grid point in that area")
    count = part.points.size * len(steps) * len(names)
    if count > MOST_VALUES:
        raise HttpProblem(
            413, f"the request needs {count} values, more than {MOST_VALUES}: choose a smaller area or fewer times"
        )
    shape = (len(steps), *part.points.shape)
    values = {name: np.full(shape, np.nan, np.float32) for name in names}
    for number, step in enumerate(steps):
        _read(one, step, part, values, number)
    axes = {"x": {"values": part.x.tolist()}, "y": {"values": part.y.tolist()}, "t": _time_axis(one, steps)}
    ranges = {name: _array(array.reshape(-1), ["t", "y", "x"], [*shape]) for name, array in values.items()}
    return _coverage(one, "Grid", axes, ranges)


def grid_part(tile: Tile, bounds: QueryBox) -> GridPart:
    """The points of a coverage over a box."""
    width = bounds.width
    if tile.regular:
        lon = bounds.west + (tile.x - bounds.west + TOLERANCE) % 360.0 - TOLERANCE
        columns = np.flatnonzero(lon <= bounds.west + width + TOLERANCE)
        columns = columns[np.argsort(lon[columns], kind="stable")]
        rows = np.flatnonzero((tile.y >= bounds.south - TOLERANCE) & (tile.y <= bounds.north + TOLERANCE))
        points = rows[:, None] * tile.shape[1] + columns[None, :]
        return GridPart(_usual(lon[columns]), tile.y[rows], points)
    step_y = round(tile.meta.grid.cell_km / KM_PER_DEGREE, 4)
    south, north = tile.meta.region.box[1], tile.meta.region.box[3]
    step_x = round(step_y / max(0.05, math.cos(math.radians((south + north) / 2))), 4)
    y = _lines(max(bounds.south, -90.0), min(bounds.north, 90.0), step_y)
    west = bounds.west - 360.0 if bounds.west > 180 else bounds.west
    x = _lines(west, west + width, step_x)
    if len(x) * len(y) > MOST_VALUES:
        raise HttpProblem(413, f"the box has {len(x) * len(y)} points, more than {MOST_VALUES}")
    at_rows, at_columns = tile.locate(*np.broadcast_arrays(y[:, None], x[None, :]))
    inside = ~np.isnan(at_rows)
    at_row = np.clip(np.rint(np.where(inside, at_rows, 0)), 0, tile.shape[0] - 1).astype(np.int64)
    at_column = np.clip(np.rint(np.where(inside, at_columns, 0)), 0, tile.shape[1] - 1).astype(np.int64)
    return GridPart(_usual(x), y, np.where(inside, at_row * tile.shape[1] + at_column, -1))


def _lines(low: float, high: float, step: float) -> Floats:
    first, last = math.ceil(low / step - TOLERANCE / step), math.floor(high / step + TOLERANCE / step)
    return np.round(np.arange(first, last + 1) * step, 6)


def _usual(lon: Floats) -> Floats:
    """Longitudes within ±180°, unless that would break their order across the date line."""
    shifted: Floats = wrap_longitude(lon)
    return shifted if len(shifted) < 2 or (np.diff(shifted) > 0).all() else lon


def _read(one: Collection, step: int, part: GridPart, values: dict[str, Values], number: int) -> None:
    """Fill in one hour; values that are missing or cannot be read stay missing."""
    inside = part.points >= 0
    try:
        tile = read_tile(one.state.paths[step], one.tile)
        width = tile.shape[1]
        first, last = int(part.points[inside].min()) // width, int(part.points[inside].max()) // width
        for name, array in values.items():
            if name in tile.meta.variables:
                rows = tile.read_rows([name], first, last + 1)[name].reshape(-1)
                array[number][inside] = rows[part.points[inside] - first * width]
    except TileError:
        check_there(one.candidate.choice.folders[0])


def _steps(one: Collection, times: QueryTimes) -> list[int]:
    found = [step for step, moment in one.times.items() if times.contains(moment)]
    if not found:
        raise HttpProblem(
            400, f"the collection {one.id} has no values at that time", errors=[("query.datetime", "none")]
        )
    return found


def _time_axis(one: Collection, steps: Sequence[int]) -> dict[str, Any]:
    times = one.times
    return {"values": [time_of(times[step]) for step in steps]}


def _array(values: Values, axes: list[str], shape: list[int]) -> dict[str, Any]:
    return {"type": "NdArray", "dataType": "float", "axisNames": axes, "shape": shape, "values": values}


def _coverage(one: Collection, kind: str, axes: dict[str, Any], ranges: dict[str, Any]) -> dict[str, Any]:
    variables = one.variables
    return {
        "type": "Coverage",
        "id": f"{one.id}:{one.run}",
        "domain": {"type": "Domain", "domainType": kind, "axes": axes, "referencing": [SPACE, TIME]},
        "parameters": {name: _parameter(name, variables[name]) for name in ranges},
        "ranges": ranges,
    }


def _parameter(name: str, meta: VariableMeta) -> dict[str, Any]:
    return {
        "type": "Parameter",
        "description": {"en": text_of(meta)},
        "unit": {"symbol": meta.units or "1"},
        "observedProperty": {"id": meta.standard_name or name, "label": {"en": meta.long_name or name}},
    }
