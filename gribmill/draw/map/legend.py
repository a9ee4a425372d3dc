"""Explains the colours of a map: a colour bar for numbers, a legend for codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gribmill.arrays import Floats
from gribmill.draw.map.layers import INK
from gribmill.draw.map.layout import MapLayout
from gribmill.draw.palette import Rgb
from gribmill.draw.scale import Scale, level_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER: Rgb = (246, 246, 243)  # for values without a colour: dry, clear


def legend_entries(shown: Floats, scale: Scale) -> tuple[tuple[int, str], ...]:
    """The codes that occur as (number of the colour, text with the share of the points)."""
    if not scale.meanings:
        return ()
    bins = scale.bins(shown[np.isfinite(shown)])
    numbers, counts = np.unique(bins, return_counts=True)
    return tuple(
        (int(number), f"{scale.meanings[number]} ({_percent(count / bins.size)})")
        for number, count in zip(numbers, counts, strict=True)
    )


def add_legend(figure: Figure, layout: MapLayout, scale: Scale, entries: tuple[tuple[int, str], ...]) -> None:
    """A patch and a meaning for each code that occurs, below the map."""
    from matplotlib.patches import Patch

    if not entries:
        return
    patches = [Patch(facecolor=_hex(scale.colours[n]), edgecolor=INK, linewidth=0.6, label=text) for n, text in entries]
    x, y, _, _ = layout.box(layout.width / 2, -0.3, 0, 0)
    figure.legend(
        handles=patches, loc="upper center", bbox_to_anchor=(x, y), ncols=layout.legend_columns, fontsize=9,
        frameon=False, borderaxespad=0, handlelength=1.6, handleheight=1.0, columnspacing=1.4, labelcolor=INK,
    )  # fmt: skip


def add_bar(figure: Figure, layout: MapLayout, scale: Scale, shown: Floats) -> None:
    """The colour bar; an arrow at an end beyond which the field has values."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    if len(scale.levels) < 2:
        return
    colours = [_hex(rgb) for rgb in scale.colours]
    colour_map = ListedColormap(colours[1:-1]).with_extremes(under=colours[0], over=colours[-1])
    mappable = ScalarMappable(BoundaryNorm(scale.levels, len(colours) - 2), colour_map)
    if layout.bar_below:
        length = layout.width * 0.8
        box, way = layout.box((layout.width - length) / 2, -0.52, length, 0.16), "horizontal"
    else:
        length = min(layout.height, 7.5)
        box, way = layout.box(layout.width + 0.22, (layout.height - length) / 2, 0.18, length), "vertical"
    ticks = _ticks(scale.levels)
    bar = figure.colorbar(
        mappable, cax=figure.add_axes(box), orientation=way, extend=_ends(scale, shown), extendfrac=0.03,
        spacing="uniform", ticks=ticks, drawedges=True,
    )  # fmt: skip
    bar.dividers.set(color=INK, linewidth=0.3)
    bar.outline.set(color=INK, linewidth=0.7)
    bar.ax.tick_params(labelsize=8, length=2.5, color=INK, labelcolor=INK)
    bar.set_ticklabels([level_label(level) for level in ticks])
    if way == "horizontal":
        bar.ax.text(1.05, 0.5, scale.units, transform=bar.ax.transAxes, fontsize=9, color=INK, va="center")
    else:
        bar.ax.set_title(scale.units, fontsize=9, color=INK, pad=10)


def _ends(scale: Scale, shown: Floats) -> str:
    """The ends of the bar that are arrows."""
    fixed = bool(scale.palette.levels)
    below = scale.colours[0] is not None and (fixed or bool(np.nanmin(shown, initial=np.inf) < scale.levels[0]))
    above = fixed or bool(np.nanmax(shown, initial=-np.inf) > scale.levels[-1])
    return {(True, True): "both", (True, False): "min", (False, True): "max"}.get((below, above), "neither")


def _ticks(levels: tuple[float, ...]) -> list[float]:
    """All levels if there is room, else every second or fourth, round ones first."""
    every = int(np.ceil(len(levels) / 18))
    if every == 1:
        return list(levels)
    width = (levels[1] - levels[0]) * every
    first = next((k for k in range(every) if abs(levels[k] / width - round(levels[k] / width)) < 1e-6), 0)
    return list(levels[first::every])


def _hex(rgb: Rgb | None) -> str:
    return "#{:02x}{:02x}{:02x}".format(*(rgb or PAPER))


def _percent(share: float) -> str:
    return "< 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %"
