"""Cutting winds: components along the grid are turned to east and north only where a region needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import pairs, turned
from gribmill.regions.window import Window
from gribmill.tiles.build.region_cut import Cutter

Values = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Parts:
    """What some regions look at of one field."""

    windows: dict[Window, Values]

    @classmethod
    def of(cls, item: Field, knives: Sequence[Cutter]) -> Parts:
        """Decoded once for all of these regions."""
        windows = list(dict.fromkeys(knife.window for knife in knives))
        return cls(dict(zip(windows, item.cut(windows), strict=True)))

    def cut(self, knife: Cutter, *, angle: bool = False) -> dict[str, Values]:
        """The region's part."""
        return knife.cut(self.windows[knife.window], angle=angle)


@dataclass(frozen=True, slots=True)
class Component:
    """The eastward (0) or northward (1) half of a wind that is given along the grid's axes."""

    number: int
    pair: Pair

    def cut(self, knife: Cutter, *, angle: bool) -> dict[str, Values]:
        """The region's part, turned to the earth's axes."""
        return self.pair.cut(knife)[self.number]


class Pair:
    """u and v of one wind: decoded once, turned once per region, let go when both halves are cut."""

    def __init__(self, u: Field, v: Field) -> None:
        self.fields = (u, v)
        self._regions: Sequence[Cutter] = ()
        self._parts: tuple[Parts, Parts] | None = None
        self._cuts: dict[int, tuple[dict[str, Values], dict[str, Values]]] = {}

    def expect(self, knives: Sequence[Cutter]) -> None:
        """These regions will ask: when the first does, both halves are decoded for all of them."""
        if self._parts is None:
            self._regions = knives

    def cut(self, knife: Cutter) -> tuple[dict[str, Values], dict[str, Values]]:
        """Both halves for one region. The second time they are handed over and forgotten."""
        if id(knife) in self._cuts:
            return self._cuts.pop(id(knife))
        self._cuts[id(knife)] = self._cut(knife)
        return self._cuts[id(knife)]

    def _cut(self, knife: Cutter) -> tuple[dict[str, Values], dict[str, Values]]:
        if self._parts is None:
            u, v = self.fields
            self._parts = (Parts.of(u, self._regions), Parts.of(v, self._regions))
        return self._turned(knife, *self._parts)

    def _turned(self, knife: Cutter, u: Parts, v: Parts) -> tuple[dict[str, Values], dict[str, Values]]:
        both = u.windows[knife.window], v.windows[knife.window]
        east, north = turned(*both, *knife.turn(self.fields[0].grid))
        return knife.cut(east), knife.cut(north)


class Winds:
    """The winds of a file: which component belongs to which."""

    def __init__(self, items: Sequence[Field]) -> None:
        self._components: dict[tuple[int, int], Component] = {}
        for u, v in pairs([item for item in items if item.layout is not None]):
            both = Pair(u, v)
            self._components[u.number, u.sub] = Component(0, both)
            self._components[v.number, v.sub] = Component(1, both)

    def component(self, item: Field, knives: Sequence[Cutter]) -> Component | None:
        """The field as half of a wind, to be cut for these regions; None where its other half is not in the file."""
        found = self._components.pop((item.number, item.sub), None)
        if found is not None:
            found.pair.expect(knives)
        return found
