"""Samples of cached tiles: a column per variable instead of a row per hour, which takes a third of the time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.sample import Samples, needed_arrays
from gribmill.tiles.read.point.windowed import INSTANT
from gribmill.tiles.read.tile import Tile

# For one hour: the variables of the answer, the array of each, and its metadata.
NeededArrays = dict[str, tuple[str, VariableMeta]]


@dataclass(frozen=True, slots=True)
class SampleLayout:
    """The array of each variable at each hour of a run, shared by the samples at all places."""

    steps: list[int]
    arrays: tuple[str, ...]
    """The arrays that any hour needs."""
    known: dict[str, VariableMeta]
    places: dict[str, str | tuple[str | None, ...]]
    """The array of each variable, or its array at each hour if they differ."""
    windowed: tuple[NeededArrays, ...]
    """For each hour, the variables over a time range, whose metadata differs from hour to hour."""

    @classmethod
    def of(cls, tiles: Sequence[Tile], wanted: list[str] | None) -> SampleLayout:
        hours = [needed_arrays(tile, wanted) for tile in tiles]
        known = {name: quantity for hour in reversed(hours) for name, (_, quantity) in hour.items()}
        arrays = tuple(dict.fromkeys(array for hour in hours for array, _ in hour.values()))
        places = {name: _place(name, hours) for name in known}
        windowed = tuple({name: item for name, item in hour.items() if item[1].statistic != INSTANT} for hour in hours)
        return cls([tile.meta.minutes for tile in tiles], arrays, known, places, windowed)


def _place(name: str, hours: Sequence[NeededArrays]) -> str | tuple[str | None, ...]:
    each = [hour[name][0] if name in hour else None for hour in hours]
    several = {array for array in each if array is not None}
    # An hour without the variable has no such array, which reads as NaN.
    return several.pop() if len(several) == 1 else tuple(each)


@dataclass(slots=True)
class KeptSamples(Samples):
    """`by_array` has the values of each array, hour by hour. `rows` only have variables over a time range."""

    layout: SampleLayout | None = None
    by_array: Mapping[str, list[float]] = field(default_factory=dict)

    def known(self) -> dict[str, VariableMeta]:
        assert self.layout is not None
        return self.layout.known

    def values(self, name: str) -> list[float]:
        assert self.layout is not None
        place = self.layout.places.get(name)
        if place is None:
            return [math.nan] * len(self.steps)
        if isinstance(place, str):
            return self.by_array[place]
        return [math.nan if array is None else self.by_array[array][hour] for hour, array in enumerate(place)]
