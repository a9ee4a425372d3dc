"""Synthetic weather near the ground and in the column, by the lexicon's names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.sandbox.forecast.weather_state import WeatherState

FieldFunction = Callable[[WeatherState], AnyFloats]
FREEZING_K = 273.15


def saturation_hpa(kelvin: AnyFloats) -> AnyFloats:
    """Saturation vapour pressure over water (Magnus formula)."""
    celsius = kelvin - np.float32(FREEZING_K)
    return 6.112 * np.exp(17.62 * celsius / (243.12 + celsius))


def dew_point(moment: WeatherState) -> AnyFloats:
    """K, from temperature and humidity."""
    vapour = np.log(saturation_hpa(moment.temperature) * moment.humidity / 100 / np.float32(6.112))
    return FREEZING_K + 243.12 * vapour / (17.62 - vapour)


def surface_pressure(moment: WeatherState) -> AnyFloats:
    """Pa at the ground."""
    return moment.pressure * np.exp(-moment.places.height / (29.3 * moment.temperature))


def _wind(share: float, turn_deg: float) -> Callable[[WeatherState], tuple[AnyFloats, AnyFloats]]:
    """A fraction of the balanced wind, turned towards lower pressure by friction."""

    def both(moment: WeatherState) -> tuple[AnyFloats, AnyFloats]:
        u, v = moment.balanced_wind
        turn = np.float32(np.radians(turn_deg)) * np.sign(moment.weather.sin_lat)
        cosine, sine = np.float32(share) * np.cos(turn), np.float32(share) * np.sin(turn)
        return u * cosine - v * sine, u * sine + v * cosine

    return both


at_10, at_80, at_100 = _wind(0.65, 20), _wind(0.85, 10), _wind(0.88, 8)


def speed(moment: WeatherState) -> AnyFloats:
    return np.hypot(*at_10(moment))


def _from(u: AnyFloats, v: AnyFloats) -> AnyFloats:
    """The direction that a wind comes from, in degrees."""
    return np.mod(np.degrees(np.arctan2(-u, -v)), 360)


def direction(moment: WeatherState) -> AnyFloats:
    return _from(*at_10(moment))


def _reflectivity(moment: WeatherState) -> AnyFloats:
    """dBZ; −10 means no echo, as in NCEP's files."""
    echo = 10 * np.log10(200 * np.maximum(moment.rain, 0.02) ** 1.6)
    return np.where(moment.rain > 0.05, echo, np.float32(-10))


def _falls(kind: str) -> FieldFunction:
    """1 where that kind falls now, by temperature."""
    low, high = {"rain": (1.0, 99.0), "freezing": (-1.0, 0.0), "ice": (0.0, 1.0), "snow": (-99.0, -1.0)}[kind]

    def flag(moment: WeatherState) -> AnyFloats:
        celsius = moment.temperature - FREEZING_K
        return ((moment.rain > 0.1) & (celsius > low) & (celsius <= high)).astype(np.float32)

    return flag


def _precipitation_type(moment: WeatherState) -> AnyFloats:
    cold = np.where(moment.temperature < FREEZING_K - 1, 5, 1)
    return np.where(moment.rain > 0.1, cold, 0).astype(np.float32)


def _layer(shift_hours: float, share: float) -> FieldFunction:
    def cover(moment: WeatherState) -> AnyFloats:
        return np.asarray(
            np.clip(WeatherState(moment.weather, moment.hours + shift_hours).cloud * np.float32(share), 0, 100)
        )

    return cover


def _cape(moment: WeatherState) -> AnyFloats:
    return np.maximum((moment.temperature - 288) * (moment.humidity - 40) * np.float32(2.5), 0)


def _ceiling(moment: WeatherState) -> AnyFloats:
    """20 km means none."""
    return np.where(moment.cloud > 55, 6000 - 54 * moment.cloud, np.float32(20_000))


def _snow(moment: WeatherState) -> AnyFloats:
    """Snow on the ground in kg m-2, where it is cold for a long time."""
    return (
        np.maximum(FREEZING_K - moment.warmth + np.float32(0.0065) * moment.places.height, 0) * 3 * moment.places.land
    )


