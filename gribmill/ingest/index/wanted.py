"""A quantity that is wanted of a file, in the words of each kind of index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gribmill.ingest.index.wgrib2_time import Statistic


@dataclass(frozen=True, slots=True)
class NoaaWords:
    """Elements and levels, the best first, and the window: sums count from the run's start or from a later reset."""

    elements: tuple[str, ...]
    levels: tuple[str, ...]
    statistic: Statistic = "instant"
    since: Literal["run", "bucket"] | None = None


@dataclass(frozen=True, slots=True)
class EcmwfWords:
    """`param`s, the best first; the type of level, and the level where there are several."""

    params: tuple[str, ...]
    levtype: str = "sfc"
    levelist: str = ""

    @property
    def level(self) -> str:
        """As an Entry has it."""
        return f"{self.levtype} {self.levelist}".strip()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A name of the lexicon, and how indexes call it; None where a publisher does not have it.

    `parameters` are the numbers that GRIB has for it (edition 2: three, edition 1: table and number), for files
    whose index cannot be used: messages of these parameters are all that can be it.
    """

    name: str
    noaa: NoaaWords | None = None
    ecmwf: EcmwfWords | None = None
    parameters: tuple[tuple[int, ...], ...] = ()
