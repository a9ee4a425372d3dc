"""Selects the messages of a file that contain the wanted quantities. Index texts must match in full."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gribmill.errors import GribmillError
from gribmill.grib.names.lexicon import Lexicon, lexicon
from gribmill.grib.names.time_range import TimeRange, base_name, parse_time_range
from gribmill.grib.names.variable import Variable, Variant, variant_of_ending
from gribmill.grib.product.keys import NCEP, AccumulationStart, Statistic
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.index.entry import ByteRange, IndexEntry, Inventory

_PRESSURE = re.compile(r"(\S+) mb")
_SOIL = re.compile(r"soil level (\S+)")
# On percentile lines, for sums over several steps: `11-12 hour acc@(fcst,dt=1 hour),missing=0`.
_STEPS_WITHIN = re.compile(r"@\(fcst,dt=[0-9]{1,4} (?:min|hour|day)\),missing=0$")


class UnknownVariable(GribmillError):
    """The name is not in the lexicon."""


@dataclass(frozen=True, slots=True)
class NoaaSelector:
    """Elements and levels, best first, and the time range: accumulations start with the run or at a reset.

    `minutes` is the length of the time range if only that length is wanted.
    """

    elements: tuple[str, ...]
    levels: tuple[str, ...]
    statistic: Statistic = "instant"
    since: AccumulationStart | None = None
    minutes: int | None = None


@dataclass(frozen=True, slots=True)
class EcmwfSelector:
    """`param`s, best first; the type of level, and the level if there are several."""

    params: tuple[str, ...]
    levtype: str = "sfc"
    levelist: str = ""

    @property
    def level(self) -> str:
        """The level in the form of an IndexEntry."""
        return f"{self.levtype} {self.levelist}".strip()

    @property
    def places(self) -> Iterator[tuple[str, str]]:
        """Each param with its level: `u@100` is u at 100 m, with type of level `hl` or `sfc`."""
        for text in self.params:
            param, _, height = text.partition("@")
            yield from ((param, f"{kind} {height}") for kind in ("hl", "sfc")) if height else ((param, self.level),)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A name from the lexicon and its selectors; None if a publisher does not have the quantity.

    `parameters` are its GRIB parameters (edition 2: three numbers, edition 1: table and number). Without a usable
    index, only messages with these parameters are fetched.
    """

    name: str
    noaa: NoaaSelector | None = None
    ecmwf: EcmwfSelector | None = None
    parameters: tuple[tuple[int, ...], ...] = ()
    # Only for a user's variables: the ensemble statistic, and the end of its index lines.
    variant: Variant | None = None
    ending: str | None = None

    @property
    def has_own_ending(self) -> bool:
        """Whether its index lines end differently from those of the model's fields."""
        return self.variant is not None or self.ending is not None

    def ends(self, extra: str) -> bool:
        """Whether an index line with this ending matches."""
        found = variant_of_ending(extra)
        return extra == self.ending or (self.variant is not None and self.variant.equals(found))


def wanted(names: Iterable[str]) -> tuple[Wanted, ...]:
    """The selectors of each name. Raises UnknownVariable, with suggestions, for a name that is not in the lexicon."""
    return tuple(_wanted(name, lexicon()) for name in names)


