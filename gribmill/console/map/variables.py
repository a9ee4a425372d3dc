"""How the map shows a variable: its scale, and its units in both systems."""

from __future__ import annotations

from typing import TypedDict

from gribmill.draw.of_tile import palette_of, wind_palette
from gribmill.draw.palette import palette
from gribmill.tiles.read.units import Conversion, conversion, conversion_for, shown_unit

ToUnit = tuple[str, float, float]


class ShownVariable(TypedDict):
    """`to_palette`, `metric` and `us` convert a value to other units: value × factor + offset."""

    palette: str
    to_palette: tuple[float, float]
    metric: ToUnit
    us: ToUnit


def shown_variable(name: str, units: str) -> ShownVariable:
    """The scale and units of an array in a tile, or of a wind speed computed from its components (`ws10`)."""
    chosen = palette(wind_palette(name) if name.startswith("ws") else palette_of(name))
    to_palette = conversion(units, chosen.units) if chosen.units else Conversion()
    if to_palette is None:
        chosen, to_palette = palette("generic"), Conversion()
    metric = (chosen.units or units, to_palette.factor, to_palette.offset)
    us = conversion_for(name, units, "us")
    return ShownVariable(
        palette=chosen.name,
        to_palette=(to_palette.factor, to_palette.offset),
        metric=metric,
        us=(shown_unit(name, units, "us"), us.factor, us.offset),
    )
