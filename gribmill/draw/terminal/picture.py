"""Draws a tile's field in the terminal: coloured half blocks, or ASCII shades without colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from gribmill.draw.drawable import Drawable
from gribmill.draw.map.coastlines import is_land
from gribmill.draw.map.extremes import Extreme, extremes, extremes_text
from gribmill.draw.map.graticule import latitude_text, longitude_text
from gribmill.draw.map.plane import Plane, plane_of
from gribmill.draw.palette import Rgb
from gribmill.draw.raster import nearest, resized
from gribmill.draw.scale import Scale, level_label, scale_of

MARGIN = 7  # columns for latitudes on the left: "62.5°N "
BACKDROP: Rgb = (38, 38, 38)  # for values without a colour: dry, clear
SHADES = " .:-=+*%#@"
GONE: Rgb = (0, 0, 0)  # never shown: missing pixels are left to the terminal's own background
PLAIN_LETTERS = str.maketrans("−·²", "-.2", "°⁻⁵¹")
MOST_WIDE = 160  # wider pictures are taller, not clearer
MOST_TALL = 44  # rows of text: the picture with its scale fits on a screen


@dataclass(frozen=True, slots=True)
class Picture:
    """Values on the pixels of the screen, rows south to north, and the pixels of the coast."""

    shown: NDArray[np.float64]
    coast: NDArray[np.bool_]


def draw_terminal(field: Drawable, console: Console, width: int | None = None, coast: bool = True) -> None:
    """Print the field with its scale, its extremes and its edges' coordinates, within the terminal's width."""
    plane = plane_of(field)
    scale = scale_of(field)
    shown = scale.convert(field.values)
    columns = min(width or console.width, MOST_WIDE) - MARGIN
    coloured = has_colours(console)
    columns, rows = _size(plane, max(columns, 10), tall=2 if coloured else 1)
    picture = _picture(shown, scale, plane, rows, columns, coast and coloured)
    lines = _blocks(picture, scale) if coloured else _shades(picture, scale)
    # Removed before the layout: removing characters later would shift what follows them.
    letters = _same if coloured or _knows_letters(console) else _plain
    framed = _framed(lines, plane, rows // len(lines), letters)
    out = [*_title(field, scale), *framed, _longitudes(plane, columns, letters)]
    out += _legend(scale, shown, columns, coloured) if scale.meanings else _scale_bar(scale, columns, coloured)
    out += _facts(extremes(shown, plane), scale, shown, coloured)
    for line in out:
        _print(console, line, coloured)


def has_colours(console: Console) -> bool:
    """Whether the terminal can print half blocks in at least 256 colours."""
    plenty = console.color_system in ("truecolor", "256", "eight_bit")
    return plenty and not console.no_color and _knows_letters(console)


def _knows_letters(console: Console) -> bool:
    """Whether more than ASCII can be printed."""
    return console.encoding.lower().startswith("utf")


def _same(text: str) -> str:
    return text


def _plain(text: str) -> str:
    return text.translate(PLAIN_LETTERS).encode("ascii", "replace").decode()


def _size(plane: Plane, columns: int, tall: int) -> tuple[int, int]:
    """Pixels across and up. A character is twice as high as wide; `tall` pixels share one."""
    ny, nx = plane.shape
    ratio = ny * plane.aspect / nx
    rows = columns * ratio * tall / 2
    if rows > MOST_TALL * tall:
        columns, rows = max(round(columns * MOST_TALL * tall / rows), 4), MOST_TALL * tall
    lines = max(round(rows / tall), 1)
    return columns, lines * tall


def _picture(shown: NDArray[np.float64], scale: Scale, plane: Plane, rows: int, columns: int, coast: bool) -> Picture:
    pixels = (resized if scale.blended else nearest)(shown, rows, columns)
    mask = _shore(plane, rows, columns) if coast else np.zeros((rows, columns), dtype=bool)
    return Picture(pixels, mask)


def _shore(plane: Plane, rows: int, columns: int) -> NDArray[np.bool_]:
    """Land pixels beside the sea or a lake: a line one pixel wide."""
    ny, nx = plane.shape
    j, i = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    land = is_land(*plane.locate((j + 0.5) * ny / rows - 0.5, (i + 0.5) * nx / columns - 0.5))
    around = np.pad(land, 1, mode="edge")
    inland = around[2:, 1:-1] & around[:-2, 1:-1] & around[1:-1, 2:] & around[1:-1, :-2]
    return np.asarray(land & ~inland)


def _blocks(picture: Picture, scale: Scale) -> list[Text]:
    """Two pixels to a character, north up; a missing pixel leaves the terminal's background bare."""
    colours = scale.rgb(picture.shown, BACKDROP, GONE)
    colours = np.where(picture.coast[..., None], _inked(colours), colours)
    missing = np.isnan(picture.shown)
    lines = []
    for row in range(len(colours) - 1, 0, -2):
        line = Text()
        for top, bottom, no_top, no_bottom in zip(
            colours[row].tolist(), colours[row - 1].tolist(), missing[row], missing[row - 1], strict=True
        ):
            if no_top and no_bottom:
                line.append("·", "dim")
            elif no_bottom:
                line.append("▀", Style(color=Color.from_rgb(*top)))
            elif no_top:
                line.append("▄", Style(color=Color.from_rgb(*bottom)))
            else:
                line.append("▀", Style(color=Color.from_rgb(*top), bgcolor=Color.from_rgb(*bottom)))
        lines.append(line)
    return lines


