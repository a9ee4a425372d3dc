"""The layers over the colours of a map: coasts, graticule, contours, extremes, barbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats
from gribmill.draw.drawable import Barbs
from gribmill.draw.map.coastlines import coastlines_for, within
from gribmill.draw.map.extremes import Extreme
from gribmill.draw.map.graticule import Edge, Extent, graticule
from gribmill.draw.map.plane import Plane
from gribmill.draw.raster import resized
from gribmill.draw.scale import Scale, level_label, round_step
from gribmill.tiles.read.units import KNOTS_PER_M_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1c2126"
STATES_UNTIL_DEG = 75  # on wider maps, state borders would hide the field
CONTOURS_WANTED = 12  # for a field whose palette defines no contour step
CONTOUR_POINTS = 180  # contours of finer fields are drawn from means, which is smoother and faster
BARBS_ACROSS = 26  # along the longer side: about 9 mm apart on the page
CROWDED_DEG = 88.0  # closer to a pole, the columns of a lat-lon grid converge
SIDES: dict[Edge, tuple[tuple[float, float], str, str]] = {
    "left": ((-4, 0), "right", "center"),
    "bottom": ((0, -4), "center", "top"),
    "inside": ((0, 0), "center", "center"),
}


def add_coastlines(ax: Axes, plane: Plane, extent: Extent) -> None:
    """Shores strongest, then borders and states, each with a light halo to stand out on dark colours."""
    span = max(extent.east - extent.west, extent.north - extent.south)
    coast = float(np.interp(span, (5, 25, 60, 360), (1.1, 0.8, 0.55, 0.4)))
    lines = coastlines_for(span)
    degrees = (extent.south, extent.north, extent.west, extent.east)
    if span < STATES_UNTIL_DEG:
        _line(ax, plane.lines(within(lines.states, *degrees)), 0.55 * coast, "#3b434a")
    _line(ax, plane.lines(within(lines.borders, *degrees)), 0.7 * coast, "#2b3238")
    _line(ax, plane.lines(within(lines.land, *degrees)), coast, INK)


def _line(ax: Axes, points: Floats, width: float, colour: str) -> None:
    from matplotlib.patheffects import Normal, Stroke

    halo = Stroke(linewidth=width + 0.9, foreground="white", alpha=0.35)
    ax.plot(*points.T, color=colour, linewidth=width, path_effects=[halo, Normal()], solid_joinstyle="round")


def add_graticule(ax: Axes, plane: Plane, box: Extent | None = None) -> None:
    """Draws thin dashed lines at round degrees, labelled at the frame or at the edges of a box."""
    net = graticule(plane, box)
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


def add_contours(ax: Axes, shown: Floats, levels: list[float], *, labelled: bool) -> None:
    """Draws lines of equal value, with their values if `labelled`."""
    ny, nx = shown.shape
    rows, columns = min(ny, CONTOUR_POINTS), min(nx, CONTOUR_POINTS)
    if not levels or min(rows, columns) < 3:
        return
    y = (np.arange(rows) + 0.5) * ny / rows - 0.5
    x = (np.arange(columns) + 0.5) * nx / columns - 0.5
    field = np.ma.masked_invalid(resized(shown, rows, columns))
    lines = ax.contour(x, y, field, levels=levels, colors=INK, linewidths=0.8, linestyles="solid", alpha=0.75)
    if labelled:
        for note in ax.clabel(lines, fmt=level_label, fontsize=7, inline_spacing=2):
            _haloed(note)


def contour_levels(shown: Floats, scale: Scale, *, always: bool = False) -> list[float]:
    """Contour values strictly within the field, as its palette defines them; `always`: a dozen if it defines none."""
    finite = shown[np.isfinite(shown)]
    if not len(finite):
        return []
    low, high = float(finite.min()), float(finite.max())
    step = scale.contour_step
    if step is None and always and high > low:
        step = round_step((high - low) / CONTOURS_WANTED)
    levels = list(scale.contour_at)
    if step:
        while (high - low) / step > 40:
            step *= 2
        levels += (np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step).tolist()
    return sorted(level for level in set(levels) if low < level < high)


@dataclass(frozen=True, slots=True)
class MapBarbs:
    """Barbs at (column, row), in knots along the map's x and y; `flip` in the southern hemisphere."""

    column: NDArray[np.float64]
    row: NDArray[np.float64]
    u: NDArray[np.float64]
    v: NDArray[np.float64]
    flip: NDArray[np.bool_]


def map_barbs(barbs: Barbs, plane: Plane) -> MapBarbs:
    """The barbs to draw: earth-relative winds rotated by the angle of the map's x axis at each point."""
    ny, nx = plane.shape
    spacing = max(nx, ny * plane.aspect) / BARBS_ACROSS
    rows, columns = _spread(ny, spacing / plane.aspect), _spread(nx, spacing)
    j, i = (a.ravel() for a in np.meshgrid(rows, columns, indexing="ij"))
    lat, _ = plane.locate(j.astype(np.float64), i.astype(np.float64))
    east, north = np.asarray(barbs.u, np.float64)[j, i], np.asarray(barbs.v, np.float64)[j, i]
    keep = np.isfinite(east) & np.isfinite(north) & (np.abs(lat) < CROWDED_DEG)
    row, column = j[keep].astype(np.float64), i[keep].astype(np.float64)
    u, v = along_map_axes(east[keep], north[keep], plane.axis_angle(row, column))
    return MapBarbs(column, row, u * KNOTS_PER_M_S, v * KNOTS_PER_M_S, lat[keep] < 0)


def along_map_axes(
    east: NDArray[np.float64], north: NDArray[np.float64], angle: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The components along axes rotated by `angle` radians anticlockwise from east and north."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return east * cosine + north * sine, north * cosine - east * sine


def _spread(count: int, spacing: float) -> NDArray[np.intp]:
    """Every n-th index, about `spacing` apart, with equal margins and gaps even on coarse grids."""
    every = max(1, round(spacing))
    return np.arange((count - 1) % every // 2, count, every)


def add_barbs(ax: Axes, barbs: MapBarbs) -> None:
    """Draws barbs in knots (half 5, full 10, flag 50)."""
    if len(barbs.u):
        ax.barbs(
            barbs.column, barbs.row, barbs.u, barbs.v,
            flip_barb=barbs.flip, length=5.2, linewidth=0.6, color=INK, sizes={"emptybarb": 0.14, "spacing": 0.16},
        )  # fmt: skip


def add_extremes(ax: Axes, found: tuple[Extreme, Extreme] | None, scale: Scale, plane: Plane) -> None:
    """Marks the lowest and the highest point with a triangle and the value, unless many points share it."""
    if found is None or found[0].value == found[1].value or scale.meanings:
        return
    for extreme, marker in zip(found, ("v", "^"), strict=True):
        if extreme.lat is None or extreme.lon is None:
            continue
        (row,), (column,) = plane.project(np.array([extreme.lat]), np.array([extreme.lon]))
        ax.plot(column, row, marker, ms=5.5, mfc="white", mec=INK, mew=1.1, zorder=6)
        right, high = column > plane.shape[1] / 2, row > plane.shape[0] * 0.92
        note = ax.annotate(
            scale.label(extreme.value).replace("-", "−"),
            (column, row),
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
