"""The lexicon: maps index lines, ECMWF's `param` and GRIB keys to quantities."""

from __future__ import annotations

import logging
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from gribmill.grib.names.time_range import (
    BUCKET,
    RUN,
    base_name,
    parse_time_range,
    split_window,
    with_range,
    with_window,
)
from gribmill.grib.names.variable import CentreRule, GribSource, OldName, Variable
from gribmill.grib.product.keys import ECMWF, Keys, Statistic
from gribmill.grib.product.levels import family, level_of_suffix, level_text

log = logging.getLogger(__name__)

# Kinds of level with many levels, where a parameter is a different quantity than at the surface.
MANY_LEVELS = {"{} mb", "{} hybrid level", "{} K isentropic level", "PV={} (Km^{}/kg/s) surface", "soil level {}"}
# Suffixes of cell statistics (docs/tiles.md).
CELL_ENDINGS = ("_min", "_max", "_mean")
LEVELS_OF_TYPE = {"pl": "{} mb", "sol": "soil level {}"}
# ECMWF's types of level for a height above the ground.
HEIGHT_TYPES = {"hl", "sfc"}
# wgrib2 writes the numbers of a parameter that it has no name for.
_UNNAMED = re.compile(r"var discipline=(\d+) center=(\d+) local_table=\d+ parmcat=(\d+) parm=(\d+)")
# How an index line may end if it is for the quantity itself: a member, a control, a mean.
_PLAIN_EXTRA = re.compile(r"(ENS=\S.*|ens mean|)")


