"""Accumulations of synthetic weather: rain, snow, radiation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.sandbox.forecast.near_surface import FREEZING_K
from gribmill.sandbox.forecast.weather import Weather

WATER_PER_SNOW = 0.1
SHARE_OF_SUN = {"dswrf": np.float32(0.7), "uswrf": np.float32(0.15)}


def _frozen(weather: Weather, start: float, end: float) -> AnyFloats:
    """Snow where the run started cold: a place keeps its type of precipitation, so the sum never decreases."""
    return weather.rain_between(start, end) * (weather.at(start).warmth - 0.0065 * weather.places.height < FREEZING_K)


def nothing(weather: Weather, start: float, end: float) -> AnyFloats:
    return np.zeros_like(weather.places.lat)


SUMS: dict[str, Callable[[Weather, float, float], AnyFloats]] = {
    "tp": lambda weather, start, end: weather.rain_between(start, end),
    "cp": lambda weather, start, end: weather.rain_between(start, end) * np.float32(0.4),
    "lsp": lambda weather, start, end: weather.rain_between(start, end) * np.float32(0.6),
    "sf": _frozen,
    "asnow": lambda weather, start, end: _frozen(weather, start, end) / 1000 / np.float32(WATER_PER_SNOW),
    "ro": lambda weather, start, end: weather.rain_between(start, end) * weather.places.land * np.float32(0.2),
    "ssrd": lambda weather, start, end: weather.sun_between(start, end) * SHARE_OF_SUN["dswrf"],
    "ssr": lambda weather, start, end: weather.sun_between(start, end) * np.float32(0.55),
    "strd": lambda weather, start, end: 300 * np.float32(3600 * (end - start)) * weather.cos_lat,
}
