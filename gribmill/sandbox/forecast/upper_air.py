"""Synthetic weather aloft, by the pressure of a level in hPa."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.sandbox.forecast.weather_state import WeatherState

GRAVITY = np.float32(9.80665)
# The temperature of the stratosphere, the minimum for all levels.
COLDEST_K = np.float32(205.0)


def _temperature(moment: WeatherState, hpa: float) -> AnyFloats:
    return np.asarray(np.maximum(moment.warmth * np.float32((hpa / 1013.25) ** 0.19), COLDEST_K))


def _height(moment: WeatherState, hpa: float) -> AnyFloats:
    """The thickness of the column below, standing on the pressure at sea level."""
    mean = (moment.warmth + _temperature(moment, hpa)) / 2
    return np.asarray(np.float32(29.27) * mean * np.log(moment.pressure / np.float32(100 * hpa)))


def _eastward(moment: WeatherState, hpa: float) -> AnyFloats:
    """Stronger aloft, with a jet where the temperature falls fastest."""
    rise = np.float32(min((1000 - hpa) / 750, 1.0))
    jet = 32 * rise * np.sin(2 * np.abs(moment.places.lat)) ** 2
    return np.asarray(moment.balanced_wind[0] * (1 + rise) + jet)


def _northward(moment: WeatherState, hpa: float) -> AnyFloats:
    return moment.balanced_wind[1] * np.float32(1 + min((1000 - hpa) / 750, 1.0))


def _humidity(moment: WeatherState, hpa: float) -> AnyFloats:
    return np.asarray(np.clip(moment.humidity * np.float32((hpa / 1000) ** 0.4), 0, 100))


def _specific_humidity(moment: WeatherState, hpa: float) -> AnyFloats:
    celsius = _temperature(moment, hpa) - np.float32(273.15)
    vapour = 6.112 * np.exp(17.62 * celsius / (243.12 + celsius)) * _humidity(moment, hpa) / 100
    return 0.622 * vapour / np.float32(hpa)


def _sinking(moment: WeatherState, hpa: float) -> AnyFloats:
    """Pa/s, down positive: it rises where it rains."""
    return np.float32(0.05) - np.minimum(moment.rain, 8) * np.float32(0.2)


UPPER_AIR: dict[str, Callable[[WeatherState, float], AnyFloats]] = {
    "t": _temperature,
    "gh": _height,
    "z": lambda moment, hpa: _height(moment, hpa) * GRAVITY,
    "u": _eastward,
    "v": _northward,
    "rh": _humidity,
    "q": _specific_humidity,
    "td": lambda moment, hpa: _temperature(moment, hpa) - (100 - _humidity(moment, hpa)) / 5,
    "w": _sinking,
}
