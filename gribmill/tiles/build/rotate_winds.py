"""Rotates grid-relative winds to east and north, in the windows that regions need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gribmill.arrays import Values
from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import pairs, rotate
from gribmill.regions.window import Window
from gribmill.tiles.build.fill_values import FillRule
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
