"""Names and units of a field that is not in the lexicon, from NCEP's table or else from ecCodes.

The table, ncep_quantities.txt, has ecCodes' names of NCEP's quantities: ecCodes need not be loaded for them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gribmill.grib.decode.eccodes import describe
from gribmill.grib.decode.field import Field
from gribmill.grib.names.array_name import constituent_name
from gribmill.grib.product.grib2 import TEMPLATES
from gribmill.grib.product.keys import NCEP, PROBABILITIES, Keys, Level, Probability
from gribmill.grib.product.levels import NAMED, VALUED
from gribmill.grib.sections import Sections2, unsigned

# Long name and units.
NameAndUnits = tuple[str, str]
MOST_CACHED = 1024
_cached: dict[Hashable, NameAndUnits] = {}

# Code table 4.7 without the means, which are named like the quantity itself.
ENSEMBLE_STATISTICS = {
    2: "standard deviation of the ensemble",
    3: "normalised standard deviation of the ensemble",
    4: "spread of the ensemble",
    5: "large anomaly index of the ensemble",
    7: "interquartile range of the ensemble",
    8: "minimum of the ensemble",
    9: "maximum of the ensemble",
}
DIMENSIONLESS = {3, 5}
OF_MANY = {"mean": "mean", "sum": "sum", "sd": "standard deviation", "variance": "variance"}


def long_name(item: Field) -> NameAndUnits:
    """Long name and units of the quantity; `parameter 0.19.2` if it is in no table."""
    if constituent := constituent_name(item.keys):
        return constituent.long_name, constituent.units
    known = ncep_names(item.keys)
    return (known.long_name, known.units) if known else _by_eccodes(item)


def of_ensemble(name: str, units: str, keys: Keys) -> NameAndUnits:
    """Long name and units of an ensemble statistic, from those of the quantity. Probabilities are in percent."""
    if keys.of_many is not None:
        name = f"{name}, {OF_MANY[keys.of_many]} of many analyses or forecasts"
    if keys.derived is not None and not keys.ensemble_mean:
        words = ENSEMBLE_STATISTICS.get(keys.derived, f"statistic {keys.derived} of the ensemble")
        name = f"{name}, {words}"
        units = "1" if keys.derived in DIMENSIONLESS else units
    if keys.percentile is not None:
        name = f"{name}, percentile {keys.percentile} of the ensemble"
    if keys.probability is not None:
        return f"{name}, {_probability(keys.probability, units)}", "%"
    return name, units


def _by_eccodes(item: Field) -> NameAndUnits:
    """Cached: ecCodes takes milliseconds per name, and its first lookup takes a hundred megabytes."""
    key = _quantity(item.sections) if isinstance(item.sections, Sections2) else None
    found = _cached.get(key) if key is not None else None
    if found is None:
        known = describe(item.message())
        numbers = ".".join(str(number) for number in item.keys.parameter)
        found = known.long_name or f"parameter {numbers}", (known.units or "unknown").replace("**", "")
        if key is not None and len(_cached) < MOST_CACHED:
            _cached[key] = found
    return found


def _quantity(sections: Sections2) -> Hashable | None:
    """Everything that a name can depend on: the header without its times. None for an unknown template."""
    template = TEMPLATES.get(unsigned(sections.product, 8, 9))
    if template is None:
        return None
    product = bytearray(sections.product)
    if template.time_range:
        end = template.end_of_time_range - 1
        product[end : end + 7] = b""
    product[template.forecast_time - 1 : template.first_surface - 1] = b""
    head = sections.identification
    return sections.discipline, head[5:11], head[19:], sections.local, bytes(product)


def _probability(probability: Probability, units: str) -> str:
    lower, upper = (
        "?" if limit is None else f"{limit:.9g} {units}" for limit in (probability.lower, probability.upper)
    )
    text = PROBABILITIES.get(probability.kind, f"probability of kind {probability.kind}")
    return text.format(lower=lower, upper=upper)


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
