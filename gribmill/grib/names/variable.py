"""One row of the lexicon: a quantity's name in tiles, its description, and how sources identify it.

Also the tables of code fields, and the fill values of quantities that are not in the lexicon.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from gribmill.grib.product.keys import NCEP, NOAA, AccumulationStart, Keys, Statistic
from gribmill.grib.product.levels import level_suffix

# Code table 4.7: as written by users, and as the ends of wgrib2's lines.
DERIVED_WORDS = {"standard deviation": 2, "normalised standard deviation": 3, "spread": 4, "interquartile range": 7}
_DERIVED_ENDINGS = {"ens std dev": 2, "normalized ens std dev": 3, "ens spread": 4}
_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)"
_ABOVE = re.compile(rf"prob >{_NUMBER}")
_BELOW = re.compile(rf"prob <{_NUMBER}")
_BETWEEN = re.compile(rf"prob >={_NUMBER} <{_NUMBER}")
_PERCENTILE = re.compile(r"([0-9]{1,3})% level")


@dataclass(frozen=True, slots=True)
class Variant:
    """A probability of values above a limit, below a limit or both; a percentile; or a spread (code table 4.7)."""

    above: float | None = None
    below: float | None = None
    percentile: int | None = None
    derived: int | None = None

    def equals(self, other: Variant | None) -> bool:
        """Whether both are the same. Limits are compared with the precision of index lines, six digits."""
        if other is None or (self.percentile, self.derived) != (other.percentile, other.derived):
            return False
        return _alike(self.above, other.above) and _alike(self.below, other.below)

    def fits(self, keys: Keys) -> bool:
        """Whether a message with these keys contains this variant."""
        return self.equals(variant_of(keys))

    def __str__(self) -> str:
        if self.percentile is not None:
            return f"percentile {self.percentile}"
        if self.derived is not None:
            return next((words for words, code in DERIVED_WORDS.items() if code == self.derived), "spread")
        limits = [f"above {self.above:g}" if self.above is not None else ""]
        limits += [f"below {self.below:g}" if self.below is not None else ""]
        return f"probability of values {' and '.join(filter(None, limits))}"


def variant_of(keys: Keys) -> Variant | None:
    """The variant that a message contains; None for the quantity itself."""
    if keys.probability is not None:
        lower, upper = keys.probability.lower, keys.probability.upper
        above, below = {0: (None, lower), 1: (upper, None), 3: (lower, None), 4: (None, upper)}.get(
            keys.probability.kind, (lower, upper)
        )
        return Variant(above=above, below=below, percentile=keys.percentile)
    if keys.percentile is not None:
        return Variant(percentile=keys.percentile)
    return Variant(derived=keys.derived) if keys.spread else None


@lru_cache(maxsize=1024)
def variant_of_ending(text: str) -> Variant | None:
    """The variant at the end of an index line: `prob >0.254:prob fcst 255/255`, `10% level`, `ens std dev`."""
    first = text.split(":")[0].strip()
    if found := _ABOVE.fullmatch(first):
        return Variant(above=float(found[1]))
    if found := _BELOW.fullmatch(first):
        return Variant(below=float(found[1]))
    if found := _BETWEEN.fullmatch(first):
        return Variant(above=float(found[1]), below=float(found[2]))
    if found := _PERCENTILE.fullmatch(first):
        return Variant(percentile=int(found[1]))
    return Variant(derived=_DERIVED_ENDINGS[first]) if first in _DERIVED_ENDINGS else None


def _alike(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-9)


@dataclass(frozen=True, slots=True)
class GribSource:
    """How GRIB messages identify a quantity: parameter, centre (None: any) and units (None: the row's).

    `processes`: only messages from these generating processes. `negated`: the source has the opposite sign.
    """

    parameter: tuple[int, ...]
    centre: int | None = None
    units: str | None = None
    processes: tuple[int, ...] = ()
    negated: bool = False

    def fits(self, centre: int, process: int | None) -> bool:
        """Whether it applies to messages of that centre and generating process."""
        return self.centre in (None, centre) and (not self.processes or process in self.processes)


@dataclass(frozen=True, slots=True)
class OldName:
    """A name that a variable had in earlier versions; `model`: only in tiles of that model and its variants."""

    name: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class CentreRule:
    """A rule of variables.toml for one centre (None: any); NCEP's apply to all of NOAA."""

    text: str
    centre: int | None = None

    def applies_to(self, centre: int) -> bool:
        """Whether the rule applies to messages of that centre."""
        return self.centre in (None, centre) or (self.centre == NCEP and centre in NOAA)


@dataclass(frozen=True, slots=True)
class Variable:
    """A row of variables.toml. `name` contains {} where the row describes a family of levels."""

    name: str
    long_name: str
    units: str
    palette: str
    range: tuple[float, float]
    levels: tuple[str, ...]
    standard_name: str | None = None
    statistic: Statistic = "instant"
    window: AccumulationStart | None = None
    # The length of its time range, if it is part of the name (`tp_6h`).
    minutes: int | None = None
    noaa: tuple[str, ...] = ()
    ecmwf: tuple[str, ...] = ()
    grib2: tuple[GribSource, ...] = ()
    grib1: tuple[GribSource, ...] = ()
    # Numbers that mean "no value", and the table of a code field.
    fill: tuple[CentreRule, ...] = ()
    codes: tuple[CentreRule, ...] = ()
    valid_min: float | None = None
    was: tuple[OldName, ...] = ()
    # Whether the name is used only if a better source has the usual one, or if it is requested.
    beside: bool = False
    # Only for a user's variables: the ensemble statistic; the end of its index lines; whether any single level matches;
    # its level in ECMWF's indexes (`pl 850`); whether the user has chosen its range.
    variant: Variant | None = None
    ending: str | None = None
    any_level: bool = False
    ecmwf_level: str | None = None
    own_range: bool = False

    def fill_values(self, centre: int) -> tuple[float, ...]:
        """The numbers that mean "no value" in messages of that centre."""
        return tuple(float(rule.text) for rule in self.fill if rule.applies_to(centre))

    def code_table(self, centre: int) -> str | None:
        """The name of the code table for that centre; None if the values are not codes."""
        return next((rule.text for rule in self.codes if rule.applies_to(centre)), None)

    @property
    def is_family(self) -> bool:
        """Whether it describes many levels; `at` returns the variable at one of them."""
        return "{}" in self.name

    def at(self, words: str, numbers: tuple[str, ...]) -> Variable:
        """The variable at one level of a family; the arguments are as returned by `levels.family`."""
        suffix = level_suffix(words, numbers)
        where = words.format(*numbers)
        place = where.replace(" mb", " hPa").removesuffix(" (considered as a single layer)")
        return replace(
            self,
            name=self.name.format(suffix),
            long_name=f"{self.long_name} at {place}",
            levels=(where,),
        )


@dataclass(frozen=True, slots=True)
class CodeTable:
    """The values of a code field in ascending order, and their meanings."""

    values: tuple[int, ...]
    meanings: tuple[str, ...]


def code_table(name: str) -> CodeTable:
    """The table of that name in code_tables.toml."""
    return _tables()[name]


@cache
def _tables() -> dict[str, CodeTable]:
    document = tomllib.loads(Path(__file__).with_name("code_tables.toml").read_text(encoding="utf-8"))
    found = {}
    for name, rows in document.items():
        numbered = sorted((int(value), meaning) for value, meaning in rows.items())
        found[name] = CodeTable(tuple(value for value, _ in numbered), tuple(meaning for _, meaning in numbered))
    return found


# NSSL's MRMS uses a local discipline of GRIB2, whose quantities are not in the lexicon.
MRMS_CENTRE, MRMS_DISCIPLINE = 161, 209
MRMS_PRECIPITATION = 6
# Missing radar data, and points without radar coverage. Precipitation amounts, rates and flags use other numbers too.
MRMS_FILL = (-99.0, -999.0)
MRMS_PRECIPITATION_FILL = (-1.0, -3.0, *MRMS_FILL)


def mrms_fill_values(keys: Keys) -> tuple[float, ...]:
    """The fill values of an MRMS field; empty for other fields."""
    if keys.edition != 2 or keys.centre != MRMS_CENTRE or keys.parameter[0] != MRMS_DISCIPLINE:
        return ()
    return MRMS_PRECIPITATION_FILL if keys.parameter[1] == MRMS_PRECIPITATION else MRMS_FILL
