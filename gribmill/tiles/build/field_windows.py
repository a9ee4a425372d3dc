"""The values of fields in the windows that regions need.

Numbers that mean "no value" are replaced with NaN before anything is computed from them, and grid-relative winds are
rotated to east and north.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gribmill.arrays import Marks, Values
from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import pairs, rotate
from gribmill.regions.window import Window
from gribmill.tiles.build.region_cut import RegionCut, ValueKind

# The eastward and the northward component, each as values by the suffix of their name.
BothComponents = tuple[dict[str, Values], dict[str, Values]]


@dataclass(frozen=True, slots=True)
class FieldWindows:
    """The decoded windows of one field."""

    windows: dict[Window, Values]
    # The number of points with a fill value in each window.
    filled: dict[Window, int] = field(default_factory=dict)

    @classmethod
    def of(cls, item: Field, cuts: Sequence[RegionCut], fill: FillRule | None = None) -> FieldWindows:
        """The windows of these regions, decoded in one pass, with NaN in place of fill values."""
        windows = list(dict.fromkeys(cut.window for cut in cuts))
        parts = dict(zip(windows, item.cut(windows), strict=True))
        filled = {}
        if fill:
            for window, part in parts.items():
                parts[window], filled[window] = fill.apply(part, item.packing.step)
        return cls(parts, filled)

    def cut(self, region: RegionCut, kind: ValueKind = "number") -> dict[str, Values]:
        """The region's values."""
        return region.cut(self.windows[region.window], kind)


@dataclass(frozen=True, slots=True)
class FillRule:
    """The numbers that mean "no value": the fill values, and all numbers below the smallest valid one.

    The latter result from interpolation between values and fill values by the publisher.
    """

    fill_values: tuple[float, ...] = ()
    valid_min: float | None = None

    def __bool__(self) -> bool:
        return bool(self.fill_values) or self.valid_min is not None

    def apply(self, values: Values, step: float | None) -> tuple[Values, int]:
        """The values with NaN in place of such numbers (the same array if there are none), and how many there were.

        Packing rounds values, so numbers are compared with a tolerance of half a packing step.
        """
        marks = self._marks(values, (step or 0.0) / 2)
        count = int(np.count_nonzero(marks))
        return (np.where(marks, np.float32(np.nan), values) if count else values), count

    def _marks(self, values: Values, tolerance: float) -> Marks:
        marks = np.zeros(values.shape, np.bool_)
        for fill in self.fill_values:
            marks |= np.abs(values - np.float32(fill)) <= max(tolerance, abs(fill) * float(np.finfo(np.float32).eps))
        if self.valid_min is not None:
            marks |= values < self.valid_min - tolerance
        return marks


@dataclass(frozen=True, slots=True)
class WindComponent:
    """The eastward (0) or northward (1) component of a grid-relative wind."""

    number: int
    pair: WindPair

    def cut(self, region: RegionCut, kind: ValueKind = "number") -> dict[str, Values]:
        """The region's values, relative to the earth."""
        return self.pair.cut(region)[self.number]


class WindPair:
    """u and v of one wind: decoded once, rotated once per region, released when both have been cut."""

    def __init__(self, u: Field, v: Field) -> None:
        self.fields = (u, v)
        self._regions: Sequence[RegionCut] = ()
        self._parts: tuple[FieldWindows, FieldWindows] | None = None
        self._cuts: dict[int, BothComponents] = {}

    def expect(self, cuts: Sequence[RegionCut]) -> None:
        """Set the regions for which both components are decoded at the first cut."""
        if self._parts is None:
            self._regions = cuts

    def cut(self, region: RegionCut) -> BothComponents:
        """Both components for one region. The second call returns the result of the first and releases it."""
        if id(region) in self._cuts:
            return self._cuts.pop(id(region))
        self._cuts[id(region)] = self._cut(region)
        return self._cuts[id(region)]

    def _cut(self, region: RegionCut) -> BothComponents:
        if self._parts is None:
            u, v = self.fields
            self._parts = (FieldWindows.of(u, self._regions), FieldWindows.of(v, self._regions))
        return self._rotated(region, *self._parts)

    def _rotated(self, region: RegionCut, u: FieldWindows, v: FieldWindows) -> BothComponents:
        both = u.windows[region.window], v.windows[region.window]
        east, north = rotate(*both, *region.rotation(self.fields[0].grid))
        return region.cut(east), region.cut(north)


class WindPairs:
    """The winds of a file, as pairs of components."""

    def __init__(self, items: Sequence[Field]) -> None:
        self._components: dict[tuple[int, int], WindComponent] = {}
        for u, v in pairs([item for item in items if item.layout is not None]):
            both = WindPair(u, v)
            self._components[u.number, u.sub] = WindComponent(0, both)
            self._components[v.number, v.sub] = WindComponent(1, both)

    def component(self, item: Field, cuts: Sequence[RegionCut]) -> WindComponent | None:
        """The field as a component, to be cut for these regions; None if the file lacks the other component."""
        found = self._components.pop((item.number, item.sub), None)
        if found is not None:
            found.pair.expect(cuts)
        return found
