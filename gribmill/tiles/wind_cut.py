"""Cutting winds: components along the grid are turned to east and north only where a region needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gribmill.tiles.cutter import Cutter
from gribmill.tiles.grib.field import Field
from gribmill.tiles.grib.winds import pairs, turn_of, turned

Values = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Whole:
    """A field's own values, to be cut as they are."""

    values: Values

    def cut(self, knife: Cutter, *, angle: bool) -> dict[str, Values]:
        """The region's part."""
        return knife.cut(self.values, angle=angle)


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
        self._values: tuple[Values, Values] | None = None
        self._cuts: dict[int, tuple[dict[str, Values], dict[str, Values]]] = {}

    def cut(self, knife: Cutter) -> tuple[dict[str, Values], dict[str, Values]]:
        """Both halves for one region. The second time they are handed over and forgotten."""
        if id(knife) in self._cuts:
            return self._cuts.pop(id(knife))
        self._cuts[id(knife)] = self._cut(knife)
        return self._cuts[id(knife)]

    def _cut(self, knife: Cutter) -> tuple[dict[str, Values], dict[str, Values]]:
        if self._values is None:
            self._values = (self.fields[0].values(), self.fields[1].values())
        u, v = self._values
        grid = self.fields[0].grid
        if knife.regridder is not None:
            east, north = turned(u, v, *turn_of(grid))
            return knife.cut(east), knife.cut(north)
        east, north = turned(knife.cut(u)[""], knife.cut(v)[""], *knife.turn(grid))
        return {"": east}, {"": north}


class Winds:
    """The winds of a file: which component belongs to which."""

    def __init__(self, items: Sequence[Field]) -> None:
        self._components: dict[tuple[int, int], Component] = {}
        for u, v in pairs([item for item in items if item.layout is not None]):
            both = Pair(u, v)
            self._components[u.number, u.sub] = Component(0, both)
            self._components[v.number, v.sub] = Component(1, both)

    def component(self, item: Field) -> Component | None:
        """The field as half of a wind; None where its other half is not in the file."""
        return self._components.pop((item.number, item.sub), None)
