"""The array name of any field: from the lexicon, or formed from its GRIB keys."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache

from gribmill.grib.names.constituents import constituent_name, is_constituent
from gribmill.grib.names.lexicon import Lexicon, lexicon
from gribmill.grib.names.variable import Variable
from gribmill.grib.names.window_name import base_name, with_window
from gribmill.grib.product.keys import Keys, Level, Probability
from gribmill.grib.product.levels import NAMED

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
    if keys.derived in DERIVED:
        name += f"_{DERIVED[keys.derived]}"
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
