"""The layers over the colours of a map: coasts, graticule, contours, extremes, barbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gribmill.arrays import Floats
from gribmill.draw.map.barbs import MapBarbs
from gribmill.draw.map.coastlines import coastlines
from gribmill.draw.map.extremes import Extreme
from gribmill.draw.map.graticule import Edge, Extent, graticule
from gribmill.draw.map.plane import Plane
from gribmill.draw.scale import Scale, level_label
from gribmill.draw.terminal.raster import resized

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1c2126"
STATES_UNTIL_DEG = 75  # on wider maps states would be a mesh that hides the field
CONTOUR_POINTS = 180  # contours of finer fields are drawn from means: smooth, and quick
SIDES: dict[Edge, tuple[tuple[float, float], str, str]] = {
    "left": ((-4, 0), "right", "center"),
    "bottom": ((0, -4), "center", "top"),
    "inside": ((0, 0), "center", "center"),
}


def add_coastlines(ax: Axes, plane: Plane, extent: Extent) -> None:
    """Coasts strongest, then borders, states and lake shores, each with a light halo to stand out on dark colours."""
    span = max(extent.east - extent.west, extent.north - extent.south)
    coast = float(np.interp(span, (5, 25, 60, 360), (1.1, 0.8, 0.55, 0.4)))
    lines = coastlines()
    if span < STATES_UNTIL_DEG:
        _line(ax, plane.lines(lines.states), 0.55 * coast, "#3b434a")
    _line(ax, plane.lines(lines.lakes), 0.8 * coast, INK)
    _line(ax, plane.lines(lines.borders), 0.7 * coast, "#2b3238")
    _line(ax, plane.lines(lines.land), coast, INK)


def _line(ax: Axes, points: Floats, width: float, colour: str) -> None:
    from matplotlib.patheffects import Normal, Stroke

    halo = Stroke(linewidth=width + 0.9, foreground="white", alpha=0.35)
    ax.plot(*points.T, color=colour, linewidth=width, path_effects=[halo, Normal()], solid_joinstyle="round")


def add_graticule(ax: Axes, plane: Plane) -> None:
    """Thin broken lines at round degrees, named at the frame."""
    net = graticule(plane)
    ax.plot(*net.lines.T, color="#3a4148", linewidth=0.45, alpha=0.55, dashes=(5, 4))
    for label in net.labels:
        offset, horizontal, vertical = SIDES[label.edge]
        note = ax.annotate(
            label.text,
            (label.x, label.y),
            offset,
            textcoords="offset points",
            ha=horizontal,
            va=vertical,
            fontsize=7.5,
            color="#4a525a",
            annotation_clip=False,
        )
        if label.edge == "inside":
            _haloed(note)


def add_contours(ax: Axes, shown: Floats, scale: Scale) -> None:
    """The lines that the palette asks for: isobars, the freezing line."""
    ny, nx = shown.shape
    rows, columns = min(ny, CONTOUR_POINTS), min(nx, CONTOUR_POINTS)
    levels = contour_levels(shown, scale)
    if not levels or min(rows, columns) < 3:
        return
    y = (np.arange(rows) + 0.5) * ny / rows - 0.5
    x = (np.arange(columns) + 0.5) * nx / columns - 0.5
    field = np.ma.masked_invalid(resized(shown, rows, columns))
    lines = ax.contour(x, y, field, levels=levels, colors=INK, linewidths=0.8, linestyles="solid", alpha=0.75)
    if scale.palette.contour_step:
        ax.clabel(lines, fmt=level_label, fontsize=7, inline_spacing=2)


def contour_levels(shown: Floats, scale: Scale) -> list[float]:
    """Contour values strictly within the field."""
    finite = shown[np.isfinite(shown)]
    if not len(finite):
        return []
    low, high = float(finite.min()), float(finite.max())
    levels = list(scale.palette.contour_at)
    step = scale.palette.contour_step
    if step:
        while (high - low) / step > 40:
            step *= 2
        levels += (np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step).tolist()
    return sorted(level for level in set(levels) if low < level < high)


def add_barbs(ax: Axes, barbs: MapBarbs) -> None:
    """Barbs in knots (half 5, full 10, flag 50)."""
    if len(barbs.u):
        ax.barbs(
            barbs.column, barbs.row, barbs.u, barbs.v,
            flip_barb=barbs.flip, length=5.2, linewidth=0.6, color=INK, sizes={"emptybarb": 0.14, "spacing": 0.16},
        )  # fmt: skip


def add_extremes(ax: Axes, found: tuple[Extreme, Extreme] | None, scale: Scale, shape: tuple[int, int]) -> None:
    """A small triangle at the lowest and at the highest point, each with its value."""
    if found is None or found[0].value == found[1].value:
        return
    for extreme, marker in zip(found, ("v", "^"), strict=True):
        ax.plot(extreme.column, extreme.row, marker, ms=5.5, mfc="white", mec=INK, mew=1.1, zorder=6)
        right, high = extreme.column > shape[1] / 2, extreme.row > shape[0] * 0.92
        note = ax.annotate(
            scale.label(extreme.value).replace("-", "−"),
            (extreme.column, extreme.row),
            (-6 if right else 6, -7 if high else 5),
            textcoords="offset points",
            ha="right" if right else "left",
            va="center",
            fontsize=8.5,
            fontweight="bold",
            color=INK,
            zorder=7,
        )
        _haloed(note)


def _haloed(note: object) -> None:
    from matplotlib.patheffects import withStroke

    note.set_path_effects([withStroke(linewidth=2.4, foreground="white", alpha=0.85)])  # type: ignore[attr-defined]