NEAR_SURFACE: dict[str, FieldFunction] = {
    "t2m": lambda now: now.temperature,
    "d2m": dew_point,
    "rh2m": lambda now: now.humidity,
    "q2m": lambda now: 0.622 * saturation_hpa(dew_point(now)) * 100 / surface_pressure(now),
    "aptmp": lambda now: now.temperature + (now.humidity - 50) / 25 - speed(now) / 8,
    "pot2m": lambda now: now.temperature * (100_000 / surface_pressure(now)) ** np.float32(0.286),
    "t80": lambda now: now.temperature - np.float32(0.5),
    "t100": lambda now: now.temperature - np.float32(0.65),
    "skt": lambda now: now.temperature + now.weather.sun(now.hours) / 200 - 1,
    "sp": surface_pressure,
    "mslp": lambda now: now.pressure,
    "u10": lambda now: at_10(now)[0],
    "v10": lambda now: at_10(now)[1],
    "u80": lambda now: at_80(now)[0],
    "v80": lambda now: at_80(now)[1],
    "u100": lambda now: at_100(now)[0],
    "v100": lambda now: at_100(now)[1],
    "ws10": speed,
    "ws100": lambda now: np.hypot(*at_100(now)),
    "ws80": lambda now: np.hypot(*at_80(now)),
    "wdir10": direction,
    "wdir80": lambda now: _from(*at_80(now)),
    "gust": lambda now: 1.5 * speed(now) + 2 * np.sqrt(now.rain),
    "prate": lambda now: now.rain / 3600,
    "cprat": lambda now: now.rain / 9000,
    "crain": _falls("rain"),
    "csnow": _falls("snow"),
    "cfrzr": _falls("freezing"),
    "cicep": _falls("ice"),
    "ptype": _precipitation_type,
    "cpofp": lambda now: np.clip((FREEZING_K + 1 - now.temperature) * 25, 0, 100),
    "weasd": _snow,
    "snod": lambda now: _snow(now) / 250,
    "icec": lambda now: np.clip((FREEZING_K - 10 - now.warmth) / 8, 0, 1) * (1 - now.places.land),
    "lsm": lambda now: now.places.land,
    "orog": lambda now: now.places.height,
    "z": lambda now: now.places.height * np.float32(9.80665),
    "tcc": lambda now: now.cloud,
    "lcc": _layer(0, 0.8),
    "mcc": _layer(5, 0.7),
    "hcc": _layer(11, 0.6),
    "vis": lambda now: np.clip(24_000 - 3_000 * now.rain - 200 * np.maximum(now.humidity - 85, 0) ** 2, 100, 24_000),
    "ceil_msl": _ceiling,
    "ceil_agl": _ceiling,
    "refc": _reflectivity,
    "refd_1000m": lambda now: np.maximum(_reflectivity(now) - 3, -10),
    "refd_4000m": lambda now: np.maximum(_reflectivity(now) - 8, -10),
    "vil": lambda now: np.maximum(now.rain - 1, 0) * 2,
    "ltng": lambda now: np.maximum(now.rain - 3, 0),
    "cape": _cape,
    "mlcape": lambda now: _cape(now) * np.float32(0.7),
    "mucape": lambda now: _cape(now) * np.float32(1.2),
    "cape_180": lambda now: _cape(now) * np.float32(0.9),
    "cin": lambda now: -np.clip(_cape(now) / 20, 0, 200) * (now.humidity < 70),
    "uphl": lambda now: np.maximum(now.rain - 3, 0) * 20,
    "pwat": lambda now: saturation_hpa(now.temperature) * now.humidity / np.float32(75),
    "tcw": lambda now: saturation_hpa(now.temperature) * now.humidity / np.float32(73),
    "hpbl": lambda now: 150 + 1.8 * now.weather.sun(now.hours) + 20 * speed(now),
    "smoke": lambda now: 1e-7 * np.clip(now.sum_of(now.weather.moist_waves) - 0.5, 0, 1),
    "dswrf": lambda now: now.weather.sun(now.hours) * (1 - 0.007 * now.cloud),
    "uswrf": lambda now: now.weather.sun(now.hours) * np.float32(0.15),
    "dlwrf": lambda now: 5.2e-8 * now.temperature**4 * (0.75 + 0.002 * now.cloud),
}
