"""Parses a query: places, variables, models, times, units and the response format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, TypeVar

from gribmill.errors import GribmillError, quoted
from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.models import BEST_MATCH, ForecastModel, forecast_model
from gribmill.server.openmeteo.place_zone import AUTO, zone_at
from gribmill.server.openmeteo.units import Units
from gribmill.server.openmeteo.variables import ForecastVariable, daily_variable, hourly_variable
from gribmill.tiles.read.point.place import Place, place_at
from gribmill.tiles.read.time_zone import time_zone, zone_name

MOST_PLACES, MOST_VARIABLES, MOST_MODELS = 500, 100, 10
MOST_PAST_DAYS, MOST_FORECAST_DAYS = 92, 16
MOST_VALUES = 2_000_000
LIMIT_TEXT = 40_000
DEFAULT_DAYS = 7
HOUR = 3600
KEYS = frozenset(
    {
        "latitude", "longitude", "elevation", "hourly", "daily", "current", "models", "temperature_unit",
        "wind_speed_unit", "windspeed_unit", "precipitation_unit", "timeformat", "timezone", "past_days",
        "forecast_days", "past_hours", "forecast_hours", "start_date", "end_date", "start_hour", "end_hour",
        "cell_selection", "format", "apikey", "current_weather", "minutely_15",
    }
)  # fmt: skip
Format = Literal["json", "csv", "flatbuffers"]
Query = Sequence[tuple[str, str]]
Chosen = TypeVar("Chosen", bound=str)


@dataclass(frozen=True, slots=True)
class Period:
    """Whole hours from `begin` (inclusive) to `end` (exclusive), in seconds since 1970, and the zone's UTC offset."""

    begin: int
    end: int
    offset: int
    zone: str
    abbreviation: str

    @property
    def hours(self) -> range:
        return range(self.begin, self.end, HOUR)


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
    daily: tuple[tuple[ForecastVariable, ForecastVariable], ...]
    units: Units
    unixtime: bool
    format: Format
    now: datetime


def forecast_request(query: Query, now: datetime) -> ForecastRequest:
    """The parsed request; raises OpenMeteoError if a parameter is invalid."""
    given = _given(query)
    places = _places(given)
    hourly = tuple(hourly_variable(name, "hourly") for name in _names(given, "hourly"))
    minutely = tuple(hourly_variable(name, "minutely_15") for name in _names(given, "minutely_15"))
    current = tuple(hourly_variable(name, "current") for name in _names(given, "current"))
    daily = tuple(daily_variable(name) for name in _names(given, "daily"))
    models = tuple(forecast_model(name) for name in _names(given, "models", MOST_MODELS) or [BEST_MATCH])
    periods = _periods(given, places, now)
    hours = sum(len(period.hours) for period in periods)
    columns = (len(hourly) + 4 * len(minutely) + len(daily) + len(current)) * len(models)
    if hours * columns > MOST_VALUES:
        raise OpenMeteoError(f"Too much data requested: {hours * columns} values, more than {MOST_VALUES}")
    return ForecastRequest(
        places,
        _elevations(given, len(places)),
        periods,
        models,
        hourly,
        minutely,
        current,
        daily,
        Units.chosen(
            _one(given, "temperature_unit", "celsius"),
            _one(given, "wind_speed_unit", _one(given, "windspeed_unit", "kmh")),
            _one(given, "precipitation_unit", "mm"),
        ),
        _choice(given, "timeformat", ("iso8601", "unixtime")) == "unixtime",
        _format(given),
        now,
    )


def _given(query: Query) -> dict[str, list[str]]:
    if sum(len(value) for _, value in query) > LIMIT_TEXT:
        raise OpenMeteoError(f"The query is longer than {LIMIT_TEXT} characters")
    found: dict[str, list[str]] = {}
    for key, value in query:
        if key not in KEYS:
            raise OpenMeteoError(f"{quoted(key)} is not a parameter of this server")
        found.setdefault(key, []).extend(part.strip() for part in value.split(",") if part.strip())
    if found.get("current_weather", ["false"]) not in ([], ["false"]):
        raise OpenMeteoError(
            "current_weather is not supported by this server: use current=temperature_2m,wind_speed_10m"
        )
    return found


def _places(given: Mapping[str, list[str]]) -> tuple[Place, ...]:
    latitudes, longitudes = (_numbers(given, key) for key in ("latitude", "longitude"))
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


def _elevations(given: Mapping[str, list[str]], places: int) -> tuple[float | None, ...]:
    texts = given.get("elevation", [])
    if not texts:
        return (None,) * places
    found = tuple(None if text.lower() == "nan" else _number("elevation", text) for text in texts)
    if len(found) not in (1, places):
        raise OpenMeteoError("Parameter 'elevation' must have the same number of elements as coordinates")
    return found * places if len(found) == 1 else found


def _names(given: Mapping[str, list[str]], key: str, most: int = MOST_VARIABLES) -> list[str]:
    names = list(dict.fromkeys(given.get(key, [])))
    if len(names) > most:
        raise OpenMeteoError(f"{len(names)} values of '{key}' are more than {most}")
    return names


def _numbers(given: Mapping[str, list[str]], key: str) -> list[float]:
    return [_number(key, text) for text in given.get(key, [])]


