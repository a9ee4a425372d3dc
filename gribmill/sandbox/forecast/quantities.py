"""The value of each variable of the lexicon in synthetic weather, in the lexicon's units."""

from __future__ import annotations

import re
from datetime import datetime
from functools import reduce

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.grib.names.time_range import TimeRange
from gribmill.grib.names.variable import Variable
from gribmill.sandbox.chance import chance
from gribmill.sandbox.forecast.accumulations import SHARE_OF_SUN, SUMS, nothing
from gribmill.sandbox.forecast.clock import hours_since_epoch
from gribmill.sandbox.forecast.near_surface import NEAR_SURFACE
from gribmill.sandbox.forecast.sea_state import AT_SEA
from gribmill.sandbox.forecast.upper_air import UPPER_AIR
from gribmill.sandbox.forecast.weather import Weather
from gribmill.sandbox.forecast.weather_state import WeatherState

NOW = NEAR_SURFACE | AT_SEA
_STATISTIC = re.compile(r"_(max|min|avg|bucket)$")
_LEVEL = re.compile(r"([a-z]+)_([0-9]+)(?:p([0-9]+))?")


def values_of(variable: Variable, window: TimeRange, run: datetime, weather: Weather) -> AnyFloats:
    """The field of a quantity over its time range (in minutes after the start of the run)."""
    start, end = (hours_since_epoch(run) + minutes / 60 for minutes in (window.start, window.end))
    name = _STATISTIC.sub("", variable.name)
    if window.statistic == "accum":
        return SUMS.get(name, nothing)(weather, start, end)
    if window.statistic == "avg" and name in ("dswrf", "uswrf") and end > start:
        return weather.sun_between(start, end) / np.float32(3600 * (end - start)) * SHARE_OF_SUN[name]
    if window.statistic == "instant" or end <= start:
        return instant(variable, name, weather.at(end))
    fields = [instant(variable, name, weather.at(hours)) for hours in (start, (start + end) / 2, end)]
    if window.statistic == "avg":
        return np.asarray(sum(fields) / np.float32(3))
    return reduce(np.maximum if window.statistic == "max" else np.minimum, fields)


def instant(variable: Variable, name: str, moment: WeatherState) -> AnyFloats:
    """A quantity now: as the tables of its place have it, or a smooth pattern over its usual range."""
    if name in NOW:
        return NOW[name](moment)
    level = _LEVEL.fullmatch(name)
    if level and level[1] in UPPER_AIR and "mb" in variable.levels[0]:
        return UPPER_AIR[level[1]](moment, float(f"{level[2]}.{level[3] or 0}"))
    low, high = variable.range
    # Each name is shifted in time, so that no two such fields are alike.
    apart = WeatherState(moment.weather, moment.hours + 500 * chance(0, name))
    pattern = 0.5 + 0.4 * np.clip(apart.sum_of(moment.weather.moist_waves), -1, 1)
    return np.asarray(low + (high - low) * pattern, dtype=np.float32)
