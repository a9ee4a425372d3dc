"""Point forecasts at one or many places, with one row per hour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Protocol

import numpy as np

from gribmill.arrays import Floats
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.open_root import open_root
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.join_runs import JoinedRows, missing_hours, read_rows
from gribmill.tiles.read.point.place import Place, Sampling, contained, place_at, places_of
from gribmill.tiles.read.point.sample import Samples, sample_folder
from gribmill.tiles.read.point.series import Column, Series, SeriesList
from gribmill.tiles.read.run_choice import SEAMLESS, RunChoice, check_run, choose_runs, no_tiles
from gribmill.tiles.read.tile import Tile, cached_tile
from gribmill.tiles.read.time_zone import time_zone
from gribmill.tiles.read.units import (
    OPPOSITE_SIGN,
    POWER,
    SYSTEMS,
    Conversion,
    System,
    conversion_for,
    is_power,
    shown_unit,
)

HOURS_NAMED = 8


@dataclass(frozen=True, slots=True)
class PointRequest:
    """A request: model, run and region, variables, and how they are shown."""

    root: DataRoot
    model: str | None = None
    run: str | None = None
    region: str | None = None
    variables: tuple[str, ...] | None = None
    method: Sampling = "nearest"
    units: System = "metric"
    zone: str | tzinfo | None = None

    def __post_init__(self) -> None:
        if self.units not in SYSTEMS or self.method not in ("nearest", "bilinear"):
            raise TileError(f"units are one of {', '.join(SYSTEMS)}; the method is nearest or bilinear")
        check_run(self.run)
        time_zone(self.zone)


def point(
    lat: float,
    lon: float,
    *,
    data: str | Path | None = None,
    model: str | None = None,
    run: str | None = None,
    region: str | None = None,
    variables: Iterable[str] | None = None,
    method: Sampling = "nearest",
    units: System = "metric",
    tz: str | tzinfo | None = None,
) -> Series:
    """The forecast at a point, from the finest tiles that contain it, or from the given model and region.

    `run` is `complete` (the default: the newest complete run), `newest`, `seamless` (each hour from the newest run that
    has it) or YYYYMMDD_HH. Sums such as precipitation are the amounts since the previous row, or over the time range in
    `windows`; they never overlap. Means likewise. Extremes have the time range of their message. Times are in UTC,
    or in the time zone `tz`.
    """
    names = None if variables is None else tuple(variables)
    request = PointRequest(open_root(data), model, run, region, names, method, units, tz)
    (found,) = forecasts([place_at(lat, lon)], request)
    if isinstance(found, TileError):
        raise found
    return found


def points(
    places: Iterable[Place | tuple[str, float, float] | tuple[float, float]],
    *,
    data: str | Path | None = None,
    model: str | None = None,
    run: str | None = None,
    region: str | None = None,
    variables: Iterable[str] | None = None,
    method: Sampling = "nearest",
    units: System = "metric",
    tz: str | tzinfo | None = None,
) -> SeriesList:
    """The forecasts at many places, given as (lat, lon) or (name, lat, lon), in their order; otherwise like `point`.

    Each tile is opened once for all places. A place that no tile contains is an error.
    """
    names = None if variables is None else tuple(variables)
    request = PointRequest(open_root(data), model, run, region, names, method, units, tz)
    series: list[Series] = []
    for found in forecasts(places_of(places), request):
        if isinstance(found, TileError):
            raise found
        series.append(found)
    return SeriesList(series)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Tiles that may contain a place."""

    choice: RunChoice
    tile: Tile

    @property
    def order(self) -> tuple[float, int, str, str]:
        """Sort key: the finest grid first, then the one with more hours."""
        folder = self.choice.folders[0]
        return self.tile.meta.grid.cell_km, -self.choice.hours, folder.model, folder.region


class TileSource(Protocol):
    """Finds the tiles of a request and reads them at places."""

    def candidates(self, request: PointRequest) -> Sequence[Candidate]:
        """The run of each matching model and region, the finest grid first."""

    def sample(
        self, folder: TileFolder, places: Sequence[Place], method: Sampling, wanted: list[str] | None
    ) -> list[Samples]:
        """All hours at each of the places."""


class StoredTiles:
    """Tiles as they are now, without a cache between requests."""

    def candidates(self, request: PointRequest) -> Sequence[Candidate]:
        choices = choose_runs(request.root, request.model, request.region, request.run)
        found = [Candidate(choice, tile) for choice in choices if (tile := _any_tile(choice))]
        return sorted(found, key=lambda candidate: candidate.order)

    def sample(
        self, folder: TileFolder, places: Sequence[Place], method: Sampling, wanted: list[str] | None
    ) -> list[Samples]:
        return sample_folder(folder, places, method, wanted)


STORED_TILES = StoredTiles()


