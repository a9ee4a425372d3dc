"""Explains the colours of a picture in the terminal: a bar of levels, or a list of codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.style import Style
from rich.text import Text

from gribmill.draw.palette import Rgb
from gribmill.draw.scale import Scale, level_label

MARGIN = 7  # columns for latitudes on the left: "62.5°N "
BACKDROP: Rgb = (38, 38, 38)  # for values without a colour: dry, clear
SHADES = " .:-=+*%#@"


def shade(number: int, scale: Scale) -> str:
    """`/` if missing; otherwise a darker shade for a higher value."""
    if number < 0:
        return "/"
    most = len(scale.colours) - 1
    return SHADES[round(number * (len(SHADES) - 1) / most)]


def scale_bar(scale: Scale, columns: int, coloured: bool) -> list[Text]:
    """One row of colours (or shades), and under it the levels between them."""
    wide = max(1, min(6, columns // len(scale.colours)))
    bar = Text(" " * MARGIN)
    for number in range(len(scale.colours)):
        _swatch(bar, number, scale, wide, coloured)
    labels = [" "] * (MARGIN + wide * len(scale.colours) + 12)
    for number in _labelled(scale.levels, wide):
        text = level_label(scale.levels[number])
        start = MARGIN + wide * (number + 1) - len(text) // 2
        labels[start : start + len(text)] = text
    return [bar, Text("".join(labels).rstrip() + (f" {scale.units}" if scale.units else ""))]


def legend(scale: Scale, shown: NDArray[np.float64], columns: int, coloured: bool) -> list[Text]:
    """The codes that occur, each with its colour (or shade), its meaning and its share of the points."""
    lines = [Text(" " * MARGIN)]
    bins = scale.bins(shown[np.isfinite(shown)])
    for number, count in zip(*np.unique(bins, return_counts=True), strict=True):
        words = f" {scale.meanings[number]} {100 * count / max(bins.size, 1):.0f} %  "
        if len(lines[-1].plain) > MARGIN and len(lines[-1].plain) + 3 + len(words) > MARGIN + columns:
            lines.append(Text(" " * MARGIN))
        _swatch(lines[-1], int(number), scale, 3, coloured)
        lines[-1].append(words)
    return lines if bins.size else []


def _swatch(line: Text, number: int, scale: Scale, wide: int, coloured: bool) -> None:
    if coloured:
        line.append(" " * wide, Style(bgcolor=Color.from_rgb(*(scale.colours[number] or BACKDROP))))
    else:
        line.append(shade(number, scale) * wide)


def _labelled(levels: tuple[float, ...], wide: int) -> range:
    """The levels to label under a bar with `wide` characters each: as many as fit without touching."""
    longest = max(len(level_label(level)) for level in levels)
    every = -(-(longest + 1) // wide)
    width = (levels[1] - levels[0]) * every if len(levels) > 1 else 1.0
    rounds = (k for k in range(min(every, len(levels))) if abs(levels[k] / width - round(levels[k] / width)) < 1e-6)
    return range(next(rounds, 0), len(levels), every)
