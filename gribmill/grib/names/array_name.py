"""The array name of any field: from the lexicon, or formed from its GRIB keys.

Fields for one chemical constituent, aerosol, size, wavelength or range of wave periods have names in words, from
constituents.toml.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from gribmill.grib.names.lexicon import Lexicon, lexicon
from gribmill.grib.names.time_range import base_name, with_window
from gribmill.grib.names.variable import Variable
from gribmill.grib.product.keys import Keys, Level, Probability
from gribmill.grib.product.levels import NAMED, SUFFIXES, family, level_suffix, level_text
from gribmill.grib.sections import scaled

# Parameter numbers from here on are reserved for local use by the originating centre.
LOCAL = 192
_NUMBERED = re.compile(r".+_\d{1,3}")
_BY_NUMBERS = re.compile(r"g[12]_\d")
DERIVED = {2: "sd", 3: "sdnorm", 4: "spread", 5: "anomaly", 7: "iqr", 8: "lowest", 9: "highest"}
COMPARISONS = {0: "lt", 1: "gt", 2: "between", 3: "gt", 4: "lt"}


def array_name(keys: Keys) -> str:
    """The name of the field's array; the same for the same kind of field in every file and run."""
    match = lexicon().match_quantity(keys) if not keys.selector else None
    return name_in_lexicon(match.variable, keys) if match else _parameter(keys) + _statistic(keys) + _ensemble(keys)


def is_array_name(name: str) -> bool:
    """Whether it may be the array name of a field that is not in the lexicon.

    Such names contain GRIB numbers or a constituent, or end with a number because another field has the plain name.
    """
    return is_formed_name(name) or _is_numbered(name, lexicon())


@lru_cache(maxsize=1024)
def is_formed_name(name: str) -> bool:
    """Whether the name is formed from GRIB numbers or from a constituent."""
    return bool(_BY_NUMBERS.match(name)) or is_constituent(name)


@lru_cache(maxsize=1024)
def _is_numbered(name: str, known: Lexicon) -> bool:
    return bool(_NUMBERED.fullmatch(name)) and known.get(name) is None


def array_name_over_time(keys: Keys) -> str:
    """The name with the length of the time range: `tp_6h_prob_gt_0p254` beside `tp_bucket_prob_gt_0p254`."""
    match = lexicon().match_quantity(keys) if not keys.selector else None
    if match:
        return with_window(base_name(match.variable.name), keys.window_minutes) + _ensemble(keys)
    statistic = "" if keys.statistic == "accum" else f"_{keys.statistic}"
    return with_window(_parameter(keys) + statistic, keys.window_minutes) + _ensemble(keys)


def name_in_lexicon(variable: Variable, keys: Keys) -> str:
    """The name of an array with this quantity or an ensemble statistic of it."""
    return variable.name + _ensemble(keys)


def _parameter(keys: Keys) -> str:
    if constituent := constituent_name(keys):
        return constituent.name
    numbers = "_".join(map(str, keys.parameter))
    local = keys.edition == 1 or any(number >= LOCAL for number in keys.parameter)
    name = f"g{keys.edition}_{numbers}" + (f"_c{keys.centre}" if local else "")
    if keys.selector:
        name += f"_x{keys.selector.hex()}"
    return name + _level(keys.level) + _level(keys.level2)


def _level(level: Level | None) -> str:
    if level is None:
        return ""
    valued = level.value is not None and level.kind not in NAMED
    return f"_l{level.kind}" + (f"_{_number(level.value)}" if valued else "")


def _statistic(keys: Keys) -> str:
    if keys.statistic == "instant":
        return ""
    if keys.statistic != "accum":
        return f"_{keys.statistic}"
    return "_run" if keys.start == timedelta(0) else "_bucket"


def _ensemble(keys: Keys) -> str:
    name = f"_{keys.of_many}_of_many" if keys.of_many else ""
    if keys.derived is not None and not keys.ensemble_mean:
        name += f"_{DERIVED.get(keys.derived, f'derived{keys.derived}')}"
    if keys.percentile is not None:
        name += f"_p{keys.percentile}"
    if keys.probability:
        name += _probability(keys.probability)
    return name


def _probability(probability: Probability) -> str:
    kind, lower, upper = probability.kind, probability.lower, probability.upper
    word = COMPARISONS.get(kind, f"kind{kind}")
    limits = {0: (lower,), 1: (upper,), 3: (lower,), 4: (upper,)}.get(kind, (lower, upper))
    return "_".join([f"_prob_{word}", *(_number(limit) for limit in limits if limit is not None)])


def _number(value: float | None) -> str:
    return f"{value or 0:.9g}".replace("-", "m").replace(".", "p").replace("+", "")


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
    level = _level_part(keys)
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


def _level_part(keys: Keys) -> list[str] | None:
    text = level_text(keys.level, keys.level2)
    if text in USUAL_LEVELS:
        return []
    words, numbers = family(text)
    return [level_suffix(words, numbers)] if words in SUFFIXES else None


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("constituents.toml").read_text(encoding="utf-8"))
