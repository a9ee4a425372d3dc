"""Names of fields for one chemical constituent, aerosol, size, wavelength, or range of wave periods."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gribmill.grib.octets import scaled
from gribmill.grib.product.keys import Keys
from gribmill.grib.product.levels import SUFFIXES, family, level_suffix, level_text

# Product templates by their parts: the constituent, then an interval of sizes, then an interval of wavelengths.
GASES = frozenset({40, 41, 42, 43})
AEROSOLS = frozenset({44, 45, 46, 47, 85})
OPTICAL = frozenset({48, 49})
WAVE_PERIODS = frozenset({103, 104})
SIZE_OCTET, WAVELENGTH_OCTET, PERIOD_OCTET = 3, 14, 1
# Code table 4.91: below the first limit, above the second, between, above the first, below the second, equal.
BELOW_FIRST, ABOVE_SECOND, ABOVE_FIRST, BELOW_SECOND, EQUAL = {0, 5}, {1, 6}, {3, 8}, {4, 9}, {11}
BETWEEN = {2, 7}
# The usual levels of such fields, which are not part of their names.
USUAL_LEVELS = {
    "surface",
    "entire atmosphere",
    "entire atmosphere (considered as a single layer)",
    "surface - top of atmosphere",
}


@dataclass(frozen=True, slots=True)
class ConstituentName:
    """The name, units and description of a field."""

    name: str
    units: str
    long_name: str


def constituent_name(keys: Keys) -> ConstituentName | None:
    """The name of a constituent field; None if any of its parts is not in the tables."""
    quantity = _tables()["quantities"].get(".".join(map(str, keys.parameter)))
    if not keys.selector or quantity is None or keys.edition != 2:
        return None
    parts = _parts(keys)
    level = _level(keys)
    if parts is None or level is None:
        return None
    name, units, words = quantity
    return ConstituentName("_".join([name, *parts, *level]), units, ", ".join([words, *parts]).replace("_", " "))


def is_constituent(name: str) -> bool:
    """Whether a name starts like a constituent name."""
    return any(name.startswith(f"{quantity[0]}_") for quantity in _tables()["quantities"].values())


def _parts(keys: Keys) -> list[str] | None:
    selector = keys.selector
    if keys.template in WAVE_PERIODS:
        found: list[str | None] = [_interval(selector, PERIOD_OCTET, 1.0, "s")]
    elif keys.template in GASES | AEROSOLS | OPTICAL:
        found = [_tables()["constituents"].get(str(int.from_bytes(selector[:2], "big")))]
        if keys.template not in GASES:
            found.append(_interval(selector, SIZE_OCTET, 1e6, "um"))
        if keys.template in OPTICAL:
            found.append(_interval(selector, WAVELENGTH_OCTET, 1e9, "nm"))
    else:
        return None
    return None if None in found else [part for part in found if part]


def _interval(selector: bytes, octet: int, scale: float, unit: str) -> str | None:
    """`lt2p5um`, `0p2_2um`, `550nm`; "" without an interval, None for an unknown type of interval."""
    kind = selector[octet - 1]
    first, second = (scaled(selector, octet + place) for place in (1, 6))
    # Some encoders write limits of zero if there is no interval.
    if kind == 255 or (not first and not second):
        return ""
    low, high = (None if limit is None else f"{limit * scale:.6g}".replace(".", "p") for limit in (first, second))
    if kind in BELOW_FIRST:
        return f"lt{low}{unit}"
    if kind in ABOVE_FIRST:
        return f"gt{low}{unit}"
    if kind in BELOW_SECOND:
        return f"lt{high}{unit}"
    if kind in ABOVE_SECOND:
        return f"gt{high}{unit}"
    if kind in EQUAL or (kind in BETWEEN and low == high):
        return f"{low}{unit}"
    return f"{low}_{high}{unit}" if kind in BETWEEN else None


def _level(keys: Keys) -> list[str] | None:
    text = level_text(keys.level, keys.level2)
    if text in USUAL_LEVELS:
        return []
    words, numbers = family(text)
    return [level_suffix(words, numbers)] if words in SUFFIXES else None


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("constituents.toml").read_text(encoding="utf-8"))