def forecasts(
    places: Sequence[Place], request: PointRequest, source: TileSource = STORED_TILES
) -> list[Series | TileError]:
    """The forecast at each place, or the error if there is none."""
    root = request.root
    candidates = source.candidates(request)
    groups: dict[int, list[tuple[int, list[Candidate]]]] = {}
    found: dict[int, Series | TileError] = {}
    for number, (place, fitting) in enumerate(zip(places, containing(candidates, places), strict=True)):
        if fitting:
            groups.setdefault(candidates.index(fitting[0]), []).append((number, fitting[1:]))
        else:
            hint = no_tiles(root, request.model, request.run, request.region)
            hint = "none of the regions contains it" if candidates else hint
            found[number] = TileError(f"no tile under {root.tiles} has a forecast for {place}: {hint}")
    for chosen, members in groups.items():
        choice = candidates[chosen].choice
        wanted = None if request.variables is None else list(request.variables)
        here = [places[number] for number, _ in members]
        several = read_rows(choice, here, request.method, wanted, source.sample)
        for (number, others), rows in zip(members, several, strict=True):
            found[number] = _series(places[number], choice, rows, others, request)
    return [found[number] for number in range(len(places))]


def containing(candidates: Sequence[Candidate], places: Sequence[Place]) -> list[list[Candidate]]:
    """For each place, the candidates that contain it; for each model, only the newest of its chosen runs."""
    found: list[list[Candidate]] = [[] for _ in places]
    for candidate in candidates:
        for fitting, inside in zip(found, contained(candidate.tile, places), strict=True):
            if inside:
                fitting.append(candidate)
    return [_newest(fitting) for fitting in found]


def _newest(fitting: list[Candidate]) -> list[Candidate]:
    if len(fitting) < 2:
        return fitting
    newest: dict[str, str] = {}
    for one in fitting:
        model = one.choice.folders[0].model
        newest[model] = max(newest.get(model, ""), one.choice.run)
    return [one for one in fitting if one.choice.run == newest[one.choice.folders[0].model]]


def _series(
    place: Place, choice: RunChoice, rows: JoinedRows, others: Sequence[Candidate], request: PointRequest
) -> Series:
    folder, location = choice.folders[0], rows.samples.location
    return Series(
        folder.model,
        folder.run,
        folder.region,
        place.lat,
        place.lon,
        location.lat,
        location.lon,
        location.distance_km,
        request.method,
        rows.steps,
        {column.name: _shown(column, request.units) for column in rows.columns},
        (*rows.notes, *_gaps(rows, choice), *_also(others)),
        rows.samples.first.meta.attribution,
        rows.runs,
        choice,
        time_zone(request.zone),
        place.name,
    )


def _any_tile(choice: RunChoice) -> Tile | None:
    """The first readable tile."""
    for folder in choice.folders:
        for path in folder.tiles().values():
            try:
                return cached_tile(path)
            except TileError:
                continue
    return None


def shown_as(column: Column, system: System) -> tuple[Column, Callable[[Floats], Floats] | None]:
    """The column in the units of a system, but with its values as they are, and how they change; None if they do not.

    It changes arrays whose last dimension are the hours.
    """
    if column.windows is not None and is_power(column.units, "accum", system):
        seconds = np.array([60.0 * (window[1] - window[0]) if window else np.nan for window in column.windows])
        return column.with_values(column.values, POWER), lambda values: values / seconds
    units = shown_unit(column.name, column.units, system)
    conversion = conversion_for(column.name, column.units, system)
    same = conversion == Conversion()
    if column.negated and system not in ("si", "native"):
        long_name = column.long_name.removesuffix(OPPOSITE_SIGN)
        like = replace(column, units=units, long_name=long_name, negated=False)
        return like, np.negative if same else lambda values: conversion(-values)
    like = column if units == column.units else column.with_values(column.values, units)
    return like, None if same else conversion


def _shown(column: Column, system: System) -> Column:
    like, change = shown_as(column, system)
    if change is None:
        return like
    return like.with_values(tuple(change(np.asarray(column.values, np.float64)).tolist()))


def _gaps(rows: JoinedRows, choice: RunChoice) -> list[str]:
    """A note on hours that are missing between others."""
    missing = missing_hours(rows.minutes)
    if not missing:
        return []
    some = ", ".join(f"+{minute / 60:g}" for minute in missing[:HOURS_NAMED])
    some += ", …" if len(missing) > HOURS_NAMED else ""
    runs = "any run" if choice.asked == SEAMLESS else f"run {choice.run}"
    return [f"hour {some} of {runs} is missing" if len(missing) == 1 else f"hours {some} of {runs} are missing"]


def _also(others: Sequence[Candidate]) -> list[str]:
    if not others:
        return []
    folders = [one.choice.folders[0] for one in others]
    choices = ", ".join(f"{folder.model}/{folder.region}" for folder in folders)
    return [f"the point is also in {choices}: choose with model and region"]
