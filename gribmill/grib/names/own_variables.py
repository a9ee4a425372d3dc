"""The user's own variables, defined in the settings by the texts of an index or by GRIB keys."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gribmill.errors import GribmillError, quoted
from gribmill.grib.names.array_name import is_formed_name
from gribmill.grib.names.lexicon import Lexicon, built_in_lexicon, read_source
from gribmill.grib.names.time_range import BUCKET, RUN, parse_time_range, split_window
from gribmill.grib.names.variable import DERIVED_WORDS, CentreRule, GribSource, Variable, Variant, variant_of_ending
from gribmill.grib.product.keys import NCEP, Level
from gribmill.grib.product.levels import NAMED, SUFFIXES, VALUED, family, level_text

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SOURCE = re.compile(r"(\d{1,3}\.){2}\d{1,3}(@\d{1,5})?(#\d{1,3}(,\d{1,3})*)?|\d{1,5}:\d{1,3}\.\d{1,3}")
_KIND = re.compile(r"kind (\d{1,3})(?: value (-?[0-9.]{1,12}))?")
LEVEL_TEXTS = frozenset(
    {*NAMED.values(), *SUFFIXES, *(text for row in VALUED.values() for text in row[:2]), "soil level {}", "reserved"}
)
# Readers convert the units of such variables as differences, without the offset between temperature scales.
SPREAD_WORDS = frozenset({"sd", "spread", "iqr"})
# Level texts by ECMWF's type of level. Other types match any single level.
ECMWF_LEVELS = {"pl": "{} mb", "sol": "soil level {}", "hl": "{} m above ground", "pv": "PV={} (Km^2/kg/s) surface"}


class OwnVariableError(GribmillError):
    """The definition of a user's own variable is not valid."""


def own_variables(tables: Mapping[str, Mapping[str, Any]]) -> tuple[Variable, ...]:
    """The variables that the tables define. Raises an OwnVariableError that names the table and the mistake."""
    found = []
    for name, table in tables.items():
        try:
            if (named := split_window(name)) and named[0] in tables:
                raise ValueError(f"{name} is what {named[0]} over that time is called; choose another name")
            found.append(_variable(name, table, built_in_lexicon()))
        except ValueError as error:
            raise OwnVariableError(f"[variables.{name[:60]}]: {error}") from None
    return tuple(found)


def _variable(name: str, table: Mapping[str, Any], known: Lexicon) -> Variable:
    _check_name(name, known)
    statistic, minutes = _time(table)
    named = split_window(name)
    if named and named[1] != minutes:
        raise ValueError(f"the name says {name.rpartition('_')[2]}, but its time range is another; give it hours")
    noaa, ecmwf = _strings(table, "noaa"), _strings(table, "ecmwf")
    levels, any_level, ecmwf_level = _levels(table)
    sources = [_source(text) for text in (*_strings(table, "grib2"), *_strings(table, "grib1"))]
    sources = sources or _known_sources(noaa, ecmwf, known)
    variant, ending = _variant(table), table.get("extra")
    low, high = table.get("range") or ((0, 100) if variant and table["units"] == "%" else (0, 1))
    variable = Variable(
        name=name,
        long_name=table["long_name"],
        units=table["units"],
        palette=table.get("palette") or "generic",
        range=(float(low), float(high)),
        levels=levels,
        standard_name=table.get("standard_name"),
        statistic=statistic,
        window=table.get("since"),
        minutes=minutes,
        noaa=noaa or _known_elements(sources, known),
        ecmwf=ecmwf,
        grib2=tuple(source for source in sources if len(source.parameter) == 3),
        grib1=tuple(source for source in sources if len(source.parameter) == 2),
        fill=tuple(CentreRule(str(value)) for value in table.get("fill") or ()),
        beside=True,
        variant=variant,
        ending=ending,
        any_level=any_level,
        ecmwf_level=ecmwf_level,
        own_range="range" in table,
    )
    if not low < high:
        raise ValueError(f"range = {[low, high]} does not increase")
    if variant is not None and variant.derived is not None and SPREAD_WORDS.isdisjoint(name.split("_")):
        words = ", ".join(sorted(SPREAD_WORDS))
        raise ValueError(f"the name of a spread has a part that says so ({words}), such as {name}_sd")
    if variant is None and (other := _same_as(variable, known)):
        raise ValueError(f"gribmill has it already, as {other}; use that name")
    return variable


def _check_name(name: str, known: Lexicon) -> None:
    if not NAME.fullmatch(name):
        raise ValueError("a name has lower-case letters, digits and _, begins with a letter, and has at most 40")
    if known.get(name) is not None or name in known.renamed or "{" in name:
        raise ValueError(f"{name} is a variable of gribmill itself; choose another name")
    if is_formed_name(name) or name.endswith((RUN, BUCKET)):
        raise ValueError(f"gribmill itself forms names such as {name}; choose another name")


