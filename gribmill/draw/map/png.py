"""A tile's field as a map in a PNG file, with matplotlib (the optional extra `plot`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats
from gribmill.draw.drawable import Barbs, Drawable
from gribmill.draw.errors import DrawError
from gribmill.draw.map.barbs import map_barbs
from gribmill.draw.map.extremes import Extreme, extremes
from gribmill.draw.map.graticule import extent_of
from gribmill.draw.map.layers import (
    INK,
    add_barbs,
    add_coastlines,
    add_contours,
    add_extremes,
    add_graticule,
)
from gribmill.draw.map.plane import Plane, plane_of
from gribmill.draw.scale import Scale, level_label, scale_for
from gribmill.draw.terminal.raster import nearest, resized

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER = (246, 246, 243)  # where the scale draws nothing: dry, clear
MISSING = (205, 207, 210)  # also hatched, to differ from every scale
LONG_SIDE_IN, SHORT_SIDE_IN = 9.6, 1.6
LETTER_IN, FOOT_LINE_IN = 0.066, 0.15  # a letter and a line at the foot
FACTS_IN = 4.2  # the line with both extremes
HEADING_IN = 0.118  # the width of a letter of the heading: long ones are set smaller
SMOOTH_BELOW_PX = 900  # fields with fewer columns or rows are interpolated to about this many


@dataclass(frozen=True, slots=True)
class MapLayout:
    """Inches: the map with its margins, and on which side the colour bar stands."""

    width: float
    height: float
    bar_below: bool
    credits: tuple[str, ...] = ()
    left: float = 0.62
    right: float = 0.3

    @property
    def narrow(self) -> bool:
        """Too narrow for two texts in one line."""
        return self.width < 6.2

    @property
    def raised(self) -> int:
        """By how many lines the extremes stand above the foot: over the credits where both do not fit in one."""
        beside = len(self.credits) < 2 and len("".join(self.credits)) * LETTER_IN < self.width - FACTS_IN
        return 0 if beside and not self.narrow else max(len(self.credits), 1)

    @property
    def bottom(self) -> float:
        return 0.62 + FOOT_LINE_IN * max(self.raised - 1, 0)

    @property
    def top(self) -> float:
        return 1.36 if self.narrow else 0.82

    @property
    def size(self) -> tuple[float, float]:
        beside, below = (0.0, 0.55) if self.bar_below else (0.85, 0.0)
        return self.left + self.width + self.right + beside, self.bottom + self.height + self.top + below

    def box(self, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
        """Inches from the map's lower left corner as shares of the figure."""
        total_width, total_height = self.size
        below = self.size[1] - self.height - self.top
        return (self.left + x) / total_width, (below + y) / total_height, width / total_width, height / total_height


def draw_png(field: Drawable, path: Path, barbs: Barbs | None = None, dpi: int = 130) -> None:
    """Write the map. `barbs` holds u and v at the field's points; matplotlib must be installed."""
    figure_class = matplotlib_figure()
    plane = plane_of(field)
    scale = scale_for(field.values, field.units, field.palette)
    shown = scale.convert(field.values)
    layout = layout_for(plane, field.attribution)
    figure = figure_class(figsize=layout.size, dpi=dpi, facecolor="white")
    ax = figure.add_axes(layout.box(0, 0, layout.width, layout.height))
    _add_field(ax, shown, scale)
    found = extremes(shown, plane)
    _add_layers(ax, shown, scale, plane, barbs)
    add_extremes(ax, found, scale, plane.shape)
    _add_bar(figure, layout, scale, shown)
    _add_words(figure, layout, field, scale, _facts(found, scale), barbs is not None)
    save(figure, path, field.heading)


