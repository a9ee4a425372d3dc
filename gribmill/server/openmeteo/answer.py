"""The response for each place and model: sections of columns, before encoding as JSON, CSV or binary."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gribmill.server.data.point_answer import PointSource, without_paths
from gribmill.server.openmeteo.forecast_request import HOUR, ForecastRequest, Period
from gribmill.server.openmeteo.hourly import QUARTER
from gribmill.server.openmeteo.models import ForecastModel
from gribmill.server.openmeteo.place_forecast import PlaceForecast
from gribmill.server.openmeteo.units import INTEGER, SHOWN, TIME, UNDEFINED
from gribmill.server.openmeteo.variables import AGGREGATIONS, SUN_UNITS, ForecastVariable
from gribmill.tiles.read.point.point import PointRequest
from gribmill.tiles.read.point.series import Series, time_text

DAY = 86400
MEGA = 1e6


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One variable; NaN where there is no value."""

    variable: ForecastVariable
    unit: str
    values: tuple[float, ...]

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
    """`hourly`, `minutely_15`, `daily` or `current`: times in seconds since 1970, and columns."""

    name: str
    times: tuple[int, ...]
    interval: int
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True, slots=True)
class PlaceAnswer:
    """The response for one place and model. `facts` name the run."""

    lat: float
    lon: float
    elevation: float
    generation_ms: float
    period: Period
    model: ForecastModel
    sections: tuple[Section, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)


def place_answers(source: PointSource, request: ForecastRequest, root_request: PointRequest) -> list[list[PlaceAnswer]]:
    """The response of each model for each place; raises OpenMeteoError if there is no forecast."""
    return [
        [_answer(source, request, root_request, number, model) for model in request.models]
        for number in range(len(request.places))
    ]


def _answer(
    source: PointSource, request: ForecastRequest, base: PointRequest, number: int, model: ForecastModel
) -> PlaceAnswer:
    start = time.perf_counter()
    place, period = request.places[number], request.periods[number]
    forecast = PlaceForecast.of(source, place, base, model, request, period, request.elevations[number])
    sections = []
    if request.current:
        sections.append(_current(forecast, request))
    if request.hourly:
        columns = _columns(forecast, request, request.hourly, period.hours)
        sections.append(Section("hourly", tuple(period.hours), HOUR, columns))
    if request.minutely:
        quarters = range(period.begin, period.end, QUARTER)
        columns = _columns(forecast, request, request.minutely, quarters, QUARTER)
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


def _columns(
    forecast: PlaceForecast,
    request: ForecastRequest,
    variables: Sequence[ForecastVariable],
    times: Sequence[int],
    step: int = HOUR,
) -> tuple[AnswerColumn, ...]:
    return tuple(AnswerColumn(one, *forecast.column(one, times, request.units, step)) for one in variables)


def _current(forecast: PlaceForecast, request: ForecastRequest) -> Section:
    """The current hour."""
    now = int(request.now.timestamp()) // HOUR * HOUR
    return Section("current", (now,), HOUR, _columns(forecast, request, request.current, (now,)))


def _daily(forecast: PlaceForecast, request: ForecastRequest, period: Period) -> Section:
    first = (period.begin + period.offset) // DAY * DAY - period.offset
    # Counted by the last hour, because in time zones with a half-hour offset the end is after midnight.
    days = tuple(range(first, period.end - HOUR + 1, DAY))
    # Values are on whole hours in UTC, even in time zones with a half-hour offset.
    hours = [-(-day // HOUR) * HOUR + HOUR * hour for day in days for hour in range(24)]
    columns = []
    for variable, hourly in request.daily:
        if variable.name in SUN_UNITS:
            columns.append(AnswerColumn(variable, variable.unit, _sun(forecast, variable.name, days)))
            continue
        unit, flat = forecast.column(hourly, hours, request.units)
        values = tuple(_aggregate(variable, flat[24 * day : 24 * day + 24]) for day in range(len(days)))
        columns.append(AnswerColumn(variable, unit if unit == UNDEFINED else request.units.of(variable.unit), values))
    return Section("daily", days, DAY, tuple(columns))


def _sun(forecast: PlaceForecast, name: str, days: Sequence[int]) -> tuple[float, ...]:
    found = [forecast.sun_times(day) for day in days]
    if name == "daylight_duration":
        return tuple(one.set - one.rise for one in found)
    return tuple(float(round(one.rise if name == "sunrise" else one.set)) for one in found)


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
        case "dominant":
            x = math.fsum(math.sin(math.radians(value)) for value in values)
            y = math.fsum(math.cos(math.radians(value)) for value in values)
            return math.degrees(math.atan2(x, y)) % 360.0
        case _:
            return math.nan


def _facts(source: PointSource, series: Series, forecast: PlaceForecast, base: PointRequest) -> dict[str, Any]:
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
