"""What each quantity of the lexicon is in made-up weather, in the lexicon's units."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import reduce

import numpy as np

from gribmill.ingest.index.window import Window
from gribmill.mirror.fault import chance
from gribmill.mirror.upper_air import UPPER_AIR
from gribmill.mirror.waves import Floats
from gribmill.mirror.weather import Moment, Weather, hours_since_epoch
from gribmill.tiles.variable import Variable

Quantity = Callable[[Moment], Floats]
FREEZING_K = 273.15
WATER_PER_SNOW = 0.1
_STATISTIC = re.compile(r"_(max|min|avg|bucket)$")
_LEVEL = re.compile(r"([a-z]+)_([0-9]+)(?:p([0-9]+))?")


def values_of(variable: Variable, window: Window, run: datetime, weather: Weather) -> Floats:
    """The field of a quantity over its window (minutes after the run began)."""
    start, end = (hours_since_epoch(run) + minutes / 60 for minutes in (window.start, window.end))
    name = _STATISTIC.sub("", variable.name)
    if window.statistic == "acc":
        return ACCUMULATED.get(name, _nothing)(weather, start, end)
    if window.statistic == "ave" and name in ("dswrf", "uswrf") and end > start:
        return weather.sun_between(start, end) / np.float32(3600 * (end - start)) * SHARE_OF_SUN[name]
    if window.statistic == "instant" or end <= start:
        return instant(variable, name, weather.at(end))
    fields = [instant(variable, name, weather.at(hours)) for hours in (start, (start + end) / 2, end)]
    if window.statistic == "ave":
        return np.asarray(sum(fields) / np.float32(3))
    return reduce(np.maximum if window.statistic == "max" else np.minimum, fields)


def instant(variable: Variable, name: str, moment: Moment) -> Floats:
    """A quantity now: as the tables below have it, or a smooth pattern over its usual range."""
    if name in NOW:
        return NOW[name](moment)
    level = _LEVEL.fullmatch(name)
    if level and level[1] in UPPER_AIR and "mb" in variable.levels[0]:
        return UPPER_AIR[level[1]](moment, float(f"{level[2]}.{level[3] or 0}"))
    low, high = variable.range
    # Each name has a time of its own, so that no two such fields are alike.
    apart = moment.weather.at(moment.hours + 500 * chance(0, name))
    pattern = 0.5 + 0.4 * np.clip(apart.sum_of(moment.weather.moist_waves), -1, 1)
    return np.asarray(low + (high - low) * pattern, dtype=np.float32)


def saturation_hpa(kelvin: Floats) -> Floats:
    """Over water (Magnus)."""
    celsius = kelvin - np.float32(FREEZING_K)
    return 6.112 * np.exp(17.62 * celsius / (243.12 + celsius))


def dew_point(moment: Moment) -> Floats:
    """K, from temperature and humidity."""
    vapour = np.log(saturation_hpa(moment.temperature) * moment.humidity / 100 / np.float32(6.112))
    return FREEZING_K + 243.12 * vapour / (17.62 - vapour)


def surface_pressure(moment: Moment) -> Floats:
    """Pa at the ground."""
    return moment.pressure * np.exp(-moment.places.height / (29.3 * moment.temperature))


def _wind(share: float, turn_deg: float) -> Callable[[Moment], tuple[Floats, Floats]]:
    """A share of the balanced wind, turned toward the lower pressure as friction does."""

    def both(moment: Moment) -> tuple[Floats, Floats]:
        u, v = moment.balanced_wind
        turn = np.float32(np.radians(turn_deg)) * np.sign(moment.weather.sin_lat)
        cosine, sine = np.float32(share) * np.cos(turn), np.float32(share) * np.sin(turn)
        return u * cosine - v * sine, u * sine + v * cosine

    return both


_AT_10, _AT_80, _AT_100 = _wind(0.65, 20), _wind(0.85, 10), _wind(0.88, 8)


def _speed(moment: Moment) -> Floats:
    return np.hypot(*_AT_10(moment))


def _direction(moment: Moment) -> Floats:
    u, v = _AT_10(moment)
    return np.mod(np.degrees(np.arctan2(-u, -v)), 360)


def _reflectivity(moment: Moment) -> Floats:
    """dBZ; −10 is no echo, as NCEP packs it."""
    echo = 10 * np.log10(200 * np.maximum(moment.rain, 0.02) ** 1.6)
    return np.where(moment.rain > 0.05, echo, np.float32(-10))


def _falls(kind: str) -> Quantity:
    """1 where that kind falls now, by temperature."""
    low, high = {"rain": (1.0, 99.0), "freezing": (-1.0, 0.0), "ice": (0.0, 1.0), "snow": (-99.0, -1.0)}[kind]

    def flag(moment: Moment) -> Floats:
        celsius = moment.temperature - FREEZING_K
        return ((moment.rain > 0.1) & (celsius > low) & (celsius <= high)).astype(np.float32)

    return flag


def _precipitation_type(moment: Moment) -> Floats:
    cold = np.where(moment.temperature < FREEZING_K - 1, 5, 1)
    return np.where(moment.rain > 0.1, cold, 0).astype(np.float32)


def _layer(shift_hours: float, share: float) -> Quantity:
    def cover(moment: Moment) -> Floats:
        return np.asarray(np.clip(moment.weather.at(moment.hours + shift_hours).cloud * np.float32(share), 0, 100))

    return cover


def _cape(moment: Moment) -> Floats:
    return np.maximum((moment.temperature - 288) * (moment.humidity - 40) * np.float32(2.5), 0)


def _ceiling(moment: Moment) -> Floats:
    """20 km stands for none."""
    return np.where(moment.cloud > 55, 6000 - 54 * moment.cloud, np.float32(20_000))


def _snow(moment: Moment) -> Floats:
    """Snow on the ground in kg m-2: where it is cold for long."""
    return (
        np.maximum(FREEZING_K - moment.warmth + np.float32(0.0065) * moment.places.height, 0) * 3 * moment.places.land
    )


def _at_sea(quantity: Quantity) -> Quantity:
    def field(moment: Moment) -> Floats:
        return np.where(moment.places.land > 0, np.float32(np.nan), quantity(moment))

    return field


def _swell(number: int) -> Quantity:
    """Systems of waves, the next lower than the last; each with calm places where it is not."""

    def height(moment: Moment) -> Floats:
        pattern = moment.weather.at(moment.hours + 60 * number).sum_of(moment.weather.moist_waves)
        return np.where(pattern > -0.3, (1 + pattern) * np.float32(1.6 / number), np.float32(np.nan))

    return height


def _where(there: Quantity, value: Quantity) -> Quantity:
    def field(moment: Moment) -> Floats:
        return np.where(np.isnan(there(moment)), np.float32(np.nan), value(moment))

    return field


def _constant(value: float) -> Quantity:
    return lambda moment: np.full_like(moment.places.lat, value)


SHARE_OF_SUN = {"dswrf": np.float32(0.7), "uswrf": np.float32(0.15)}

NOW: dict[str, Quantity] = {
    "t2m": lambda now: now.temperature,
    "d2m": dew_point,
    "rh2m": lambda now: now.humidity,
    "q2m": lambda now: 0.622 * saturation_hpa(dew_point(now)) * 100 / surface_pressure(now),
    "aptmp": lambda now: now.temperature + (now.humidity - 50) / 25 - _speed(now) / 8,
    "pot2m": lambda now: now.temperature * (100_000 / surface_pressure(now)) ** np.float32(0.286),
    "t80": lambda now: now.temperature - np.float32(0.5),
    "t100": lambda now: now.temperature - np.float32(0.65),
    "skt": lambda now: now.temperature + now.weather.sun(now.hours) / 200 - 1,
    "sp": surface_pressure,
    "mslp": lambda now: now.pressure,
    "u10": lambda now: _AT_10(now)[0],
    "v10": lambda now: _AT_10(now)[1],
    "u80": lambda now: _AT_80(now)[0],
    "v80": lambda now: _AT_80(now)[1],
    "u100": lambda now: _AT_100(now)[0],
    "v100": lambda now: _AT_100(now)[1],
    "ws10": _speed,
    "ws100": lambda now: np.hypot(*_AT_100(now)),
    "wdir10": _direction,
    "gust": lambda now: 1.5 * _speed(now) + 2 * np.sqrt(now.rain),
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
    "ceil": _ceiling,
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
    "hpbl": lambda now: 150 + 1.8 * now.weather.sun(now.hours) + 20 * _speed(now),
    "smoke": lambda now: 1e-7 * np.clip(now.sum_of(now.weather.moist_waves) - 0.5, 0, 1),
    "dswrf": lambda now: now.weather.sun(now.hours) * (1 - 0.007 * now.cloud),
    "uswrf": lambda now: now.weather.sun(now.hours) * np.float32(0.15),
    "dlwrf": lambda now: 5.2e-8 * now.temperature**4 * (0.75 + 0.002 * now.cloud),
    "swh": _at_sea(lambda now: 0.4 + 0.012 * _speed(now) ** 2 + (1 + now.sum_of(now.weather.moist_waves)) / 2),
    "shww": _at_sea(lambda now: 0.1 + 0.012 * _speed(now) ** 2),
    "perpw": _at_sea(lambda now: 5 + _speed(now) / 3),
    "mpww": _at_sea(lambda now: 3 + _speed(now) / 3),
    "dirpw": _at_sea(_direction),
    "mdww": _at_sea(_direction),
    "mwd": _at_sea(_direction),
    "mwp": _at_sea(lambda now: 5 + _speed(now) / 4),
    "mp2": _at_sea(lambda now: 4 + _speed(now) / 4),
    "pp1d": _at_sea(lambda now: 6 + _speed(now) / 3),
    "ws_surface": _at_sea(_speed),
    "wdir_surface": _at_sea(_direction),
    "u_surface": _at_sea(lambda now: _AT_10(now)[0]),
    "v_surface": _at_sea(lambda now: _AT_10(now)[1]),
    **{f"shts_{n}": _at_sea(_swell(n)) for n in (1, 2, 3)},
    **{f"mpts_{n}": _at_sea(_where(_swell(n), _constant(9.0 + 2 * n))) for n in (1, 2, 3)},
    **{f"mdts_{n}": _at_sea(_where(_swell(n), _direction)) for n in (1, 2, 3)},
}


def _frozen(weather: Weather, start: float, end: float) -> Floats:
    """What falls where the run began cold: a place does not change sides, so the sum never falls."""
    return weather.rain_between(start, end) * (weather.at(start).warmth - 0.0065 * weather.places.height < FREEZING_K)


def _nothing(weather: Weather, start: float, end: float) -> Floats:
    return np.zeros_like(weather.places.lat)


ACCUMULATED: dict[str, Callable[[Weather, float, float], Floats]] = {
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
