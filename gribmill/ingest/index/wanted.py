"""A quantity of the lexicon that is wanted from a file, and how each kind of index names it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from gribmill.errors import GribmillError
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.variable import Variable
from gribmill.grib.product.keys import NCEP
from gribmill.grib.product.statistic import AccumulationStart, Statistic

_PRESSURE = re.compile(r"(\S+) mb")
_SOIL = re.compile(r"soil level (\S+)")


class UnknownVariable(GribmillError):
    """A name that the lexicon does not have."""


@dataclass(frozen=True, slots=True)
class NoaaSelector:
    """Elements and levels, the best first, and the time range: accumulations count from the run or from a reset."""

    elements: tuple[str, ...]
    levels: tuple[str, ...]
    statistic: Statistic = "instant"
    since: AccumulationStart | None = None


@dataclass(frozen=True, slots=True)
class EcmwfSelector:
    """`param`s, the best first; the type of level, and the level where there are several."""

    params: tuple[str, ...]
    levtype: str = "sfc"
    levelist: str = ""

    @property
    def level(self) -> str:
        """As an IndexEntry has it."""
        return f"{self.levtype} {self.levelist}".strip()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A name of the lexicon and its selectors; None where a publisher does not have the quantity.

    `parameters` are its GRIB parameters (edition 2: three numbers, edition 1: table and number), for files whose
    index cannot be used: only messages of these parameters can hold it.
    """

    name: str
    noaa: NoaaSelector | None = None
    ecmwf: EcmwfSelector | None = None
    parameters: tuple[tuple[int, ...], ...] = ()


def wanted(names: Iterable[str]) -> tuple[Wanted, ...]:
    """The selectors of each name; an UnknownVariable that suggests others where the lexicon does not have one."""
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


def _noaa(row: Variable) -> NoaaSelector | None:
    if not row.noaa:
        return None
    # Where wgrib2 had no name for a parameter yet, it wrote the numbers.
    unnamed = tuple(
        f"var discipline={source.parameter[0]} center={NCEP} local_table=1"
        f" parmcat={source.parameter[1]} parm={source.parameter[2]}"
        for source in row.grib2
        if source.centre == NCEP
    )
    return NoaaSelector(row.noaa + unnamed, row.levels, row.statistic, row.window)


def _ecmwf(row: Variable) -> EcmwfSelector | None:
    if not row.ecmwf:
        return None
    for level in row.levels:
        if found := _PRESSURE.fullmatch(level):
            return EcmwfSelector(row.ecmwf, "pl", found[1])
        if found := _SOIL.fullmatch(level):
            return EcmwfSelector(row.ecmwf, "sol", found[1])
    return EcmwfSelector(row.ecmwf)
