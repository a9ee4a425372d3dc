"""The response for each place and model: sections of columns, before encoding as JSON, CSV or binary."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from gribmill.arrays import Floats
from gribmill.server.data.point_answer import PointSource, without_paths
from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.forecast_request import CURRENT, ForecastRequest
from gribmill.server.openmeteo.models import ForecastModel
from gribmill.server.openmeteo.period import DAY, HOUR, QUARTER, Period
from gribmill.server.openmeteo.places_forecast import PlacesForecast
from gribmill.server.openmeteo.run_at_places import UNITS, Moments, NotTogether
from gribmill.server.openmeteo.sun import sun_times
from gribmill.server.openmeteo.units import INTEGER, SHOWN, TIME, UNDEFINED, Units
from gribmill.server.openmeteo.variables import AGGREGATIONS, SUN_UNITS, ForecastVariable, speed_of
from gribmill.storage.layout import TileFolder
from gribmill.tiles.read.point.point import PointRequest, containing
from gribmill.tiles.read.point.series import Series, time_text
from gribmill.tiles.read.run_choice import no_tiles

# More would take more memory, but hardly less time.
MOST_TOGETHER = 100
MEGA = 1e6
# Less is shown as 0.00 mm.
LEAST_MM = 0.005


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One variable: places × times, or the times of one place; not rounded, NaN where there is no value."""

    variable: ForecastVariable
    unit: str
    values: Floats

    def shown_unit(self, *, unixtime: bool) -> str:
        if self.unit == TIME:
            return "unixtime" if unixtime else "iso8601"
        return "" if self.unit == INTEGER else self.unit

    @property
    def decimals(self) -> int:
        return SHOWN.get(self.unit, (2, 0))[0]

    @property
    def unit_number(self) -> int:
        return SHOWN.get(self.unit, (2, 0))[1]

    @property
    def aggregation_number(self) -> int:
        return AGGREGATIONS[self.variable.aggregation]


@dataclass(frozen=True, slots=True)
class Section:
    """`hourly`, `minutely_15`, `daily`, `current` or `current_weather`: times in seconds since 1970, and columns."""

    name: str
    times: tuple[int, ...]
    interval: int
    columns: tuple[AnswerColumn, ...]

    @property
    def single(self) -> bool:
        """Whether it has one time, and its values are no lists."""
        return self.name.startswith(CURRENT)

    def at(self, place: int) -> Section:
        """The section of one place, from values of several."""
        columns = tuple(AnswerColumn(one.variable, one.unit, one.values[place]) for one in self.columns)
        return Section(self.name, self.times, self.interval, columns)


@dataclass(frozen=True, slots=True, eq=False)
class PlacesAnswer:
    """The response of a model for places with the same tiles and period, whose columns are places × times."""

    lats: Sequence[float]
    lons: Sequence[float]
    elevations: Sequence[float]
    elevations_known: Sequence[bool]
    """Whether the tiles contain the elevation of each place."""
    generation_ms: float
    """The time that each place took."""
    period: Period
    model: ForecastModel
    sections: tuple[Section, ...]
    shared_facts: Mapping[str, Any]
    """These name the run."""

    def facts(self, *, elevation_known: bool) -> dict[str, Any]:
        return {**self.shared_facts, "elevation_known": elevation_known}


class PlaceAnswer(NamedTuple):
    """The response of a model for one place: a row of its columns."""

    among: PlacesAnswer
    row: int

    @property
    def lat(self) -> float:
        return self.among.lats[self.row]

    @property
    def lon(self) -> float:
        return self.among.lons[self.row]

    @property
    def elevation(self) -> float:
        return self.among.elevations[self.row]

    @property
    def period(self) -> Period:
        return self.among.period

    @property
    def model(self) -> ForecastModel:
        return self.among.model

    @property
    def facts(self) -> dict[str, Any]:
        return self.among.facts(elevation_known=self.among.elevations_known[self.row])

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(section.at(self.row) for section in self.among.sections)