@lru_cache(maxsize=4096)
def _wanted(name: str, known: Lexicon) -> Wanted:
    row = known.get(name)
    if row is None:
        near = difflib.get_close_matches(name, known.rows, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UnknownVariable(f"there is no variable {name!r} in the lexicon{hint}")
    row = _merged([found for each in known.current_names(name) if (found := known.get(each))])
    parameters = tuple(dict.fromkeys(source.parameter for source in (*row.grib2, *row.grib1)))
    return Wanted(name, _noaa(row), _ecmwf(row), parameters, row.variant, row.ending)


def _merged(rows: Sequence[Variable]) -> Variable:
    """One row with the sources of all rows, for the variables that replace an old name."""
    first = rows[0]
    for row in rows[1:]:
        first = replace(
            first,
            levels=tuple(dict.fromkeys((*first.levels, *row.levels))),
            noaa=tuple(dict.fromkeys((*first.noaa, *row.noaa))),
            ecmwf=tuple(dict.fromkeys((*first.ecmwf, *row.ecmwf))),
            grib2=(*first.grib2, *row.grib2),
            grib1=(*first.grib1, *row.grib1),
        )
    return first


def _noaa(row: Variable) -> NoaaSelector | None:
    if not row.noaa:
        return None
    # Older versions of wgrib2 write the numbers of parameters that they have no name for.
    unnamed = tuple(
        f"var discipline={source.parameter[0]} center={NCEP} local_table=1"
        f" parmcat={source.parameter[1]} parm={source.parameter[2]}"
        for source in row.grib2
        if source.centre == NCEP
    )
    return NoaaSelector(row.noaa + unnamed, row.levels, row.statistic, row.window, row.minutes)


def _ecmwf(row: Variable) -> EcmwfSelector | None:
    if row.minutes is not None:
        # Sums start with the run; the names of extremes end with their hours (mx2t6).
        hours = tuple(param for param in row.ecmwf if param.endswith(f"{row.minutes / 60:g}"))
        row = replace(row, ecmwf=() if row.statistic == "accum" else hours)
    if not row.ecmwf:
        return None
    if row.ecmwf_level is not None:
        levtype, _, levelist = row.ecmwf_level.partition(" ")
        return EcmwfSelector(row.ecmwf, levtype, levelist)
    for level in row.levels:
        if found := _PRESSURE.fullmatch(level):
            return EcmwfSelector(row.ecmwf, "pl", found[1])
        if found := _SOIL.fullmatch(level):
            return EcmwfSelector(row.ecmwf, "sol", found[1])
    return EcmwfSelector(row.ecmwf)


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages to fetch from a file, and the entry that was found for each name."""

    ranges: tuple[ByteRange, ...]
    entries: tuple[IndexEntry, ...]
    found: Mapping[str, IndexEntry]
    missing: tuple[str, ...]
    duplicates: Mapping[str, tuple[IndexEntry, ...]]


@dataclass(frozen=True, slots=True)
class _Timed:
    entry: IndexEntry
    window: TimeRange


def select(
    inventory: Inventory,
    wanted: Iterable[Wanted],
    hour: int,
    *,
    extras: Collection[str] = ("",),
    offset_minutes: int = 0,
) -> Selection:
    """The messages of the wanted quantities at that hour, one range per message, in the file's order.

    `extras` are the texts that a line may end with (a member, `ens mean`); `offset_minutes` is a member's time relative
    to the full hour. Lines with identical texts are duplicates: the first is used, the rest are reported.
    """
    found: dict[str, IndexEntry] = {}
    duplicates: dict[str, tuple[IndexEntry, ...]] = {}
    missing: list[str] = []
    beside: list[IndexEntry] = []
    finder = _Noaa if inventory.kind == "noaa_idx" else _Ecmwf
    minutes = hour * 60 + offset_minutes
    if not finder(inventory.entries, minutes).by_words:
        raise BadIndex(inventory.source, None, f"no line is for hour {hour}: this index belongs to another file")
    search = finder([entry for entry in inventory.entries if entry.extra in extras], minutes)
    wants = tuple(wanted)
    names = {want.name for want in wants}
    for want in wants:
        if want.has_own_ending:
            alike = finder([entry for entry in inventory.entries if want.ends(entry.extra)], minutes).find(want)
        else:
            alike = search.find(want)
        if not alike and not want.has_own_ending and base_name(want.name) not in names:
            # In the first hours, the run total has the bucket's time range, and is used for it if not wanted itself.
            alike = search.first_of(want)
        if not alike:
            missing.append(want.name)
            continue
        found[want.name] = alike[0]
        if not want.has_own_ending and search.is_second(want, alike[0]):
            beside.extend(search.first_of(want))
        elif len(alike) > 1:
            duplicates[want.name] = tuple(alike[1:])
    entries = _in_order([*found.values(), *beside])
    ranges = dict.fromkeys(ByteRange(entry.offset, entry.end) for entry in entries)
    return Selection(tuple(ranges), entries, found, tuple(missing), duplicates)


class _Noaa:
    """Finds entries of NOAA's indexes that end at one time."""

    def __init__(self, entries: Iterable[IndexEntry], minutes: int) -> None:
        self.by_words: dict[tuple[str, str], list[_Timed]] = defaultdict(list)
        for entry in entries:
            window = parse_time_range(_STEPS_WITHIN.sub(" fcst", entry.window) if entry.extra else entry.window)
            if window is not None and window.end == minutes:
                self.by_words[entry.element, entry.level].append(_Timed(entry, window))

    def find(self, want: Wanted) -> list[IndexEntry]:
        """The entries of the best element and level, for the shortest matching time range."""
        words = want.noaa
        if words is None:
            return []
        for element in words.elements:
            for level in words.levels:
                alike = self._alike(self.by_words.get((element, level), ()), words)
                if alike:
                    return alike
        return []

    def is_second(self, want: Wanted, entry: IndexEntry) -> bool:
        """Whether a bucket was distinguished from the run total only by its position."""
        window = parse_time_range(entry.window)
        return want.noaa is not None and want.noaa.since == "bucket" and window is not None and window.start == 0

    def first_of(self, want: Wanted) -> list[IndexEntry]:
        """The run total beside such a bucket: alone, the bucket would be mistaken for the run total."""
        words = want.noaa
        if words is None or words.since != "bucket":
            return []
        return self.find(Wanted(want.name, NoaaSelector(words.elements, words.levels, words.statistic, "run")))[:1]

    @staticmethod
    def _alike(timed: Sequence[_Timed], words: NoaaSelector) -> list[IndexEntry]:
        fitting = [one for one in timed if one.window.statistic == words.statistic]
        if words.minutes is not None:
            return [one.entry for one in fitting if one.window.end - one.window.start == words.minutes]
        from_start = [one.entry for one in fitting if one.window.start == 0]
        if words.since == "run":
            return from_start
        if words.since == "bucket":
            fitting = [one for one in fitting if one.window.start > 0]
            if not fitting:
                # In the first hours, bucket and run total have the same time range; the second line is the bucket.
                return from_start[1:]
        latest = max((one.window.start for one in fitting), default=0)
        return [one.entry for one in fitting if one.window.start == latest]


class _Ecmwf:
    """Finds entries of ECMWF's indexes for one step; `param` distinguishes accumulations from rates."""

    def __init__(self, entries: Iterable[IndexEntry], minutes: int) -> None:
        step = str(minutes // 60)
        self.by_words: dict[tuple[str, str], list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            # Sums and extremes may have a range of steps, which ends at the hour. The hour may have its unit: `0-6h`.
            if entry.window.rpartition("-")[2].removesuffix("h") == step and minutes % 60 == 0:
                self.by_words[entry.element, entry.level].append(entry)

    def find(self, want: Wanted) -> list[IndexEntry]:
        """The entries of the best param."""
        for element, level in want.ecmwf.places if want.ecmwf else ():
            alike = self.by_words.get((element, level))
            if alike:
                return alike
        return []

    def is_second(self, want: Wanted, entry: IndexEntry) -> bool:
        """Always false: ECMWF has no buckets."""
        return False

    def first_of(self, want: Wanted) -> list[IndexEntry]:
        """Always empty: ECMWF has no buckets."""
        return []


def _in_order(entries: Iterable[IndexEntry]) -> tuple[IndexEntry, ...]:
    return tuple(sorted(set(entries), key=lambda entry: (entry.offset, entry.sub)))
