"""ecCodes' names of NCEP's quantities that are not in the lexicon, without loading ecCodes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gribmill.grib.product.grib2 import TEMPLATES
from gribmill.grib.product.keys import NCEP, Keys, Level
from gribmill.grib.product.levels import NAMED, VALUED

_PLACE = re.compile(r"(?P<parameter>[\d.]+)(/(?P<statistic>\w+))?(@(?P<kind>\d+)(=(?P<value>\d+))?)?")


class NcepNames(NamedTuple):
    """Names and units of one row of ncep_quantities.txt."""

    short_name: str
    units: str
    long_name: str


class NcepRow(NamedTuple):
    """A row of ncep_quantities.txt: the statistic and level it applies to, and its names, if any."""

    statistic: str | None
    kind: int | None
    value: int | None
    names: NcepNames | None

    def fits(self, keys: Keys) -> bool:
        """Whether it applies to this statistic and level."""
        if self.statistic not in (None, keys.statistic):
            return False
        if self.kind is None:
            return True
        return keys.level is not None and keys.level.kind == self.kind and self.value in (None, keys.level.value)


def ncep_name(keys: Keys) -> str | None:
    """The quantity's short name; None for other centres and for ensemble statistics."""
    rows = _rows_of(keys)
    found = _fitting(rows, keys) or (rows[-1].names if rows else None)
    return found.short_name if found else None


def ncep_names(keys: Keys) -> NcepNames | None:
    """The names in ecCodes; None if only ecCodes itself can tell."""
    return _fitting(_rows_of(keys), keys) if keys.template in TEMPLATES and _usual(keys.level, keys.level2) else None


def _usual(level: Level | None, level2: Level | None) -> bool:
    """Whether NCEP uses such a level. ecCodes has other names for roads, ice and layers between two kinds of level."""
    if level is None or (level2 is not None and level2.kind != level.kind):
        return False
    return level.kind in NAMED or level.kind in VALUED


def _fitting(rows: list[NcepRow], keys: Keys) -> NcepNames | None:
    return next((row.names for row in rows if row.fits(keys)), None)


def _rows_of(keys: Keys) -> list[NcepRow]:
    part_of_ensemble = keys.spread or keys.probability or keys.percentile is not None
    if keys.edition != 2 or keys.centre != NCEP or keys.selector or part_of_ensemble:
        return []
    return quantities().get(keys.parameter, [])


@cache
def quantities() -> dict[tuple[int, ...], list[NcepRow]]:
    """The rows of ncep_quantities.txt by their parameter, read once."""
    found: dict[tuple[int, ...], list[NcepRow]] = {}
    for line in Path(__file__).with_name("ncep_quantities.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        first, *names = line.split("\t")
        place = _PLACE.fullmatch(first)
        assert place, line
        parameter = tuple(int(number) for number in place["parameter"].split("."))
        kind, value = (int(text) if text else None for text in place.group("kind", "value"))
        row = NcepRow(place["statistic"], kind, value, NcepNames(*names) if names else None)
        found.setdefault(parameter, []).append(row)
    return found
