"""The response for each place and model: sections of columns, before encoding as JSON, CSV or binary."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np

from gribmill.identity import run_time
from gribmill.server.data.point_answer import PointSource, without_paths
from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.forecast_request import HOUR, ForecastRequest, Period
from gribmill.server.openmeteo.hourly import QUARTER, Hourly, hourly_values
from gribmill.server.openmeteo.models import ForecastModel
from gribmill.server.openmeteo.units import SHOWN, UNDEFINED, to_unit
from gribmill.server.openmeteo.variables import AGGREGATIONS, ForecastVariable
from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.places import Place
from gribmill.tiles.read.point.point import PointRequest, containing
from gribmill.tiles.read.point.sample import derivable
from gribmill.tiles.read.point.series import Series, time_text
from gribmill.tiles.read.run_choice import no_tiles

DAY = 86400
# Hours before the run come from earlier runs, at most this many.
MOST_EARLIER_RUNS = 60
OROGRAPHY, TEMPERATURE = "orog", "t2m"
# Kelvin per metre, as Open-Meteo uses.
LAPSE_RATE = 0.0065
MEGA = 1e6


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One variable; NaN where there is no value."""

    variable: ForecastVariable
    unit: str
    values: tuple[float, ...]

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
    """`hourly`, `minutely_15`, `daily` or `current`: times in seconds since 1970, and columns."""

    name: str
    times: tuple[int, ...]
    interval: int
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True, slots=True)
class PlaceAnswer:
    """One place by one model. `facts` say which run it is from."""

    lat: float
    lon: float
    elevation: float
    generation_ms: float
    period: Period
    model: ForecastModel
    sections: tuple[Section, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)


def place_answers(source: PointSource, request: ForecastRequest, root_request: PointRequest) -> list[list[PlaceAnswer]]:
    """For each place, the answer of each model; raises OpenMeteoError if there is no forecast."""
    return [
        [_answer(source, request, root_request, number, model) for model in request.models]
        for number in range(len(request.places))
    ]


def _answer(
    source: PointSource, request: ForecastRequest, base: PointRequest, number: int, model: ForecastModel
) -> PlaceAnswer:
    start = time.perf_counter()
    place, period = request.places[number], request.periods[number]
    forecast = _Forecast.of(source, place, base, model, request, period, request.elevations[number])
    sections = []
    if request.current:
        sections.append(_current(forecast, request))
    if request.hourly:
        columns = tuple(forecast.column(one, period.hours, request) for one in request.hourly)
        sections.append(Section("hourly", tuple(period.hours), HOUR, columns))
    if request.minutely:
        quarters = range(period.begin, period.end, QUARTER)
        columns = tuple(forecast.column(one, quarters, request, QUARTER) for one in request.minutely)
        sections.append(Section("minutely_15", tuple(quarters), QUARTER, columns))
    if request.daily:
        sections.append(_daily(forecast, request, period))
    series = forecast.series[0]
    elevation = request.elevations[number]
    return PlaceAnswer(
        series.point_lat,
        series.point_lon,
        forecast.elevation if elevation is None else elevation,
        1000 * (time.perf_counter() - start),
        period,
        model,
        tuple(sections),
        _facts(source, series, forecast, base),
    )


@dataclass(slots=True)
class _Forecast:
    """The forecasts for a place: of the chosen run, then of earlier ones."""

    series: list[Series]
    elevation: float
    """Of the model's orography; NaN if the tiles have none."""
    asked_elevation: float | None
    known: dict[tuple[str, int], Hourly] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: PointSource,
        place: Place,
        base: PointRequest,
        model: ForecastModel,
        request: ForecastRequest,
        period: Period,
        elevation: float | None,
    ) -> _Forecast:
        wanted = PointRequest(base.root, model=model.model_id, units="common")
        found = containing(source.source.candidates(wanted), place)
        if not found:
            reason = "" if source.source.candidates(wanted) else f": {no_tiles(base.root, model.model_id, None, None)}"
            raise OpenMeteoError(f"No data is available for this location{reason}")
        folder = found[0].choice.folders[0]
        variables = [*request.hourly, *request.minutely, *request.current, *(hourly for _, hourly in request.daily)]
        names = _columns(source, folder, variables)
        series = [_series(source, place, folder, None, names, base)]
        first = int(run_time(folder.run).timestamp())
        if period.begin <= first:
            for earlier in _earlier(source, folder, period.begin):
                try:
                    here = _columns(source, earlier, variables)
                    series.append(_series(source, place, earlier, earlier.run, here, base))
                except OpenMeteoError:
                    continue
        height = series[0].columns.get(OROGRAPHY)
        heights = [value for value in height.values if not math.isnan(value)] if height else []
        return cls(series, heights[0] if heights else math.nan, elevation)

    def column(
        self, variable: ForecastVariable, times: Sequence[int], request: ForecastRequest, step: int = HOUR
    ) -> AnswerColumn:
        """A variable at these times, in the requested unit; without a unit if the variable is not available."""
        for name in variable.columns:
            column = next((one.columns[name] for one in self.series if name in one.columns), None)
            if column is not None:
                unit = request.units.of(variable.unit)
                values = np.array(self._at(name, times, step), np.float64)
                if name == TEMPERATURE:
                    values += self._lapse()
                values = to_unit(column.units, unit)(values)
                return AnswerColumn(variable, unit, tuple(values.tolist()))
        if variable.name in ("relative_humidity_2m", "relativehumidity_2m"):
            humidity = _humidity(self._at(TEMPERATURE, times, step), self._at("d2m", times, step))
            if not all(math.isnan(value) for value in humidity):
                return AnswerColumn(variable, "%", humidity)
        return AnswerColumn(variable, UNDEFINED, (math.nan,) * len(times))

    def _lapse(self) -> float:
        """The temperature correction from the model's elevation to the requested one."""
        if self.asked_elevation is None or math.isnan(self.elevation):
            return 0.0
        return (self.elevation - self.asked_elevation) * LAPSE_RATE

    def _at(self, name: str, times: Sequence[int], step: int) -> list[float]:
        if (name, step) not in self.known:
            self.known[name, step] = self._hourly(name, step)
        found = self.known[name, step]
        return [found.get(moment, math.nan) for moment in times]

    def _hourly(self, name: str, step: int) -> Hourly:
        """Values of the chosen run; before its start, of the newest earlier run that has the hour."""
        newest = int(run_time(self.series[0].run).timestamp())
        found: Hourly = {}
        for series in self.series:
            if name in series.columns:
                for moment, value in hourly_values(series, series.columns[name], step).items():
                    if series is self.series[0] or moment <= newest:
                        found.setdefault(moment, value)
        return found


