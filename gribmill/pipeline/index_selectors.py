"""The lexicon's rows in the words of indexes: tiles/ and ingest/ know nothing of each other, here they meet."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache

from gribmill.errors import GribmillError
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.variable import Combine, Variable
from gribmill.grib.product.keys import NCEP
from gribmill.ingest.index.wanted import EcmwfWords, NoaaWords, Wanted
from gribmill.ingest.index.wgrib2_time import Statistic

STATISTICS: dict[Combine, Statistic] = {
    "instant": "instant",
    "accumulate": "acc",
    "average": "ave",
    "max": "max",
    "min": "min",
}
_PRESSURE = re.compile(r"(\S+) mb")
_SOIL = re.compile(r"soil level (\S+)")


class UnknownVariable(GribmillError):
    """A name that the lexicon does not have."""


def wanted(names: Iterable[str]) -> tuple[Wanted, ...]:
    """How indexes call each of these names; an UnknownVariable that suggests others where one is not known."""
    return tuple(_wanted(name) for name in names)


@cache
def _wanted(name: str) -> Wanted:
    row = lexicon().get(name)
    if row is None:
        near = difflib.get_close_matches(name, lexicon().rows, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UnknownVariable(f"there is no variable {name!r} in the lexicon{hint}")
    parameters = tuple(dict.fromkeys(source.parameter for source in (*row.grib2, *row.grib1)))
    return Wanted(name, _noaa(row), _ecmwf(row), parameters)


def _noaa(row: Variable) -> NoaaWords | None:
    if not row.noaa:
        return None
    # Where wgrib2 had no name for a parameter yet, it wrote the numbers.
    unnamed = tuple(
        f"var discipline={source.parameter[0]} center={NCEP} local_table=1"
        f" parmcat={source.parameter[1]} parm={source.parameter[2]}"
        for source in row.grib2
        if source.centre == NCEP
    )
    return NoaaWords(row.noaa + unnamed, row.levels, STATISTICS[row.combine], row.window)


def _ecmwf(row: Variable) -> EcmwfWords | None:
    if not row.ecmwf:
        return None
    for level in row.levels:
        if found := _PRESSURE.fullmatch(level):
            return EcmwfWords(row.ecmwf, "pl", found[1])
        if found := _SOIL.fullmatch(level):
            return EcmwfWords(row.ecmwf, "sol", found[1])
    return EcmwfWords(row.ecmwf)
