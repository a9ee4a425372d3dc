"""Parses a query: places, variables, models, times, units and the response format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.given import Given, Query, number
from gribmill.server.openmeteo.models import BEST_MATCH, ForecastModel, forecast_model
from gribmill.server.openmeteo.period import PERIOD_KEYS, Period, period
from gribmill.server.openmeteo.place_zone import AUTO, zone_at
from gribmill.server.openmeteo.units import Units
from gribmill.server.openmeteo.variables import ForecastVariable, daily_variable, hourly_variable, speed_of
from gribmill.tiles.read.point.place import Place, place_at

MOST_PLACES, MOST_VARIABLES, MOST_MODELS = 500, 100, 10
MOST_VALUES = 2_000_000
MOST_METRES = 10_000
KEYS = PERIOD_KEYS | {
    "latitude", "longitude", "elevation", "hourly", "daily", "current", "models", "temperature_unit",
    "wind_speed_unit", "windspeed_unit", "precipitation_unit", "timeformat", "timezone", "cell_selection", "format",
    "apikey", "current_weather", "minutely_15",
}  # fmt: skip
CURRENT = "current"
# The section `current_weather` of earlier versions, which replaces `current`: its columns, and their names today.
CURRENT_WEATHER = {
    "temperature": "temperature_2m",
    "windspeed": "wind_speed_10m",
    "winddirection": "wind_direction_10m",
    "is_day": "is_day",
    "weathercode": "weather_code",
}
Format = Literal["json", "csv", "flatbuffers"]


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """A validated request. `periods` has one entry per place."""

    places: tuple[Place, ...]
    elevations: tuple[float | None, ...]
    periods: tuple[Period, ...]
    models: tuple[ForecastModel, ...]
    hourly: tuple[ForecastVariable, ...]
    minutely: tuple[ForecastVariable, ...]
    current: tuple[ForecastVariable, ...]
    current_name: str
    daily: tuple[tuple[ForecastVariable, ForecastVariable], ...]
    units: Units
    unixtime: bool
    format: Format
    now: datetime

    @property
    def size(self) -> int:
        """The number of values; daily ones count for the hours that they are computed from."""
        # Places in the same time zone share their period.
        counts = {
            id(one): len(self.hourly) * len(one.hours)
            + len(self.minutely) * len(one.quarters)
            + len(self.daily) * len(one.days) * 24
            + len(self.current)
            for one in {id(one): one for one in self.periods}.values()
        }
        return sum([counts[id(one)] for one in self.periods]) * len(self.models)

    @property
    def variables(self) -> tuple[ForecastVariable, ...]:
        """The hourly variables that the response is computed from."""
        daily = [hourly for _, hourly in self.daily]
        speeds = [speed_of(hourly) for variable, hourly in self.daily if variable.aggregation == "dominant"]
        return (*self.hourly, *self.minutely, *self.current, *daily, *speeds)

    def begin(self, period: Period) -> float:
        """The first time that is asked for."""
        sections = ((self.hourly, period.hours), (self.minutely, period.quarters), (self.daily, period.days))
        starts = [times.start for wanted, times in sections if wanted and times]
        return min([*starts, *([self.now.timestamp()] if self.current else [])], default=math.inf)


def forecast_request(query: Query, now: datetime) -> ForecastRequest:
    """The parsed request; raises OpenMeteoError if a parameter is invalid."""
    given = Given.of(query, KEYS)
    places = _places(given)
    current_weather = given.truth("current_weather")
    found = ForecastRequest(
        places,
        _elevations(given, len(places)),
        _periods(given, places, now),
        tuple(forecast_model(name) for name in given.names("models", MOST_MODELS) or [BEST_MATCH]),
        _variables(given, "hourly"),
        _variables(given, "minutely_15"),
        _current_weather() if current_weather else _variables(given, CURRENT),
        "current_weather" if current_weather else CURRENT,
        tuple(daily_variable(name) for name in given.names("daily", MOST_VARIABLES)),
        Units.chosen(
            given.one("temperature_unit", "celsius"),
            given.one("wind_speed_unit", given.one("windspeed_unit", "kmh")),
            given.one("precipitation_unit", "mm"),
        ),
        given.choice("timeformat", ("iso8601", "unixtime")) == "unixtime",
        _format(given),
        now,
    )
    if found.size > MOST_VALUES:
        raise OpenMeteoError(f"Too much data requested: {found.size} values, more than {MOST_VALUES}")
    return found


def _variables(given: Given, key: str) -> tuple[ForecastVariable, ...]:
    return tuple(hourly_variable(name, key) for name in given.names(key, MOST_VARIABLES))


def _current_weather() -> tuple[ForecastVariable, ...]:
    return tuple(replace(hourly_variable(name, CURRENT), name=shown) for shown, name in CURRENT_WEATHER.items())


def _places(given: Given) -> tuple[Place, ...]:
    latitudes, longitudes = given.numbers("latitude"), given.numbers("longitude")
    if not latitudes or not longitudes:
        missing = "longitude" if latitudes else "latitude"
        raise OpenMeteoError(f"Value of type 'Float' required for key '{missing}'.")
    if len(latitudes) != len(longitudes):
        raise OpenMeteoError("Parameter 'latitude' and 'longitude' must have the same number of elements")
    if len(latitudes) > MOST_PLACES:
        raise OpenMeteoError(f"{len(latitudes)} places are more than {MOST_PLACES}")
    found = []
    for lat, lon in zip(latitudes, longitudes, strict=True):
        if not -90 <= lat <= 90:
            raise OpenMeteoError(f"Latitude must be in range of -90 to 90°. Given: {lat:g}.")
        if not -180 <= lon <= 180:
            raise OpenMeteoError(f"Longitude must be in range of -180 to 180°. Given: {lon:g}.")
        found.append(place_at(lat, lon))
    return tuple(found)


def _elevations(given: Given, places: int) -> tuple[float | None, ...]:
    texts = given.texts("elevation")
    if not texts:
        return (None,) * places
    found = tuple(None if text.lower() == "nan" else number("elevation", text) for text in texts)
    if any(one is not None and abs(one) > MOST_METRES for one in found):
        raise OpenMeteoError(f"Elevation must be in range of -{MOST_METRES} to {MOST_METRES} m.")
    if len(found) not in (1, places):
        raise OpenMeteoError("Parameter 'elevation' must have the same number of elements as coordinates")
    return found * places if len(found) == 1 else found


def _format(given: Given) -> Format:
    if given.one("format", "json") == "xlsx":
        raise OpenMeteoError("format=xlsx is not supported by this server: use json, csv or flatbuffers")
    formats: tuple[Format, ...] = ("json", "csv", "flatbuffers")
    return given.choice("format", formats)


def _periods(given: Given, places: Sequence[Place], now: datetime) -> tuple[Period, ...]:
    names = given.texts("timezone") or ["GMT"]
    if len(names) not in (1, len(places)):
        raise OpenMeteoError("Parameter 'timezone' must have the same number of elements as coordinates")
    if len(names) == 1:
        names = names * len(places)
    zones = [zone_at(place) if name.lower() == AUTO else name for name, place in zip(names, places, strict=True)]
    known = {name: period(given, name, now) for name in dict.fromkeys(zones)}
    return tuple(known[name] for name in zones)
