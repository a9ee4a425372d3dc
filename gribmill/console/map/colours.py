"""The colour scales of the map: those of `gribmill.draw`, and versions for all kinds of colour vision."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, TypedDict

import numpy as np

from gribmill.draw.palette import Palette, Rgb, palettes, rgb_of

DIFFERENCE = "difference"


class ColourTable(TypedDict):
    """One scale as JSON: blended `stops`, or `levels` with one more colour than levels. null means transparent."""

    units: str
    relative: bool
    stops: list[tuple[float, str]]
    levels: list[float]
    us_units: str
    us_levels: list[float]
    colours: list[str | None]
    contour_step: float | None


@cache
def colour_tables() -> dict[str, dict[str, ColourTable]]:
    """Every scale by name: `clear` is safe for all kinds of colour vision, `usual` is as on forecasters' maps."""
    document = tomllib.loads((files(__package__) / "colours.toml").read_text(encoding="utf-8"))
    ramps = {name: [rgb_of(colour) for colour in colours] for name, colours in document.pop("ramps").items()}
    clear = {name: _table(palette, *_clear(palette, document[name], ramps)) for name, palette in palettes().items()}
    usual = {name: _table(palette, palette.stops, palette.colours) for name, palette in palettes().items()}
    sides = [(n / 8 * 2 - 1, colour) for n, colour in enumerate(ramps[document[DIFFERENCE]["ramp"]])]
    around_zero = _table(Palette(DIFFERENCE, "", relative=True), tuple(sides), ())
    return {"clear": {**clear, DIFFERENCE: around_zero}, "usual": {**usual, DIFFERENCE: around_zero}}


Stops = tuple[tuple[float, Rgb], ...]


def _clear(palette: Palette, row: dict[str, Any], ramps: dict[str, list[Rgb]]) -> tuple[Stops, tuple[Rgb | None, ...]]:
    if "stops" in row:
        return tuple((float(place), rgb_of(colour)) for place, colour in row["stops"]), ()
    ramp = ramps[row["ramp"]]
    if palette.levels:
        return (), _spread(ramp, palette)
    first, last = palette.stops[0][0], palette.stops[-1][0]
    places = np.linspace(first, last, len(ramp))
    return tuple((float(place), colour) for place, colour in zip(places, ramp, strict=True)), ()


def _spread(ramp: list[Rgb], palette: Palette) -> tuple[Rgb | None, ...]:
    """The ramp's colours spread over a palette's levels; transparent where the palette is."""
    coloured = [n for n, colour in enumerate(palette.colours) if colour is not None]
    shares = np.linspace(0, len(ramp) - 1, len(coloured))
    channels = [np.interp(shares, np.arange(len(ramp)), [rgb[k] for rgb in ramp]) for k in range(3)]
    found: list[Rgb | None] = [None] * len(palette.colours)
    for place, rgb in zip(coloured, np.rint(np.stack(channels, axis=-1)).astype(int).tolist(), strict=True):
        found[place] = (rgb[0], rgb[1], rgb[2])
    return tuple(found)


def _table(palette: Palette, stops: Stops, colours: tuple[Rgb | None, ...]) -> ColourTable:
    return ColourTable(
        units=palette.units,
        relative=palette.relative,
        stops=[(place, _hex(colour)) for place, colour in stops],
        levels=list(palette.levels),
        us_units=palette.us_units,
        us_levels=list(palette.us_levels),
        colours=[None if colour is None else _hex(colour) for colour in colours],
        contour_step=palette.contour_step,
    )


def _hex(colour: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
