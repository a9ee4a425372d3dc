"""Which messages of a file are wanted: texts of index lines must be equal, partial matches do not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gribmill.grib.names.wgrib2_time import TimeRange, parse_time_range
from gribmill.ingest.download.ranges import ByteRange
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.index.entry import IndexEntry, Inventory
from gribmill.ingest.index.wanted import EcmwfSelector, NoaaSelector, Wanted


@dataclass(frozen=True, slots=True)
class Selection:
    """What to fetch of a file, and what was found under each name."""

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

    `extras` are the texts that may end a line (a member, `ens mean`); `offset_minutes` is a member's time relative to
    the full hour. Lines that are equal in every text are duplicates: the first is taken, the rest are reported.
    """
    found: dict[str, IndexEntry] = {}
    duplicates: dict[str, tuple[IndexEntry, ...]] = {}
    missing: list[str] = []
    beside: list[IndexEntry] = []
    finder = _Noaa if inventory.kind == "noaa_idx" else _Ecmwf
    minutes = hour * 60 + offset_minutes
    if not finder(inventory, minutes).by_words:
        raise BadIndex(inventory.source, None, f"no line is for hour {hour}: this index belongs to another file")
    search = finder([entry for entry in inventory if entry.extra in extras], minutes)
    for want in wanted:
        alike = search.find(want)
        if not alike:
            missing.append(want.name)
            continue
        found[want.name] = alike[0]
        if search.is_second(want, alike[0]):
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
            window = parse_time_range(entry.window)
            if window is not None and window.end == minutes:
                self.by_words[entry.element, entry.level].append(_Timed(entry, window))

    def find(self, want: Wanted) -> list[IndexEntry]:
        """Entries of the best element and level, equal in all texts; the shortest time range if there are several."""
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
        """Whether a bucket was distinguished from the run's own accumulation only by its position."""
        window = parse_time_range(entry.window)
        return want.noaa is not None and want.noaa.since == "bucket" and window is not None and window.start == 0

    def first_of(self, want: Wanted) -> list[IndexEntry]:
        """The run's own accumulation that goes with such a bucket: alone, the bucket would be taken for it."""
        words = want.noaa
        assert words is not None
        return self.find(Wanted(want.name, NoaaSelector(words.elements, words.levels, words.statistic, "run")))[:1]

    @staticmethod
    def _alike(timed: Sequence[_Timed], words: NoaaSelector) -> list[IndexEntry]:
        fitting = [one for one in timed if one.window.statistic == words.statistic]
        from_start = [one.entry for one in fitting if one.window.start == 0]
        if words.since == "run":
            return from_start
        if words.since == "bucket":
            fitting = [one for one in fitting if one.window.start > 0]
            if not fitting:
                # In the first hours bucket and run total have the same time range: the second line is the bucket.
                return from_start[1:]
        latest = max((one.window.start for one in fitting), default=0)
        return [one.entry for one in fitting if one.window.start == latest]


class _Ecmwf:
    """Finds entries of ECMWF's indexes for one step; `param` distinguishes accumulations from rates."""

    def __init__(self, entries: Iterable[IndexEntry], minutes: int) -> None:
        step = str(minutes // 60)
        self.by_words: dict[tuple[str, str], list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            if entry.window == step and minutes % 60 == 0:
                self.by_words[entry.element, entry.level].append(entry)

    def find(self, want: Wanted) -> list[IndexEntry]:
        """Entries of the best param."""
        words: EcmwfSelector | None = want.ecmwf
        for param in words.params if words else ():
            alike = self.by_words.get((param, words.level if words else ""))
            if alike:
                return alike
        return []

    def is_second(self, want: Wanted, entry: IndexEntry) -> bool:
        """Never: there are no such buckets."""
        return False

    def first_of(self, want: Wanted) -> list[IndexEntry]:
        """There are no such buckets."""
        return []


def _in_order(entries: Iterable[IndexEntry]) -> tuple[IndexEntry, ...]:
    return tuple(sorted(set(entries), key=lambda entry: (entry.offset, entry.sub)))