def _time(table: Mapping[str, Any]) -> tuple[Any, int | None]:
    """The statistic and the length of the time range in minutes, from `time` or from `statistic` and `hours`."""
    text, statistic, hours = table.get("time"), table.get("statistic"), table.get("hours")
    if text is not None:
        if statistic is not None or hours is not None:
            raise ValueError("give either time, or statistic and hours")
        found = parse_time_range(text)
        if found is None:
            raise ValueError(f"time = {quoted(text)} is not a time as an index writes it, such as 6-12 hour acc fcst")
        return found.statistic, (found.end - found.start) or None
    if hours is not None and statistic in (None, "instant"):
        raise ValueError("hours is the length of a time range: give its statistic too, such as accum or max")
    if table.get("since") is not None and (statistic != "accum" or hours is not None):
        raise ValueError("since is for sums: statistic = accum, and no hours")
    return statistic or "instant", None if hours is None else round(hours * 60)


def _levels(table: Mapping[str, Any]) -> tuple[tuple[str, ...], bool, str | None]:
    """The texts of its levels, whether any level matches, and the level in ECMWF's indexes."""
    texts = tuple(_level(text) for text in _strings(table, "level"))
    levtype, levelist = table.get("levtype"), table.get("levelist")
    if levtype is None:
        if not texts:
            raise ValueError("it has no level, such as level = 'surface' (or levtype, for ECMWF's indexes)")
        return texts, False, None
    if levtype != "sfc" and levelist is None:
        raise ValueError(f"levtype = {quoted(levtype)} needs a levelist, such as '850'")
    place = f"{levtype} {levelist}" if levelist is not None else levtype
    if not texts and levtype in ECMWF_LEVELS:
        texts = (ECMWF_LEVELS[levtype].format(levelist),)
    return texts, not texts, place


def _level(text: str) -> str:
    if found := _KIND.fullmatch(text):
        return level_text(Level(int(found[1]), None if found[2] is None else float(found[2])), None)
    parts = [family(part)[0] for part in text.split(" - ")]
    if text not in LEVEL_TEXTS and not all(part in LEVEL_TEXTS for part in parts):
        near = difflib.get_close_matches(text[:60], [known for known in LEVEL_TEXTS if "{}" not in known], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ", such as 'surface', '2 m above ground' or '500 mb'"
        raise ValueError(f"level = {quoted(text)} is not a level as NOAA's indexes write it{hint}")
    return text


def _variant(table: Mapping[str, Any]) -> Variant | None:
    above, below = table.get("above"), table.get("below")
    percentile, words = table.get("percentile"), table.get("ensemble")
    if sum((above is not None or below is not None, percentile is not None, words is not None)) > 1:
        raise ValueError("a field is one of these: a probability (above, below), a percentile, or a spread (ensemble)")
    if above is not None and below is not None and above >= below:
        raise ValueError(f"above = {above:g} and below = {below:g}: no value is both")
    by_words = variant_of_ending(table["extra"]) if table.get("extra") else None
    derived = DERIVED_WORDS[words] if words is not None else None
    by_keys = Variant(above, below, percentile, derived)
    if by_keys == Variant():
        return by_words
    if by_words is not None and not by_words.equals(by_keys):
        raise ValueError(f"extra = {quoted(table['extra'])} is the {by_words}, but its keys say {by_keys}")
    return by_keys


def _source(text: str) -> GribSource:
    if not _SOURCE.fullmatch(text):
        raise ValueError(
            f"{quoted(text)} is not a GRIB parameter, such as '0.1.8' (grib2) or '7:2.61' (grib1: centre:table.number)"
        )
    return read_source(text)


def _known_sources(noaa: Sequence[str], ecmwf: Sequence[str], known: Lexicon) -> list[GribSource]:
    """The GRIB parameters of these elements and params, from the built-in variables."""
    found = []
    for element in noaa:
        for rank, row, _ in known.by_noaa.get(element, ()):
            sources = [source for source in row.grib2 if source.centre in (None, NCEP)]
            found += [sources[min(rank, len(sources) - 1)]] if sources else []
    for param in ecmwf:
        found += [source for row in known.by_ecmwf.get(param, ()) for source in (*row.grib2, *row.grib1)]
    unknown = [element for element in noaa if element not in known.by_noaa]
    unknown += [param for param in ecmwf if param not in known.by_ecmwf]
    if unknown or not found:
        what = f"the GRIB parameter of {unknown[0]} is not known" if unknown else "it has no source"
        raise ValueError(f"{what}; add grib2 = 'discipline.category.number' (`gribmill grib ls` shows it)")
    return [GribSource(parameter) for parameter in dict.fromkeys(source.parameter for source in found)]


def _known_elements(sources: Sequence[GribSource], known: Lexicon) -> tuple[str, ...]:
    """The elements of these parameters in NOAA's indexes, from the built-in variables."""
    found: dict[str, None] = {}
    for source in sources:
        for rank, row, own in known.by_grib.get(source.parameter, ()):
            if own.centre in (None, NCEP) and row.noaa:
                found |= {row.noaa[min(rank, len(row.noaa) - 1)]: None}
    return tuple(found)


def _same_as(variable: Variable, known: Lexicon) -> str | None:
    """The built-in variable with the same parameter, level and time."""
    for source in variable.grib2:
        for _, row, own in known.by_grib.get(source.parameter, ()):
            if own.centre not in (None, source.centre) or row.statistic != variable.statistic or own.processes:
                continue
            for text in variable.levels:
                words, numbers = family(text)
                if text in row.levels or (row.is_family and words in row.levels):
                    found = row.at(words, numbers) if row.is_family else row
                    if variable.minutes is None and variable.window == row.window and variable.ending is None:
                        return found.name
    return None


def _strings(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)
