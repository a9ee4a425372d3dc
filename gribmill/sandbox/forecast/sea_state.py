"""Synthetic waves, and the winds that drive them, only at sea."""

from __future__ import annotations

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.sandbox.forecast.near_surface import FieldFunction, at_10, direction, speed
from gribmill.sandbox.forecast.weather_state import WeatherState


def _at_sea(quantity: FieldFunction) -> FieldFunction:
    def field(moment: WeatherState) -> AnyFloats:
        return np.where(moment.places.land > 0, np.float32(np.nan), quantity(moment))

    return field


def _swell(number: int) -> FieldFunction:
    """Systems of waves, each lower than the previous one, and each absent in some calm places."""

    def height(moment: WeatherState) -> AnyFloats:
        pattern = WeatherState(moment.weather, moment.hours + 60 * number).sum_of(moment.weather.moist_waves)
        return np.where(pattern > -0.3, (1 + pattern) * np.float32(1.6 / number), np.float32(np.nan))

    return height


def _where(there: FieldFunction, value: FieldFunction) -> FieldFunction:
    def field(moment: WeatherState) -> AnyFloats:
        return np.where(np.isnan(there(moment)), np.float32(np.nan), value(moment))

    return field


def _constant(value: float) -> FieldFunction:
    return lambda moment: np.full_like(moment.places.lat, value)


AT_SEA: dict[str, FieldFunction] = {
    "swh": _at_sea(lambda now: 0.4 + 0.012 * speed(now) ** 2 + (1 + now.sum_of(now.weather.moist_waves)) / 2),
    "shww": _at_sea(lambda now: 0.1 + 0.012 * speed(now) ** 2),
    "perpw": _at_sea(lambda now: 5 + speed(now) / 3),
    "mpww": _at_sea(lambda now: 3 + speed(now) / 3),
    "dirpw": _at_sea(direction),
    "mdww": _at_sea(direction),
    "mwd": _at_sea(direction),
    "mwp": _at_sea(lambda now: 5 + speed(now) / 4),
    "mp2": _at_sea(lambda now: 4 + speed(now) / 4),
    "pp1d": _at_sea(lambda now: 6 + speed(now) / 3),
    "ws_surface": _at_sea(speed),
    "wdir_surface": _at_sea(direction),
    "u_surface": _at_sea(lambda now: at_10(now)[0]),
    "v_surface": _at_sea(lambda now: at_10(now)[1]),
    **{f"shts_{n}": _at_sea(_swell(n)) for n in (1, 2, 3)},
    **{f"mpts_{n}": _at_sea(_where(_swell(n), _constant(9.0 + 2 * n))) for n in (1, 2, 3)},
    **{f"mdts_{n}": _at_sea(_where(_swell(n), direction)) for n in (1, 2, 3)},
}
