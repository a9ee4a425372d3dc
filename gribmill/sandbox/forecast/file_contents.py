"""The fields of a model's file at an hour: the lines of its inventory, each with its variable."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.time_range import (
    BUCKET,
    WGRIB2_STATISTICS,
    TimeRange,
    base_name,
    with_window,
    write_time_range,
)
from gribmill.grib.names.variable import Variable
from gribmill.grib.product.keys import NCEP
from gribmill.ingest.index.sample import inventory_lines, split_line, window_at
from gribmill.ingest.models.model import Model
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.publisher_style import style_of

# ECMWF's extremes cover the time since the last step: three hours, and six beyond this hour.
LAST_THREE_HOURLY = 144
SIX_HOURLY = {"mx2t3": "mx2t6", "mn2t3": "mn2t6", "10fg": "10fg6"}


@dataclass(frozen=True, slots=True)
class PlannedField:
    """One field. `element` and `level` are the index's words (ECMWF: `pl 850`, `sfc`); `extra` ends its line.

    `variable` gives its values; `name` is its own in the lexicon, None for other fields of the file.
    """

    element: str
    level: str
    window: TimeRange
    extra: str
    variable: Variable
    name: str | None
    parameter: tuple[int, ...] = ()


def contents(model: Model, hour: int, only: Collection[str] = ()) -> list[PlannedField]:
    """All fields of the model (or member) in a file; with `only`, just those with these names."""
    minutes = hour * 60 + model.offset_minutes
    read = _ecmwf if model.layouts[0].index == "ecmwf_index" else _noaa
    at_zero = style_of(model).at_zero
    items = [item for line in inventory_lines(model) for item in read(line, minutes, model.extras[0])]
    if minutes == 0:
        # A sum since the start of the run is then the same as one over the last hour.
        timed = {(item.element, item.level, item.window): item for item in items}
        items = [item for item in timed.values() if item.window.statistic in {"instant", *at_zero}]
    kept = [item for item in items if not only or not only_names(item).isdisjoint(only)]
    if not kept:
        raise SandboxError(f"{model.id} has nothing at hour {hour}" + (f" of {', '.join(only)}" if only else ""))
    return kept


def only_names(item: PlannedField) -> set[str]:
    """The names under which a field can be requested: its own, with its length, and the bucket in the first hours."""
    if item.name is None:
        return set()
    start, end = item.window.start, item.window.end
    found = {item.name, with_window(base_name(item.name), end - start)} if end > start else {item.name}
    return found | {f"{item.name}{BUCKET}"} if start == 0 and item.window.statistic == "accum" else found


def _noaa(line: str, minutes: int, extra: str) -> Iterator[PlannedField]:
    element, level, time, ending = split_line(line)
    if ending:
        return  # spreads, probabilities and percentiles are not generated
    at_start = minutes == 0 and time != "inst"
    window = TimeRange(0, 0, WGRIB2_STATISTICS[time.split()[0]]) if at_start else window_at(time, minutes)
    if window is None:
        return
    found = lexicon().match_noaa(element, level, write_time_range(window))
    rows = lexicon().by_noaa.get(element)
    if not rows:
        raise SandboxError(f"the lexicon has no element {element}, so {line!r} cannot be generated")
    variable = found.variable if found else rows[0][1]
    rank = variable.noaa.index(element)
    yield PlannedField(
        element, level, window, extra, variable, found.variable.name if found else None, _number(variable, rank)
    )


def _number(variable: Variable, rank: int) -> tuple[int, ...]:
    """The GRIB parameter of an element: a row lists elements and NCEP's GRIB sources in the same order."""
    sources = [source for source in variable.grib2 if source.centre in (None, NCEP)]
    return sources[min(rank, len(sources) - 1)].parameter


def _ecmwf(line: str, minutes: int, extra: str) -> Iterator[PlannedField]:
    param, levtype, *levelist = line.split()
    found = lexicon().match_ecmwf(param, levtype, levelist[0] if levelist else None)
    if found is None:
        raise SandboxError(f"the lexicon has no param {param}, so {line!r} cannot be generated")
    statistic = found.variable.statistic
    late = minutes > LAST_THREE_HOURLY * 60
    start = {"instant": minutes, "accum": 0}.get(statistic, max(0, minutes - (360 if late else 180)))
    element = SIX_HOURLY.get(param, param) if late else param
    level = " ".join((levtype, *levelist))
    yield PlannedField(element, level, TimeRange(start, minutes, statistic), extra, found.variable, found.variable.name)
