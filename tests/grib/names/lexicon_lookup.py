"""The quantities that the lexicon finds, without rank and units."""

from __future__ import annotations

from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.variable import Variable
from gribmill.grib.product.keys import Keys


def from_keys(keys: Keys) -> Variable | None:
    match = lexicon().match_keys(keys)
    return match.variable if match else None


def from_noaa(element: str, level: str, window: str, extra: str = "") -> Variable | None:
    match = lexicon().match_noaa(element, level, window, extra)
    return match.variable if match else None


def from_ecmwf(param: str, levtype: str = "sfc", levelist: str | int | None = None) -> Variable | None:
    match = lexicon().match_ecmwf(param, levtype, levelist)
    return match.variable if match else None
