"""One quantity of the lexicon: its name in a tile, its description, and how sources name it or its statistic."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from gribmill.grib.names.levels import level_suffix
from gribmill.grib.product.keys import NCEP, NOAA, AccumulationStart, Keys, Statistic

# Code table 4.7, in the words that a user may write, and as wgrib2 ends its lines.
DERIVED_WORDS = {"standard deviation": 2, "normalised standard deviation": 3, "spread": 4, "interquartile range": 7}
_DERIVED_ENDINGS = {"ens std dev": 2, "normalized ens std dev": 3, "ens spread": 4}
_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)"
_ABOVE = re.compile(rf"prob >{_NUMBER}")
_BELOW = re.compile(rf"prob <{_NUMBER}")
_BETWEEN = re.compile(rf"prob >={_NUMBER} <{_NUMBER}")
_PERCENTILE = re.compile(r"([0-9]{1,3})% level")


@dataclass(frozen=True, slots=True)
class Variant:
    """A probability of values above and below limits (one or both), a percentile, or a spread (code table 4.7)."""

    above: float | None = None
    below: float | None = None
    percentile: int | None = None
    derived: int | None = None

    def equals(self, other: Variant | None) -> bool:
        """Whether both are the same; limits are equal to six digits, as index lines write them."""
        if other is None or (self.percentile, self.derived) != (other.percentile, other.derived):
            return False
        return _alike(self.above, other.above) and _alike(self.below, other.below)

    def fits(self, keys: Keys) -> bool:
        """Whether a message holds it."""
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
    """What a message holds instead of the quantity itself; None for the quantity."""
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
    """What the end of an index line says: `prob >0.254:prob fcst 255/255`, `10% level`, `ens std dev`."""
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
    """How GRIB messages identify a quantity: its parameter, the centre (None: any) and the unit (None: the usual).

    `processes`: only messages of these generating processes. `negated`: with the opposite sign of the row.
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
    # The length of its time range, where its name says it (`tp_6h`).
    minutes: int | None = None
    noaa: tuple[str, ...] = ()
    ecmwf: tuple[str, ...] = ()
    grib2: tuple[GribSource, ...] = ()
    grib1: tuple[GribSource, ...] = ()
    # Numbers that stand for "no value", and the table of a code field.
    fill: tuple[CentreRule, ...] = ()
    codes: tuple[CentreRule, ...] = ()
    valid_min: float | None = None
    was: tuple[OldName, ...] = ()
    # Whether the name is used only if a better source has the usual one, or if it is requested.
    beside: bool = False
    # Of a user's variables: a statistic of an ensemble; the end of its index lines; whether it may be at any single
    # level; its level in ECMWF's indexes (`pl 850`); whether its range is the user's choice.
    variant: Variant | None = None
    ending: str | None = None
    any_level: bool = False
    ecmwf_level: str | None = None
    own_range: bool = False

    def fill_values(self, centre: int) -> tuple[float, ...]:
        """The numbers that a centre writes where there is no value."""
        return tuple(float(rule.text) for rule in self.fill if rule.applies_to(centre))

    def code_table(self, centre: int) -> str | None:
        """The name of the code table of a centre's values; None if they are quantities."""
        return next((rule.text for rule in self.codes if rule.applies_to(centre)), None)

    @property
    def is_family(self) -> bool:
        """Whether it describes many levels, and `at` gives the name of an array."""
        return "{}" in self.name

    def at(self, words: str, numbers: tuple[str, ...]) -> Variable:
        """The member of a family at one level, as `levels.family` splits it."""
        suffix = level_suffix(words, numbers)
        where = words.format(*numbers)
        place = where.replace(" mb", " hPa").removesuffix(" (considered as a single layer)")
        return replace(
            self,
            name=self.name.format(suffix),
            long_name=f"{self.long_name} at {place}",
            levels=(where,),
        )
