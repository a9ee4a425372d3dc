"""Named colour scales, read from `palettes.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours for one kind of quantity: interpolated stops, or fixed levels with a colour for each."""

    name: str
    units: str
    stops: tuple[tuple[float, Rgb], ...] = ()
    steps: tuple[float, ...] = ()
    levels: tuple[float, ...] = ()
    colours: tuple[Rgb | None, ...] = ()
    relative: bool = False
    categories: bool = False
    contour_step: float | None = None
    contour_at: tuple[float, ...] = ()
    us_units: str = ""
    us_levels: tuple[float, ...] = ()

    def blend(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The colour of each value (or fraction, for relative stops), interpolated between the stops."""
        places = [place for place, _ in self.stops]
        channels = [np.interp(values, places, [rgb[k] for _, rgb in self.stops]) for k in range(3)]
        return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


@cache
def palettes() -> dict[str, Palette]:
    """All palettes by name."""
    document = tomllib.loads((files(__package__) / "palettes.toml").read_text(encoding="utf-8"))
    return {name: _read(name, row) for name, row in document.items()}


def palette(name: str) -> Palette:
    """The palette with that name; `generic` if there is none, so that anything can be drawn."""
    known = palettes()
    return known.get(name, known["generic"])


def _read(name: str, row: dict[str, Any]) -> Palette:
    for key in ("steps", "levels", "contour_at", "us_levels"):
        row[key] = tuple(float(value) for value in row.get(key, ()))
    row["stops"] = tuple((float(place), rgb_of(colour)) for place, colour in row.get("stops", ()))
    row["colours"] = tuple(None if text == "none" else rgb_of(text) for text in row.get("colours", ()))
    return Palette(name=name, **row)


def rgb_of(text: str) -> Rgb:
    """`#rrggbb` as three numbers."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