def place_answers(source: PointSource, request: ForecastRequest, root_request: PointRequest) -> list[list[PlaceAnswer]]:
    """The response of each model for each place; raises OpenMeteoError if there is no forecast."""
    found: list[list[PlaceAnswer]] = [[] for _ in request.places]
    for model in request.models:
        for folder, numbers in _together(source, request, root_request, model):
            work = Work(source, request, root_request, model, folder)
            for first in range(0, len(numbers), MOST_TOGETHER):
                part = numbers[first : first + MOST_TOGETHER]
                for number, answer in zip(part, work.answers(part), strict=True):
                    found[number].append(answer)
    return found


def _together(
    source: PointSource, request: ForecastRequest, base: PointRequest, model: ForecastModel
) -> Iterable[tuple[TileFolder, list[int]]]:
    """The numbers of the places that are read from the same tiles for the same period."""
    candidates = source.source.candidates(PointRequest(base.root, model=model.model_id, units=UNITS))
    # By identity: places share their periods, and comparing the values would take longer than the rest.
    found: dict[tuple[int, int], tuple[TileFolder, list[int]]] = {}
    for number, fitting in enumerate(containing(candidates, request.places)):
        if not fitting:
            reason = "" if candidates else f": {no_tiles(base.root, model.model_id, None, None)}"
            raise OpenMeteoError(f"No data is available for this location{reason}")
        first = fitting[0]
        key = id(first), id(request.periods[number])
        if key not in found:
            found[key] = first.choice.folders[0], []
        found[key][1].append(number)
    return found.values()