def _number(key: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise OpenMeteoError(f"Value of type 'Float' required for key '{key}'.")
    return found


def _integer(given: Mapping[str, list[str]], key: str, most: int) -> int | None:
    text = _one(given, key, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise OpenMeteoError(f"Value of type 'Int' required for key '{key}'.")
    if int(text) > most:
        raise OpenMeteoError(f"Parameter '{key}' is out of allowed range from 0 to {most}. Given {int(text)}.")
    return int(text)


def _one(given: Mapping[str, list[str]], key: str, default: str) -> str:
    values = given.get(key) or [default]
    if len(values) > 1:
        raise OpenMeteoError(f"Parameter '{key}' takes one value")
    return values[0]


def _choice(given: Mapping[str, list[str]], key: str, known: Sequence[Chosen]) -> Chosen:
    value = _one(given, key, known[0])
    for one in known:
        if one == value:
            return one
    raise OpenMeteoError(f"Cannot initialize {key} from invalid String value {value[:60]} for key {key}")


def _format(given: Mapping[str, list[str]]) -> Format:
    if _one(given, "format", "json") == "xlsx":
        raise OpenMeteoError("format=xlsx is not supported by this server: use json, csv or flatbuffers")
    formats: tuple[Format, ...] = ("json", "csv", "flatbuffers")
    return _choice(given, "format", formats)


def _periods(given: Mapping[str, list[str]], places: Sequence[Place], now: datetime) -> tuple[Period, ...]:
    names = given.get("timezone") or ["GMT"]
    if len(names) not in (1, len(places)):
        raise OpenMeteoError("Parameter 'timezone' must have the same number of elements as coordinates")
    if len(names) == 1:
        names = names * len(places)
    zones = [zone_at(place) if name.lower() == AUTO else name for name, place in zip(names, places, strict=True)]
    known = {name: _period(given, name, now) for name in dict.fromkeys(zones)}
    return tuple(known[name] for name in zones)


def _period(given: Mapping[str, list[str]], name: str, now: datetime) -> Period:
    zone, shown, abbreviation = _zone(name, now)
    local = now.astimezone(zone)
    offset = int((local.utcoffset() or timedelta()).total_seconds())
    begin, end = _range(given, local.replace(tzinfo=None))
    named = any(given.get(key) for key in ("start_date", "end_date", "start_hour", "end_hour"))
    if end < begin or (named and end == begin):
        raise OpenMeteoError("The end of the time range is before its beginning")
    if (end - begin).days > MOST_PAST_DAYS + MOST_FORECAST_DAYS:
        raise OpenMeteoError(f"A time range has at most {MOST_PAST_DAYS + MOST_FORECAST_DAYS} days")
    first, last = (int(moment.replace(tzinfo=UTC).timestamp()) - offset for moment in (begin, end))
    # Rounded up to whole hours in UTC, even in time zones with a half-hour offset.
    return Period(-(-first // HOUR) * HOUR, -(-last // HOUR) * HOUR, offset, shown, abbreviation)


def _zone(name: str, now: datetime) -> tuple[tzinfo, str, str]:
    if name.upper() in ("GMT", "UTC"):
        return UTC, name.upper(), name.upper()
    try:
        zone = time_zone(name) if name != "local" else None
    except GribmillError:
        zone = None
    if zone is None:
        raise OpenMeteoError("Invalid timezone")
    return zone, zone_name(zone), now.astimezone(zone).tzname() or zone_name(zone)


def _range(given: Mapping[str, list[str]], local: datetime) -> tuple[datetime, datetime]:
    """The first local time, and the end (exclusive)."""
    if given.get("start_hour") or given.get("end_hour"):
        begin, end = (_moment(given, key) for key in ("start_hour", "end_hour"))
        return begin, end + timedelta(hours=1)
    if given.get("start_date") or given.get("end_date"):
        first, last = (_day(given, key) for key in ("start_date", "end_date"))
        return datetime.combine(first, time()), datetime.combine(last, time()) + timedelta(days=1)
    this_hour = local.replace(minute=0, second=0, microsecond=0)
    today = this_hour.replace(hour=0)
    before = _integer(given, "past_hours", 24 * MOST_PAST_DAYS)
    after = _integer(given, "forecast_hours", 24 * MOST_FORECAST_DAYS)
    past = _integer(given, "past_days", MOST_PAST_DAYS) or 0
    ahead = _integer(given, "forecast_days", MOST_FORECAST_DAYS)
    begin = today - timedelta(days=past) if before is None else this_hour - timedelta(hours=before)
    if before is None and after is not None:
        begin = this_hour
    end = today + timedelta(days=DEFAULT_DAYS if ahead is None else ahead)
    return begin, end if after is None else this_hour + timedelta(hours=after)


def _moment(given: Mapping[str, list[str]], key: str) -> datetime:
    try:
        found = datetime.fromisoformat(_one(given, key, ""))
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None or not 1900 < found.year < 2200:
        raise OpenMeteoError(f"Parameter '{key}' must be a time such as 2026-11-18T06:00, in the time zone")
    return found.replace(minute=0, second=0, microsecond=0)


def _day(given: Mapping[str, list[str]], key: str) -> date:
    text = _one(given, key, "")
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or not 1900 < found.year < 2200:
        raise OpenMeteoError(f"Invalid date format. Make sure to use 'YYYY-MM-DD' for '{key}'")
    return found
