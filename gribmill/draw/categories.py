"""Code fields: a meaning for each code, and a colour chosen by the words of the meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gribmill.draw.palette import Rgb, rgb_of

MOST_CODES = 40  # a field with more distinct values is not a code field
YES_NO = {0: "no", 1: "yes"}
# The first words found in a meaning determine its colour; None is not coloured.
COLOURS: tuple[tuple[str, str | None], ...] = (
    ("no precipitation", None), ("freezing drizzle", "#f7a6c4"), ("freezing rain", "#d7263d"), ("freezing", "#d7263d"),
    ("ice pellets", "#8a4fbf"), ("sleet", "#8a4fbf"), ("wet snow", "#57c4d8"), ("mix", "#e58cc8"),
    ("snow", "#2f6fd0"), ("graupel", "#5b4b9a"), ("hail", "#3b1f5e"), ("thunder", "#f2a71b"), ("drizzle", "#a5d67a"),
    ("rain", "#3f9d5c"), ("yes", "#2f7fc4"), ("land", "#c9b98f"), ("sea", None), ("water", None), ("missing", None),
)  # fmt: skip
NOTHING = {"no", "none", "no data", "nothing", "reserved"}
OTHERS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#eeca3b", "#9d755d", "#bab0ac", "#ff9da6")


@dataclass(frozen=True, slots=True)
class Category:
    """One code: its meaning and its colour (None: nothing is drawn)."""

    code: int
    meaning: str
    colour: Rgb | None


def categories_of(values: NDArray[np.floating], flags: Mapping[int, str]) -> tuple[Category, ...]:
    """The categories of a code field in ascending order: codes with a meaning, and other codes that occur.

    Empty if the values are not codes: means over a time range, or a wrong table.
    """
    finite = values[np.isfinite(values)]
    present = np.unique(finite)
    if len(present) > MOST_CODES or (present != np.rint(present)).any() or (np.abs(present) > 1e6).any():
        return ()
    codes = {int(code) for code in present}
    known = flags or (YES_NO if codes <= YES_NO.keys() else {})
    meanings = {**{code: f"code {code}" if code else "none" for code in codes}, **known}
    ordered = sorted(meanings)
    if len(ordered) == 1:
        ordered.append(ordered[0] + 1)  # at least two, so that there is a level between them
    return tuple(
        Category(code, meanings.get(code, ""), colour_of(meanings.get(code, "no"), number))
        for number, code in enumerate(ordered)
    )


def colour_of(meaning: str, number: int) -> Rgb | None:
    """The colour of a meaning; codes without a known word get colours in turn."""
    words = meaning.lower().replace("_", " ").strip()
    if words in NOTHING:
        return None
    for part, colour in COLOURS:
        if part in words:
            return rgb_of(colour) if colour else None
    return rgb_of(OTHERS[number % len(OTHERS)])
