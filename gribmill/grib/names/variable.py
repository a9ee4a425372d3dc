"""One quantity of the lexicon: its name in a tile, its description, and how sources name it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gribmill.grib.names.level_suffix import level_suffix
from gribmill.grib.names.variant import Variant
from gribmill.grib.product.keys import NCEP, NOAA
from gribmill.grib.product.statistic import AccumulationStart, Statistic


@dataclass(frozen=True, slots=True)
class GribSource:
    """How GRIB messages name a quantity: its parameter, the centre (None: any) and the unit (None: the usual).

    `processes`: only messages of these generating processes. `negated`: with the opposite sign of the row.
    """

    parameter: tuple[int, ...]
    centre: int | None = None
    units: str | None = None
    processes: tuple[int, ...] = ()
    negated: bool = False

    def fits(self, centre: int, process: int | None) -> bool:
        """Whether a message of that centre and generating process can be meant."""
        return self.centre in (None, centre) and (not self.processes or process in self.processes)


@dataclass(frozen=True, slots=True)
class OldName:
    """A name that a variable had in earlier versions; `model`: only in tiles of that model and its variants."""

    name: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class CentreRule:
    """A rule of variables.toml that holds for one centre (None: any); NCEP's hold for all of NOAA."""

    text: str
    centre: int | None = None

    def applies_to(self, centre: int) -> bool:
        """Whether the rule holds for messages of that centre."""
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
    # Whether it is the name of a field only where a better source has the usual one, or where it is asked for.
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
