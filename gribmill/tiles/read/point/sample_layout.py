"""Which arrays the columns of a run are read from, hour by hour: worked out once for all places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gribmill.arrays import Floats, Indices, Values
from gribmill.grib.names.time_range import split_window
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.sample import SampleColumns, needed_arrays, usual_names, wind
from gribmill.tiles.read.point.series import Column
from gribmill.tiles.read.point.windowed import INSTANT, MEAN, SampleRow
from gribmill.tiles.read.tile import Tile

# For one hour: the variables of the answer, the array of each, and its metadata.
NeededArrays = dict[str, tuple[str, VariableMeta]]
# The array of a variable, or its array at each hour if they differ.
HourlyArrays = str | tuple[str | None, ...]


class ArrayRows(NamedTuple):
    """An array, and the rows of a column that have its values; None for all."""

    array: str
    rows: Indices | None


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """A column whose time ranges are the same at every place where none of its values is missing."""

    like: Column
    """The column without values."""
    parts: tuple[ArrayRows, ...]
    across: tuple[ArrayRows, ...] = ()
    """The northward component, if the column is derived from the components of the wind."""
    whole: bool = False
    """Whether a missing value may change the time ranges of the others."""

    def values(self, arrays: Mapping[str, Values], shape: tuple[int, int]) -> Floats | None:
        """Places × hours, from arrays of this shape; None if a missing value changes the time ranges of others."""
        if self.whole and any(np.isnan(_rows(arrays[array], rows)).any() for array, rows in self.parts):
            return None
        found = _gathered(self.parts, arrays, shape)
        return wind(self.like.name, found, _gathered(self.across, arrays, shape)) if self.across else found


@dataclass(frozen=True, slots=True)
class SampleLayout:
    """The array of each variable at each hour of a run, shared by the samples at all places."""

    steps: list[int]
    arrays: tuple[str, ...]
    """The arrays that any hour needs."""
    known: dict[str, VariableMeta]
    places: dict[str, HourlyArrays]
    """The array of each variable."""
    windowed: tuple[NeededArrays, ...]
    """For each hour, the variables over a time range, whose metadata differs from hour to hour."""
    names: tuple[str, ...]
    """The columns."""
    columns: dict[str, ColumnLayout]
    """Those that can be read for many places at once."""

    @classmethod
    def of(cls, tiles: Sequence[Tile], wanted: list[str] | None) -> SampleLayout:
        hours = [needed_arrays(tile, wanted) for tile in tiles]
        steps = [tile.meta.minutes for tile in tiles]
        known = {name: quantity for hour in reversed(hours) for name, (_, quantity) in hour.items()}
        arrays = tuple(dict.fromkeys(array for hour in hours for array, _ in hour.values()))
        places = {name: _place(name, hours) for name in known}
        windowed = tuple({name: item for name, item in hour.items() if item[1].statistic != INSTANT} for hour in hours)
        names = tuple(usual_names(known) if wanted is None else dict.fromkeys(wanted))
        return cls(steps, arrays, known, places, windowed, names, _columns(steps, hours, known, places, names))

    def hours_of(self, name: str, by_array: Mapping[str, Sequence[float]]) -> list[float]:
        """A variable hour by hour at one place; NaN if missing."""
        place = self.places.get(name)
        if place is None:
            return [math.nan] * len(self.steps)
        if isinstance(place, str):
            return [*by_array[place]]
        return [math.nan if array is None else by_array[array][hour] for hour, array in enumerate(place)]


def _rows(values: Values, rows: Indices | None) -> Values:
    return values if rows is None else values[:, rows]


def _place(name: str, hours: Sequence[NeededArrays]) -> HourlyArrays:
    each = [hour[name][0] if name in hour else None for hour in hours]
    several = {array for array in each if array is not None}
    # An hour without the variable has no such array, which reads as NaN.
    return several.pop() if len(several) == 1 else tuple(each)


def _columns(
    steps: list[int],
    hours: Sequence[NeededArrays],
    known: dict[str, VariableMeta],
    places: Mapping[str, HourlyArrays],
    names: Sequence[str],
) -> dict[str, ColumnLayout]:
    """The columns, computed from a mark for each value, by which its array is recognised in them."""
    arrays: dict[float, str] = {}
    rows: list[SampleRow] = []
    most = 1 + max((len(hour) for hour in hours), default=0)
    for number, hour in enumerate(hours):
        # Rising sums, so that a difference of sums is used here wherever it may be.
        marks = {name: float(most * (number + 1) + order) for order, name in enumerate(hour)}
        arrays |= {marks[name]: array for name, (array, _) in hour.items()}
        rows.append({name: (marks[name], quantity) for name, (_, quantity) in hour.items()})
    columns = SampleColumns(
        steps, rows, known, lambda name: [row[name][0] if name in row else math.nan for row in rows]
    )
    found: dict[str, ColumnLayout] = {}
    for name in names:
        column = columns.column(name)
        if column is None:
            continue
        like = replace(column, values=())
        if column.windows is not None:
            each = [arrays.get(value) if value // most == row + 1 else None for row, value in enumerate(column.values)]
            known_values = sum(not math.isnan(value) for value in column.values)
            if column.statistic != MEAN and split_window(name) is None and known_values == len(each) - each.count(None):
                found[name] = ColumnLayout(like, _parts(tuple(each)), whole=True)
        elif components := columns.components(name):
            east, north = (_parts(places[one]) for one in components)
            found[name] = ColumnLayout(like, east, north)
        else:
            found[name] = ColumnLayout(like, _parts(places[name]))
    return found


def _parts(place: HourlyArrays) -> tuple[ArrayRows, ...]:
    if isinstance(place, str):
        return (ArrayRows(place, None),)
    several = dict.fromkeys(array for array in place if array is not None)
    if len(several) == 1 and None not in place:
        return (ArrayRows(next(iter(several)), None),)
    return tuple(
        ArrayRows(array, np.array([row for row, other in enumerate(place) if other == array], np.intp))
        for array in several
    )


def _gathered(parts: Sequence[ArrayRows], arrays: Mapping[str, Values], shape: tuple[int, int]) -> Floats:
    if len(parts) == 1 and parts[0].rows is None:
        return arrays[parts[0].array].astype(np.float64)
    found = np.full(shape, np.nan)
    for array, rows in parts:
        found[:, rows] = arrays[array][:, rows]
    return found