@dataclass(frozen=True, slots=True)
class Work:
    """The forecasts by one model from the same tiles."""

    source: PointSource
    request: ForecastRequest
    base: PointRequest
    model: ForecastModel
    folder: TileFolder

    def answers(self, numbers: Sequence[int]) -> list[PlaceAnswer]:
        """The responses for some of the places, which have the same period."""
        try:
            return self._answers(numbers)
        except NotTogether:
            return [one for number in numbers for one in self._answers([number])]

    def _answers(self, numbers: Sequence[int]) -> list[PlaceAnswer]:
        start = time.perf_counter()
        request, period = self.request, self.request.periods[numbers[0]]
        places = [request.places[number] for number in numbers]
        asked = [request.elevations[number] for number in numbers]
        forecast = PlacesForecast.of(self.source, places, self.base, self.folder, request, period, asked)
        sections = tuple(self._sections(forecast, period))
        facts = _facts(self.source, forecast.runs[0].facts, self.base)
        modelled = forecast.elevations.tolist()
        lats, lons = forecast.points
        found = PlacesAnswer(
            lats,
            lons,
            [one if wanted is None else wanted for one, wanted in zip(modelled, asked, strict=True)],
            [not math.isnan(one) for one in modelled],
            1000 * (time.perf_counter() - start) / len(numbers),
            period,
            self.model,
            sections,
            facts,
        )
        return [PlaceAnswer(found, row) for row in range(len(numbers))]

    def _sections(self, forecast: PlacesForecast, period: Period) -> list[Section]:
        """The sections, whose values are arrays of places × times."""
        request, sections = self.request, []
        if request.current:
            now = int(request.now.timestamp()) // QUARTER * QUARTER
            columns = self._columns(forecast, request.current, (now,), QUARTER)
            sections.append(Section(request.current_name, (now,), QUARTER, columns))
        if request.hourly:
            columns = self._columns(forecast, request.hourly, period.hours, HOUR)
            sections.append(Section("hourly", tuple(period.hours), HOUR, columns))
        if request.minutely:
            columns = self._columns(forecast, request.minutely, period.quarters, QUARTER)
            sections.append(Section("minutely_15", tuple(period.quarters), QUARTER, columns))
        if request.daily:
            sections.append(self._daily(forecast, period))
        return sections

    def _columns(
        self,
        forecast: PlacesForecast,
        variables: Sequence[ForecastVariable],
        times: Sequence[int],
        step: int,
    ) -> tuple[AnswerColumn, ...]:
        moments = Moments(np.array(times, np.int64), step)
        return tuple(AnswerColumn(one, *forecast.column(one, moments, self.request.units)) for one in variables)

    def _daily(self, forecast: PlacesForecast, period: Period) -> Section:
        days = tuple(period.days)
        # Values are on whole hours in UTC, even in time zones with a half-hour offset.
        first_hours = -(-np.array(days, np.int64) // HOUR) * HOUR
        hours = Moments((first_hours[:, None] + HOUR * np.arange(24)).ravel(), HOUR)
        columns = []
        for variable, hourly in self.request.daily:
            if variable.name in SUN_UNITS:
                columns.append(AnswerColumn(variable, variable.unit, _sun(variable.name, forecast, days)))
                continue
            # Hours with precipitation are counted in millimetres, whatever unit is asked for.
            units = Units() if variable.aggregation == "hours" else self.request.units
            unit, flat = forecast.column(hourly, hours, units)
            each = flat.reshape(len(flat), len(days), 24)
            if variable.aggregation == "dominant":
                speeds = forecast.column(speed_of(hourly), hours, units)[1].reshape(each.shape)
                values = _dominant(each, speeds)
            else:
                values = np.array([[_aggregate(variable, day) for day in one] for one in each.tolist()], np.float64)
            shown = unit if unit == UNDEFINED else self.request.units.of(variable.unit)
            columns.append(AnswerColumn(variable, shown, values))
        return Section("daily", days, DAY, tuple(columns))


def _dominant(directions: Floats, speeds: Floats) -> Floats:
    """The direction of the mean wind of each day; NaN if an hour is missing, or the day is calm."""
    angles = np.radians(directions)
    x, y = ((speeds * part).sum(axis=-1) for part in (np.sin(angles), np.cos(angles)))
    found: Floats = np.degrees(np.arctan2(x, y)) % 360.0
    return np.where((x == 0) & (y == 0), np.nan, found)


def _sun(name: str, forecast: PlacesForecast, days: Sequence[int]) -> Floats:
    lats, lons = (np.array(axis)[:, None] for axis in forecast.points)
    times = sun_times(np.array(days, np.float64), lats, lons)
    if name == "daylight_duration":
        return times.set - times.rise
    return np.rint(times.rise if name == "sunrise" else times.set)


def _aggregate(variable: ForecastVariable, values: Sequence[float]) -> float:
    """The daily value; NaN if an hour is missing."""
    if any(math.isnan(value) for value in values):
        return math.nan
    match variable.aggregation:
        case "maximum":
            return max(values)
        case "minimum":
            return min(values)
        case "mean":
            return math.fsum(values) / len(values)
        case "sum":
            return math.fsum(values) * (HOUR / MEGA if variable.unit == "MJ/m²" else 1)
        case "hours":
            return float(sum(value >= LEAST_MM for value in values))
        case _:
            return math.nan


def _facts(source: PointSource, series: Series, base: PointRequest) -> dict[str, Any]:
    times, choice = source.times(series), series.choice
    return {
        "model": series.model,
        "run": series.run,
        "region": series.region,
        "complete": choice.complete if choice else None,
        "hours": choice.hours if choice else None,
        "hours_expected": choice.expected if choice else None,
        "ingested_at": _text(times.ingested_at),
        "built_at": _text(times.built_at),
        "elevation_known": False,
        "attribution": series.attribution,
        "notes": [without_paths(base.root, note) for note in series.notes],
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else time_text(moment.replace(microsecond=0))


def local_time(seconds: int, period: Period, *, day: bool) -> str:
    """In Open-Meteo's format: local time, to the minute, without a zone."""
    moment = datetime.fromtimestamp(seconds + period.offset, UTC)
    return f"{moment:%Y-%m-%d}" if day else f"{moment:%Y-%m-%dT%H:%M}"