def matplotlib_figure() -> type[Figure]:
    """Figure without pyplot: no global state, no window, drawn by Agg. A DrawError where it is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DrawError("drawing a PNG needs matplotlib: install it with `pip install gribmill[plot]`") from error
    matplotlib.rcParams["axes.unicode_minus"] = True
    return Figure


def save(figure: Figure, path: Path, title: str) -> None:
    """Write the PNG; no date in it, so that the same drawing gives the same bytes."""
    try:
        figure.savefig(path, format="png", metadata={"Software": "gribmill", "Title": title})
    except OSError as error:
        raise DrawError(f"cannot write {path}: {error.strerror or error}") from error


def layout_for(plane: Plane, attribution: str = "") -> MapLayout:
    """The map as large as the page allows, true to scale unless the tile is a mere strip."""
    ny, nx = plane.shape
    ratio = ny * plane.aspect / nx
    if ratio <= 1:
        width, height = LONG_SIDE_IN, max(LONG_SIDE_IN * ratio, SHORT_SIDE_IN)
    else:
        width, height = max(LONG_SIDE_IN / ratio, 3.2), LONG_SIDE_IN
    credit = " · ".join(part for part in (attribution, "Natural Earth", "gribmill") if part)
    return MapLayout(width, height, ratio < 0.62, tuple(wrap(credit, int(width / LETTER_IN))))


def _add_field(ax: Axes, shown: Floats, scale: Scale) -> None:
    ny, nx = shown.shape
    pixels = scale.rgb(_smooth(shown, scale), PAPER, MISSING)
    frame = (-0.5, nx - 0.5, -0.5, ny - 0.5)
    ax.imshow(pixels, origin="lower", extent=frame, aspect="auto", interpolation="antialiased")
    missing = np.isnan(shown)
    if missing.any():
        ax.contourf(
            *_edges(missing), levels=[0.5, 1.5], colors="none", hatches=["////"]
        ).set_edgecolor("#aeb2b6")  # fmt: skip
    ax.set(xlim=frame[:2], ylim=frame[2:], xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set(color=INK, linewidth=0.9)


def _smooth(shown: Floats, scale: Scale) -> Floats:
    """Coarse fields blended between their points before the steps are cut; flags and directions as they are."""
    ny, nx = shown.shape
    times = int(np.ceil(SMOOTH_BELOW_PX / max(ny, nx)))
    if times < 2:
        return shown
    as_is = scale.palette.categories or scale.palette.name == "direction"
    return (nearest if as_is else resized)(shown, ny * times, nx * times)


def _edges(missing: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """The mask with a rim of itself, so that hatching reaches the frame."""
    ny, nx = missing.shape
    rows, columns = min(ny, 400), min(nx, 400)
    y = (np.arange(rows) + 0.5) * ny / rows - 0.5
    x = (np.arange(columns) + 0.5) * nx / columns - 0.5
    padded = np.pad(resized(missing.astype(np.float64), rows, columns), 1, mode="edge")
    return np.concatenate([[-1], x, [nx]]), np.concatenate([[-1], y, [ny]]), np.round(padded)


def _add_layers(ax: Axes, shown: Floats, scale: Scale, plane: Plane, barbs: Barbs | None) -> None:
    add_graticule(ax, plane)
    add_coastlines(ax, plane, extent_of(plane))
    add_contours(ax, shown, scale)
    if barbs is not None:
        add_barbs(ax, map_barbs(barbs, plane))


def _add_bar(figure: Figure, layout: MapLayout, scale: Scale, shown: Floats) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    if len(scale.levels) < 2:
        return
    colours = ["#{:02x}{:02x}{:02x}".format(*(rgb or PAPER)) for rgb in scale.colours]
    below = scale.colours[0] is not None and (
        bool(scale.palette.levels) or bool(np.nanmin(shown, initial=np.inf) < scale.levels[0])
    )
    above = bool(scale.palette.levels) or bool(np.nanmax(shown, initial=-np.inf) > scale.levels[-1])
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get((below, above), "neither")
    colour_map = ListedColormap(colours[1:-1]).with_extremes(under=colours[0], over=colours[-1])
    mappable = ScalarMappable(BoundaryNorm(scale.levels, len(colours) - 2), colour_map)
    if layout.bar_below:
        length = layout.width * 0.8
        box, way = layout.box((layout.width - length) / 2, -0.52, length, 0.16), "horizontal"
    else:
        length = min(layout.height, 7.5)
        box, way = layout.box(layout.width + 0.22, (layout.height - length) / 2, 0.18, length), "vertical"
    bar = figure.colorbar(
        mappable, cax=figure.add_axes(box), orientation=way, extend=extend, extendfrac=0.03, spacing="uniform",
        ticks=_ticks(scale.levels), drawedges=True,
    )  # fmt: skip
    bar.dividers.set(color=INK, linewidth=0.3)
    bar.outline.set(color=INK, linewidth=0.7)
    bar.ax.tick_params(labelsize=8, length=2.5, color=INK, labelcolor=INK)
    bar.set_ticklabels([level_label(level) for level in _ticks(scale.levels)])
    if way == "horizontal":
        bar.ax.text(1.05, 0.5, scale.units, transform=bar.ax.transAxes, fontsize=9, color=INK, va="center")
    else:
        bar.ax.set_title(scale.units, fontsize=9, color=INK, pad=10)


def _ticks(levels: tuple[float, ...]) -> list[float]:
    """Every level where there is room, else every second or fourth, round ones first."""
    every = int(np.ceil(len(levels) / 18))
    if every == 1:
        return list(levels)
    width = (levels[1] - levels[0]) * every
    first = next((k for k in range(every) if abs(levels[k] / width - round(levels[k] / width)) < 1e-6), 0)
    return list(levels[first::every])


def _add_words(figure: Figure, layout: MapLayout, field: Drawable, scale: Scale, facts: str, barbs: bool) -> None:
    """Variable, source, region and valid time above the map; credits and extremes below it."""
    left, up, width, _ = layout.box(0, layout.height, layout.width, 0)
    high, narrow = layout.size[1], layout.narrow
    units = f" [{scale.units}]" if scale.units else ""
    heading = field.heading + units + (", wind barbs [kt]" if barbs else "")
    room = layout.width - (0.0 if narrow else 0.09 * len(field.region) + 0.2)
    largest = 13 * min(1.0, max(room, 1.5) / (HEADING_IN * len(heading)))
    right, side = (left, "left") if narrow else (left + width, "right")
    above = (0.98, 0.44, 0.7, 0.16) if narrow else (0.42, 0.42, 0.14, 0.14)
    grey, small = "#3a4148", 8.0 if narrow else 9.5
    figure.text(left, up + above[0] / high, heading, fontsize=largest, fontweight="bold", color=INK)
    figure.text(right, up + above[1] / high, field.region, fontsize=small + 1.5, color=grey, ha=side)
    figure.text(left, up + above[2] / high, field.source, fontsize=small, color=grey)
    figure.text(right, up + above[3] / high, field.valid_text, fontsize=small, color=grey, ha=side)
    credits = layout.credits
    figure.text(right, (0.1 + FOOT_LINE_IN * layout.raised) / high, facts, fontsize=7.5, color="#5a6269", ha=side)
    figure.text(left, 0.1 / high, "\n".join(credits), fontsize=7.5, color="#5a6269", linespacing=1.3)


def _facts(found: tuple[Extreme, Extreme] | None, scale: Scale) -> str:
    if found is None:
        return "all points missing"
    words = (f"{word} {scale.label(at.value)} at {at.place}" for word, at in zip(("min", "max"), found, strict=True))
    return "   ".join(words).replace(" -", " −")
