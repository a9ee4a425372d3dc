"""Minimum, maximum, mean and percentiles of variables over a region, or over a box within one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gribmill.arrays import Floats, Values
from gribmill.regions.box import Box
from gribmill.server.data.point_answer import PointSource, without_paths
from gribmill.server.problems import HttpProblem
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.kept_tiles import KeptTiles, check_there
from gribmill.tiles.read.point.point import Candidate, PointRequest
from gribmill.tiles.read.run_choice import no_tiles
from gribmill.tiles.read.tile import Tile, read_tile
from gribmill.tiles.read.units import System, unit_change
from gribmill.views.data.area import AreaHourView, AreaStatisticsView, AreaView

MOST_VARIABLES, MOST_PERCENTILES = 8, 9
# The limit on values read per request: a state for two days, or a whole large grid for some hours.
MOST_VALUES = 200_000_000


@dataclass(frozen=True, slots=True)
class AreaRequest:
    """What to compute: a box (or the whole region), variables, percentiles and hours."""

    request: PointRequest
    box: Box | None
    variables: tuple[str, ...]
    percentiles: tuple[float, ...]
    first_hour: float
    last_hour: float


@dataclass(frozen=True, slots=True)
class _Points:
    """Which points of a tile are in the area, and the weight of each in the mean."""

    rows: slice
    inside: np.ndarray
    weights: Floats


def area(source: PointSource, wanted: AreaRequest) -> AreaView:
    """The statistics of every hour; raises a problem if no tile covers the area."""
    tiles = source.tiles
    candidate, points = _chosen(tiles, wanted)
    folder, first = candidate.choice.folders[0], candidate.tile
    state = tiles.folder(folder)
    steps = [step for step in state.paths if wanted.first_hour <= step / 60 <= wanted.last_hour]
    values = len(steps) * len(wanted.variables) * points.inside.size
    if values > MOST_VALUES:
        raise HttpProblem(
            422, f"the request needs {values} values, more than {MOST_VALUES}: choose a smaller area or fewer hours"
        )
    hours: list[AreaHourView] = []
    notes: list[str] = []
    units: dict[str, str] = {}
    known: set[str] = set()
    for step in steps:
        try:
            tile = read_tile(state.paths[step], first)
            known |= {name for name in wanted.variables if _arrays(tile, name)}
            hours.append(_hour(tile, wanted, points, units))
        except TileError as error:
            notes.append(f"hour {step / 60:g} cannot be read: {without_paths(tiles.root, str(error))}")
    if notes:
        check_there(folder)
    if lacking := [name for name in wanted.variables if name not in known] if hours else []:
        raise HttpProblem(404, f"{folder.model} over {folder.region} has no {', '.join(lacking)}; it has {_has(first)}")
    choice, box = candidate.choice, wanted.box or Box(*first.meta.region.box)
    return AreaView(
        model=folder.model,
        run=folder.run,
        region=folder.region,
        box=(box.west, box.south, box.east, box.north),
        points=int(points.inside.sum()),
        complete=choice.complete,
        hours_here=choice.hours,
        hours_expected=choice.expected,
        ingested_at=source.folder_times(folder).ingested_at,
        built_at=state.built_at,
        units=units,
        hours=tuple(hours),
        notes=tuple(notes),
        attribution=first.meta.attribution,
    )


def _chosen(tiles: KeptTiles, wanted: AreaRequest) -> tuple[Candidate, _Points]:
    """The finest tiles with a grid point in the area."""
    request = wanted.request
    candidates = tiles.candidates(request)
    if not candidates:
        raise HttpProblem(404, no_tiles(tiles.root, request.model, request.run, request.region))
    for candidate in candidates:
        points = _points(candidate.tile, wanted.box)
        if points is not None and (wanted.box is None or _within(candidate.tile, wanted.box)):
            return candidate, points
    for candidate in candidates:
        if (points := _points(candidate.tile, wanted.box)) is not None:
            return candidate, points
    raise HttpProblem(404, "no tile has a grid point in that box")


def _within(tile: Tile, box: Box) -> bool:
    outer = Box(*tile.meta.region.box)
    return all(outer.contains(lat, lon) for lat in (box.south, box.north) for lon in (box.west, box.east))


def _points(tile: Tile, box: Box | None) -> _Points | None:
    lat, lon = tile.latlon()
    inside = np.ones(tile.shape, bool) if box is None else box.contains(lat, lon)
    rows = np.flatnonzero(inside.any(axis=1))
    if not rows.size:
        return None
    part = slice(int(rows[0]), int(rows[-1]) + 1)
    # Cells of a projected grid have nearly the same size.
    weights = np.cos(np.radians(lat[part])) if tile.regular else np.ones_like(lat[part])
    return _Points(part, inside[part], weights)


def _hour(tile: Tile, wanted: AreaRequest, points: _Points, units: dict[str, str]) -> AreaHourView:
    found: dict[str, AreaStatisticsView | None] = {}
    for name in wanted.variables:
        arrays = _arrays(tile, name)
        if not arrays:
            found[name] = None
            continue
        quantity = tile.meta.variables[arrays[0]]
        values, units[name] = _values(tile, name, arrays, quantity, points, wanted.request.units)
        found[name] = _statistics(values, points, quantity, wanted.percentiles)
    return AreaHourView(hour=tile.meta.minutes / 60, time=tile.meta.valid_time, variables=found)


def _arrays(tile: Tile, name: str) -> tuple[str, ...]:
    """The array of a variable, or the two components of a wind speed that is not stored; empty if missing."""
    if stored := tile.find(name):
        return (stored,)
    if name.startswith("ws"):
        pair = f"u{name[2:]}", f"v{name[2:]}"
        if {*pair} <= tile.meta.variables.keys():
            return pair
    return ()


def _values(
    tile: Tile, name: str, arrays: Sequence[str], quantity: VariableMeta, points: _Points, system: System
) -> tuple[Values, str]:
    change = unit_change(name, quantity, system)
    parts = [tile.read_rows([array], points.rows.start, points.rows.stop)[array] for array in arrays]
    values = np.hypot(*parts) if len(parts) == 2 else parts[0]
    return change(values), change.units


def _statistics(
    values: Values, points: _Points, quantity: VariableMeta, percentiles: Sequence[float]
) -> AreaStatisticsView:
    there = points.inside & ~np.isnan(values)
    chosen = values[there].astype(np.float64)
    window = None if quantity.statistic == "instant" else quantity.step_minutes
    count = int(points.inside.sum())
    names = [f"{one:g}" for one in percentiles]
    if not chosen.size:
        return AreaStatisticsView(
            min=None,
            max=None,
            mean=None,
            percentiles=dict.fromkeys(names),
            points=count,
            missing=count,
            window_minutes=window,
        )
    weights = points.weights[there]
    ranks = np.percentile(chosen, percentiles) if percentiles else ()
    return AreaStatisticsView(
        min=float(chosen.min()),
        max=float(chosen.max()),
        mean=float((chosen * weights).sum() / weights.sum()),
        percentiles={name: float(value) for name, value in zip(names, ranks, strict=True)},
        points=count,
        missing=count - chosen.size,
        window_minutes=window,
    )


def _has(tile: Tile) -> str:
    return ", ".join(tile.names)