def _inked(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Darkens light colours and lightens dark ones, so that both the coast and the value are visible."""
    light = (colours @ np.array([0.299, 0.587, 0.114]) > 95)[..., None]
    return np.rint(np.where(light, colours * 0.4, colours * 0.6 + 255 * 0.4)).astype(np.uint8)


def _shades(picture: Picture, scale: Scale) -> list[Text]:
    bins = np.where(np.isnan(picture.shown), -1, scale.bins(picture.shown))
    return [Text("".join(_shade(k, scale) for k in row)) for row in bins[::-1].tolist()]


def _framed(lines: list[Text], plane: Plane, tall: int, letters: Callable[[str], str]) -> list[Text]:
    """Latitudes of the left edge beside every fourth line."""
    ny, pixels = plane.shape[0], len(lines) * tall
    framed = []
    for number, line in enumerate(lines):
        label = ""
        if number % 4 == 0:
            row = (pixels - (number + 0.5) * tall) * ny / pixels - 0.5
            lat, _ = plane.locate(np.array([row]), np.array([0.0]))
            label = letters(latitude_text(round(float(lat[0]), 1)))
        framed.append(Text(f"{label:>{MARGIN - 1}} ", "dim").append_text(_undimmed(line)))
    return framed


def _undimmed(line: Text) -> Text:
    # The label's base style would dim the picture behind it, so each part keeps its own style.
    return Text("", "not dim").append_text(line)


def _longitudes(plane: Plane, columns: int, letters: Callable[[str], str]) -> Text:
    """Longitudes of the bottom edge, each below its position."""
    cells = [" "] * (MARGIN + columns)
    for at in range(0, columns, 16):
        _, lon = plane.locate(np.array([0.0]), np.array([(at + 0.5) * plane.shape[1] / columns - 0.5]))
        text = "^" + letters(longitude_text(round(float(lon[0]), 1)))
        if at + len(text) <= columns:
            cells[MARGIN + at : MARGIN + at + len(text)] = text
    return Text("".join(cells).rstrip(), "dim")


def _title(field: Drawable, scale: Scale) -> list[Text]:
    units = f" [{scale.units}]" if scale.units else ""
    rest = "  ".join(part for part in (field.source, field.valid_text, field.region) if part)
    return [Text(field.heading + units, "bold"), *([Text(rest)] if rest else [])]


def _facts(
    found: tuple[Extreme, Extreme] | None, scale: Scale, shown: NDArray[np.float64], coloured: bool
) -> list[Text]:
    lines = [text for text in (extremes_text(found, scale) if found else "",) if text]
    missing = int(np.isnan(shown).sum())
    if missing:
        lines.append(f"{'·' if coloured else '/'} {missing:,} of {shown.size:,} points missing")
    return [Text(" " * MARGIN + line) for line in lines]


def _shade(number: int, scale: Scale) -> str:
    """`/` if missing; otherwise a darker shade for a higher value."""
    if number < 0:
        return "/"
    most = len(scale.colours) - 1
    return SHADES[round(number * (len(SHADES) - 1) / most)]


def _scale_bar(scale: Scale, columns: int, coloured: bool) -> list[Text]:
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


def _legend(scale: Scale, shown: NDArray[np.float64], columns: int, coloured: bool) -> list[Text]:
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
        line.append(_shade(number, scale) * wide)


def _labelled(levels: tuple[float, ...], wide: int) -> range:
    """The levels to label under a bar with `wide` characters each: as many as fit without touching."""
    longest = max(len(level_label(level)) for level in levels)
    every = -(-(longest + 1) // wide)
    width = (levels[1] - levels[0]) * every if len(levels) > 1 else 1.0
    rounds = (k for k in range(min(every, len(levels))) if abs(levels[k] / width - round(levels[k] / width)) < 1e-6)
    return range(next(rounds, 0), len(levels), every)


def _print(console: Console, line: Text, coloured: bool) -> None:
    """Prints one line without wrapping; without styles if there are no colours, and in ASCII if nothing else works."""
    if not coloured:
        plain = line.plain.rstrip()
        line = Text(plain if _knows_letters(console) else _plain(plain))
    console.print(line, no_wrap=True, overflow="crop", crop=True, soft_wrap=False)