def _columns(source: PointSource, folder: TileFolder, variables: Sequence[ForecastVariable]) -> tuple[str, ...]:
    """The variables that the run has at any hour."""
    state = source.tiles.folder(folder, wait=source.wait)
    there = {name for tile in state.tiles for name in tile.meta.variables}
    there |= derivable(there).keys()
    wanted = [name for one in variables for name in one.columns]
    wanted += ["t2m", "d2m"] if any("rh2m" in one.columns for one in variables) and "rh2m" not in there else []
    return tuple(dict.fromkeys(name for name in (*wanted, OROGRAPHY) if name in there)) or tuple(sorted(there)[:1])


def _series(
    source: PointSource,
    place: Place,
    folder: TileFolder,
    run: str | None,
    names: tuple[str, ...],
    base: PointRequest,
) -> Series:
    request = PointRequest(base.root, folder.model, run, folder.region, names or None, units="common")
    try:
        (found,) = source.series([place], request)
    except TileError as error:
        found = error
    if isinstance(found, TileError):
        raise OpenMeteoError(without_paths(base.root, str(found)))
    return found


def _earlier(source: PointSource, folder: TileFolder, begin: int) -> list[TileFolder]:
    """Earlier runs, newest first, back to the one that has the first hour."""

    def look() -> list[TileFolder]:
        every = source.tiles.root.tile_folders(folder.model, None, folder.region)
        return list(islice((one for one in every if one.run < folder.run), MOST_EARLIER_RUNS))

    found: list[TileFolder] = []
    for one in source.tiles.looked(("earlier", folder.model, folder.region, folder.run), look, wait=source.wait):
        found.append(one)
        if run_time(one.run).timestamp() < begin:
            break
    return found


def _current(forecast: _Forecast, request: ForecastRequest) -> Section:
    """The current hour."""
    now = int(request.now.timestamp()) // HOUR * HOUR
    return Section("current", (now,), HOUR, tuple(forecast.column(one, (now,), request) for one in request.current))


def _daily(forecast: _Forecast, request: ForecastRequest, period: Period) -> Section:
    first = (period.begin + period.offset) // DAY * DAY - period.offset
    # By the last hour: in time zones with a half-hour offset, the end is after midnight.
    days = tuple(range(first, period.end - HOUR + 1, DAY))
    columns = []
    for variable, hourly in request.daily:
        # Hours are whole in UTC, even in time zones with a half-hour offset.
        hours = [[-(-day // HOUR) * HOUR + HOUR * hour for hour in range(24)] for day in days]
        flat = forecast.column(hourly, [moment for day in hours for moment in day], request)
        values = tuple(_aggregate(variable, flat.values[24 * day : 24 * day + 24]) for day in range(len(days)))
        unit = flat.unit if flat.unit == UNDEFINED else request.units.of(variable.unit)
        columns.append(AnswerColumn(variable, unit, values))
    return Section("daily", days, DAY, tuple(columns))


def _aggregate(variable: ForecastVariable, values: Sequence[float]) -> float:
    """The value of a whole day; NaN if an hour is missing."""
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
        case "dominant":
            x = math.fsum(math.sin(math.radians(value)) for value in values)
            y = math.fsum(math.cos(math.radians(value)) for value in values)
            return math.degrees(math.atan2(x, y)) % 360.0
        case _:
            return math.nan


def _humidity(temperatures: Sequence[float], dew_points: Sequence[float]) -> tuple[float, ...]:
    """Percent, by the Magnus formula over water, from kelvin."""
    found = []
    for temperature, dew_point in zip(temperatures, dew_points, strict=True):
        if math.isnan(temperature) or math.isnan(dew_point):
            found.append(math.nan)
            continue
        pressures = [math.exp(17.625 * (k - 273.15) / (k - 273.15 + 243.04)) for k in (dew_point, temperature)]
        found.append(min(100.0, 100.0 * pressures[0] / pressures[1]))
    return tuple(found)


def _facts(source: PointSource, series: Series, forecast: _Forecast, base: PointRequest) -> dict[str, Any]:
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
        "elevation_known": not math.isnan(forecast.elevation),
        "attribution": series.attribution,
        "notes": [without_paths(base.root, note) for note in series.notes],
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else time_text(moment.replace(microsecond=0))


def local_time(seconds: int, period: Period, *, day: bool) -> str:
    """In Open-Meteo's format: local time, to the minute, without a zone."""
    moment = datetime.fromtimestamp(seconds + period.offset, UTC)
    return f"{moment:%Y-%m-%d}" if day else f"{moment:%Y-%m-%dT%H:%M}"