@dataclass(frozen=True, slots=True)
class Match:
    """A matching quantity. `rank` is 0 for the best of several sources; `units` are the units of this source.

    `negated`: the source has the opposite sign.
    """

    variable: Variable
    rank: int
    units: str
    negated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """All rows, indexed by each of their names. Compared by identity, because caches are kept per lexicon."""

    rows: dict[str, Variable]
    by_noaa: dict[str, list[tuple[int, Variable, None]]]
    by_ecmwf: dict[str, list[Variable]]
    by_grib: dict[tuple[int, ...], list[tuple[int, Variable, GribSource]]]
    # Names from earlier versions, and their replacements.
    renamed: dict[str, tuple[str, ...]]
    # The user's rows for probabilities, percentiles and spreads.
    variants: dict[tuple[int, ...], list[tuple[int, Variable, GribSource]]]

    def current_names(self, name: str) -> tuple[str, ...]:
        """The name itself, or the replacements of a name from an earlier version; logs a warning once per old name."""
        if name not in self.renamed or name in self.rows:
            return (name,)
        _warn_of_old_name(name, self.renamed[name])
        return self.renamed[name]

    def other_names(self, name: str, model: str) -> list[str]:
        """Other names, newer or older, that the variable may have in a tile of that model."""
        for ending in ("", *CELL_ENDINGS):
            base = name.removesuffix(ending) if name.endswith(ending) else ""
            if base in self.renamed:
                return [current + ending for current in self.current_names(base)]
            if base in self.rows and self.rows[base].was:
                return [old + ending for old in self._old_names(base, model)]
        return []

    def _old_names(self, name: str, model: str) -> list[str]:
        """Earlier names of a variable in tiles of that model; the same old name may mean another variable elsewhere."""
        own = self.rows[name].was
        special = [old.name for old in own if old.model and model.startswith(old.model)]
        others = {
            old.name for row in self.rows.values() for old in row.was if old.model and model.startswith(old.model)
        }
        return special or [old.name for old in own if old.model is None and old.name not in others]

    def get(self, name: str) -> Variable | None:
        """The quantity with that current or old name: `t2m`, or `t_850` from the family `t_{}`."""
        if name in self.renamed and name not in self.rows:
            name = self.renamed[name][0]
        if name in self.rows:
            return None if self.rows[name].is_family else self.rows[name]
        for row in self.rows.values():
            head, braces, tail = row.name.partition("{}")
            if braces and name.startswith(head) and name.endswith(tail):
                suffix = name[len(head) : len(name) - len(tail)]
                for words in row.levels:
                    numbers = level_of_suffix(words, suffix)
                    if numbers is not None and row.at(words, numbers).name == name:
                        return row.at(words, numbers)
        return self._over_time(name)

    def _over_time(self, name: str) -> Variable | None:
        """The quantity for a name that includes its time range: `tp_6h`, `t2m_max_12h`, `tp_run`."""
        if name.endswith(RUN):
            row = self.get(name.removesuffix(RUN))
            return row if row and row.window == "run" else None
        found = split_window(name)
        row = self.get(found[0]) if found else None
        if found is None or row is None or row.statistic == "instant" or row.window == "bucket" or row.minutes:
            return None
        words = with_range(row.long_name, found[1])
        return replace(row, name=name, long_name=words, window=None, minutes=found[1])

    def match_keys(self, keys: Keys) -> Match | None:
        """The best of `plain_matches`; None if there is none."""
        return next(iter(self.plain_matches(keys)), None)

    def plain_matches(self, keys: Keys) -> list[Match]:
        """All quantities that match the message, the usual one first.

        Spreads, probabilities and percentiles only match variables that the user has defined.
        """
        if keys.selector or keys.of_many:
            return []
        if keys.spread or keys.probability or keys.percentile is not None:
            return self._variant_matches(keys) if self.variants else []
        return list(self.matches(keys))

    def _variant_matches(self, keys: Keys) -> list[Match]:
        text = level_text(keys.level, keys.level2)
        found = []
        for rank, row, source in self.variants.get(_parameter(keys), ()):
            right = row.variant is not None and row.variant.fits(keys) and source.fits(keys.tables, keys.process)
            if right and _at_level(row, text, any_level=row.any_level) and _timed(row, keys):
                found.append(Match(row, rank, source.units or row.units))
        return found

    def match_quantity(self, keys: Keys) -> Match | None:
        """Like `match_keys`, but also for any statistic of an ensemble or of many analyses."""
        return next(self.matches(keys), None)

    def matches(self, keys: Keys) -> Iterator[Match]:
        """Yields all quantities that match the message, best first; some apply only without a better one (`mslp`)."""
        text = level_text(keys.level, keys.level2)
        usual = False
        for rank, row, source in self.by_grib.get(_parameter(keys), ()):
            if not source.fits(keys.tables, keys.process) or (usual and not row.beside):
                continue
            own_number = source.centre == ECMWF
            timed = _ecmwf_time(row, keys) if own_number and keys.edition == 1 else False
            timed = timed or _timed(row, keys)
            timed = timed or (keys.of_many is not None and row.statistic == "instant")
            found = _at_level(row, text, any_level=own_number or row.any_level) if timed else None
            if found:
                usual = True
                yield Match(found, rank, source.units or row.units, source.negated)

    def match_noaa(self, element: str, level: str, window: str, extra: str = "") -> Match | None:
        """The quantity of an index line, whose texts must match exactly; None if it is not in the lexicon."""
        when = parse_time_range(window)
        if when is None or not _PLAIN_EXTRA.fullmatch(extra):
            return None
        for rank, row, source in self._candidates(element):
            if _same_time(row, when.statistic, timedelta(minutes=when.start)):
                found = _at_level(row, level, any_level=False)
                if found:
                    return Match(found, rank, (source.units if source else None) or row.units)
        return None

    def match_ecmwf(self, param: str, levtype: str = "sfc", levelist: str | int | None = None) -> Match | None:
        """The quantity of an ECMWF index entry."""
        for row in self.by_ecmwf.get(f"{param}@{levelist}", ()) if levtype in HEIGHT_TYPES else ():
            return Match(row, 0, row.units)
        for row in self.by_ecmwf.get(param, ()):
            words = LEVELS_OF_TYPE.get(levtype)
            if row.is_family and words in row.levels and levelist is not None:
                return Match(row.at(words, (str(levelist),)), 0, row.units)
            if not row.is_family and words is None:
                return Match(row, 0, row.units)
        return None

    def _candidates(self, element: str) -> Iterable[tuple[int, Variable, GribSource | None]]:
        if unnamed := _UNNAMED.fullmatch(element):
            discipline, centre, category, number = map(int, unnamed.groups())
            rows = self.by_grib.get((discipline, category, number), ())
            return [entry for entry in rows if entry[2].fits(centre, None)]
        # Some inventories add a long name to the element: `TMP Temperature [K]`.
        return self.by_noaa.get(element.split(" ")[0] if element.endswith("]") else element, ())


def plain_name(name: str) -> str:
    """`tp` for `tp_run`; other names unchanged."""
    row = lexicon().get(name) if name.endswith(RUN) else None
    return row.name if row else name


def unique_names(matches: Sequence[Match | None], minutes: Sequence[int] | None = None) -> list[str | None]:
    """A unique name for each match: the best source of a quantity gets its name, the others get None.

    `minutes` are the lengths of their time ranges. The shortest gets the lexicon's name; a longer one has its length in
    its name: `tp_bucket` and `tp_6h`. In the first hours of a run, a bucket has the same time range as the run total;
    the second of the two is the bucket.
    """
    lengths = minutes or [0] * len(matches)
    names: list[str | None] = [None] * len(matches)
    # By name: the time range and rank of the field that has it.
    taken: dict[str, tuple[int, int]] = {}
    order = sorted((lengths[place], match.rank, place) for place, match in enumerate(matches) if match)
    for length, rank, place in order:
        match = matches[place]
        assert match is not None
        name = match.variable.name
        bucket = f"{name}{BUCKET}"
        longer = with_window(base_name(name), length)
        if name not in taken:
            taken[name], names[place] = (length, rank), name
        elif taken[name] == (length, rank) and bucket in lexicon().rows and bucket not in taken:
            taken[bucket], names[place] = (length, rank), bucket
        elif taken[name][0] < length and longer not in taken:
            taken[longer], names[place] = (length, rank), longer
    return names


@cache
def built_in_lexicon() -> Lexicon:
    """The rows of variables.toml, read once."""
    document = tomllib.loads(Path(__file__).with_name("variables.toml").read_text(encoding="utf-8"))
    return _indexed({name: _variable(name, row) for name, row in document.items()})


def lexicon() -> Lexicon:
    """This process's lexicon: the built-in rows and the user's own."""
    return _with_own or built_in_lexicon()


_own: tuple[Variable, ...] = ()
_with_own: Lexicon | None = None


def use_own_variables(own: tuple[Variable, ...]) -> None:
    """Replaces the user's rows in this process's lexicon; the built-in rows stay."""
    global _own, _with_own
    if own != _own:
        _with_own = _indexed(built_in_lexicon().rows | {row.name: row for row in own}) if own else None
        _own = own


def _indexed(rows: dict[str, Variable]) -> Lexicon:
    by_noaa: dict[str, list[tuple[int, Variable, None]]] = defaultdict(list)
    by_ecmwf: dict[str, list[Variable]] = defaultdict(list)
    by_grib: dict[tuple[int, ...], list[tuple[int, Variable, GribSource]]] = defaultdict(list)
    variants: dict[tuple[int, ...], list[tuple[int, Variable, GribSource]]] = defaultdict(list)
    for row in rows.values():
        if row.variant is not None:
            for rank, source in enumerate((*row.grib2, *row.grib1)):
                variants[source.parameter].append((rank, row, source))
            continue
        for rank, element in enumerate(row.noaa):
            by_noaa[element].append((rank, row, None))
        for param in row.ecmwf:
            by_ecmwf[param].append(row)
        for sources in (row.grib2, row.grib1):
            for rank, source in enumerate(sources):
                by_grib[source.parameter].append((rank, row, source))
    renamed: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for row in rows.values():
        for old in row.was:
            renamed[old.name] += (row.name,) if row.name not in renamed[old.name] else ()
    return Lexicon(rows, dict(by_noaa), dict(by_ecmwf), dict(by_grib), dict(renamed), dict(variants))


def absent_names(wanted: Collection[str], taken: Collection[str]) -> list[str]:
    """The wanted names that are not in `taken`. An old name is absent only if all its replacements are."""
    known = lexicon().renamed
    optional = {name for old in wanted if old in known for name in known[old]}
    found = {old for old in wanted if not {*known.get(old, ())}.isdisjoint(taken)}
    return sorted({*wanted} - {*taken} - found - optional)


@cache
def _warn_of_old_name(name: str, current: tuple[str, ...]) -> None:
    log.warning("the variable %s is called %s now; the old name is still understood", name, " or ".join(current))


def _variable(name: str, row: dict[str, Any]) -> Variable:
    low, high = row["range"]
    read: dict[str, Any] = {**row, "name": name, "range": (float(low), float(high))}
    read |= {key: tuple(row.get(key, ())) for key in ("levels", "noaa", "ecmwf")}
    read["was"] = tuple(_old_name(text) for text in row.get("was", ()))
    read |= {key: tuple(_rule(text) for text in row.get(key, ())) for key in ("fill", "codes")}
    read |= {key: tuple(read_source(text) for text in row.get(key, ())) for key in ("grib2", "grib1")}
    return Variable(**read)


def read_source(text: str) -> GribSource:
    """Parses a source of variables.toml: `0.1.193@98=m` for GRIB2 or `98:128.228=m` for GRIB1.

    `#83,105` lists generating processes; `=-` means the opposite sign.
    """
    place, _, units = text.partition("=")
    place, _, processes = place.partition("#")
    centre, colon, numbers = place.partition(":")
    if not colon:
        numbers, _, centre = place.partition("@")
    parameter = tuple(int(number) for number in numbers.split("."))
    return GribSource(
        parameter,
        int(centre) if centre else None,
        units.removeprefix("-") or None,
        tuple(int(process) for process in processes.split(",") if process),
        units.startswith("-"),
    )


def _old_name(text: str) -> OldName:
    """Parses `ceil`, or `ceil@nbm` for tiles of that model only."""
    name, _, model = text.partition("@")
    return OldName(name, model or None)


def _rule(text: str) -> CentreRule:
    """Parses `-999@7` (a fill value of NCEP) or `precipitation_type` (a code table for any centre)."""
    what, _, centre = text.partition("@")
    return CentreRule(what, int(centre) if centre else None)


def _parameter(keys: Keys) -> tuple[int, ...]:
    """The parameter as in the lexicon, which has version 2 of GRIB1's table 2. Below 128, versions 1 to 3 agree."""
    if keys.edition == 1 and keys.parameter[0] in (1, 3) and keys.parameter[1] < 128:
        return (2, keys.parameter[1]) if keys.centre != ECMWF else keys.parameter
    return keys.parameter


def _ecmwf_time(row: Variable, keys: Keys) -> bool:
    """ECMWF's GRIB1 encodes sums and extremes as instants or without a statistic: the parameter implies it."""
    return keys.statistic in ("instant", "other", row.statistic)


def _same_time(row: Variable, statistic: Statistic, start: timedelta | None) -> bool:
    if statistic != row.statistic:
        return False
    if row.window is None:
        return True
    return start is not None and (row.window == "run") == (start == timedelta(0))


def _timed(row: Variable, keys: Keys) -> bool:
    right_length = row.minutes is None or row.minutes == keys.window_minutes
    return right_length and _same_time(row, keys.statistic, keys.start)


def _at_level(row: Variable, text: str, *, any_level: bool) -> Variable | None:
    words, numbers = family(text)
    if not row.is_family:
        return row if text in row.levels or (any_level and words not in MANY_LEVELS) else None
    return row.at(words, numbers) if words in row.levels else None
