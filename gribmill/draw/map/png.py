"""Draws a tile's field as a map in a PNG file, with matplotlib (the optional extra `plot`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats
from gribmill.draw.drawable import Barbs, Drawable
from gribmill.draw.errors import DrawError
from gribmill.draw.map.extremes import extremes, extremes_text
from gribmill.draw.map.graticule import extent_of
from gribmill.draw.map.layers import (
    INK,
    add_barbs,
    add_coastlines,
    add_contours,
    add_extremes,
    add_graticule,
    contour_levels,
    map_barbs,
)
from gribmill.draw.map.layout import FOOT_LINE_IN, MapLayout, layout_for
from gribmill.draw.map.legend import PAPER, add_bar, add_legend, legend_entries
from gribmill.draw.map.page import MapPage, in_box, page_of
from gribmill.draw.map.plane import Plane, plane_of
from gribmill.draw.raster import nearest, resized
from gribmill.draw.scale import Scale, scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Frame = Literal["box", "tile"]
MISSING = (205, 207, 210)  # also hatched, to be distinct from all scales
HATCHED = "hatched: no value"
HEADING_IN = 0.118  # the width of a letter of the heading: long ones are set smaller
SMOOTH_BELOW_PX = 900  # fields with fewer columns or rows are interpolated to about this many


def draw_png(
    field: Drawable,
    path: Path,
    barbs: Barbs | None = None,
    dpi: int = 130,
    *,
    contours: Drawable | None = None,
    frame: Frame = "box",
) -> None:
    """Write the map; matplotlib must be installed.

    `barbs` holds u and v at the field's points, `contours` another field on them. The map is cropped to the field's
    box, or shows all of its `tile`.
    """
    figure_class = matplotlib_figure()
    own, scale = plane_of(field), scale_of(field)
    page = page_of(field, own) if frame == "box" else None
    plane = page.plane if page else own
    shown = scale.convert(field.values)
    counted = np.where(in_box(field), shown, np.nan) if page else shown
    entries = legend_entries(counted, scale)
    layout = layout_for(plane, field.attribution, tuple(text for _, text in entries))
    figure = figure_class(figsize=layout.size, dpi=dpi, facecolor="white")
    ax = figure.add_axes(layout.box(0, 0, layout.width, layout.height))
    _add_field(ax, shown, scale, plane, page)
    _add_layers(ax, plane, page, barbs)
    _add_contours(ax, field, contours, page)
    if page:
        _crop(ax, page)
    found = extremes(counted, own)
    add_extremes(ax, found, scale, plane)
    if scale.meanings:
        add_legend(figure, layout, scale, entries)
    else:
        add_bar(figure, layout, scale, counted)
    below = extremes_text(found, scale).replace(" -", " −")
    if np.isnan(shown[in_box(field)] if page else shown).any():
        below = f"{HATCHED}   {below}".rstrip()
    _add_words(figure, layout, field, _heading(field, scale, barbs, contours), below)
    save(figure, path, field.heading)


def matplotlib_figure() -> type[Figure]:
    """Figure without pyplot: no global state, no window, drawn by Agg. Raises DrawError if it is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DrawError("drawing a PNG needs matplotlib: install it with `pip install gribmill[plot]`") from error
    matplotlib.rcParams["axes.unicode_minus"] = True
    return Figure


def save(figure: Figure, path: Path, title: str) -> None:
    """Write the PNG without a date, so that the same drawing gives the same bytes."""
    try:
        figure.savefig(path, format="png", metadata={"Software": "gribmill", "Title": title})
    except OSError as error:
        raise DrawError(f"cannot write {path}: {error.strerror or error}") from error


def _add_field(ax: Axes, shown: Floats, scale: Scale, plane: Plane, page: MapPage | None) -> None:
    ny, nx = plane.shape
    drawn = page.sample(shown, nearest=not scale.blended) if page else _smooth(shown, scale)
    colours = scale.rgb(drawn, PAPER, MISSING)
    missing = np.isnan(drawn)
    if page:
        colours[~page.covered] = 255
        missing &= page.covered
    frame = (-0.5, nx - 0.5, -0.5, ny - 0.5)
    ax.imshow(colours, origin="lower", extent=frame, aspect="auto", interpolation="antialiased")
    if missing.any():
        ax.contourf(
            *_edges(missing, plane.shape), levels=[0.5, 1.5], colors="none", hatches=["////"]
        ).set_edgecolor("#aeb2b6")  # fmt: skip
    ax.set(xlim=frame[:2], ylim=frame[2:], xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set(color=INK, linewidth=0.9)


def _smooth(shown: Floats, scale: Scale) -> Floats:
    """Coarse fields are interpolated before they are split into steps; codes and directions are not."""
    ny, nx = shown.shape
    times = int(np.ceil(SMOOTH_BELOW_PX / max(ny, nx)))
    if times < 2:
        return shown
    return (resized if scale.blended else nearest)(shown, ny * times, nx * times)


def _edges(missing: NDArray[np.bool_], shape: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    """The mask for a map of that shape, extended at its edges so that hatching reaches the frame."""
    (ny, nx), (rows, columns) = shape, (min(side, 400) for side in missing.shape)
    y = (np.arange(rows) + 0.5) * ny / rows - 0.5
    x = (np.arange(columns) + 0.5) * nx / columns - 0.5
    padded = np.pad(resized(missing.astype(np.float64), rows, columns), 1, mode="edge")
    return np.concatenate([[-1], x, [nx]]), np.concatenate([[-1], y, [ny]]), np.round(padded)


def _add_layers(ax: Axes, plane: Plane, page: MapPage | None, barbs: Barbs | None) -> None:
    add_graticule(ax, plane, page.box if page else None)
    add_coastlines(ax, plane, page.box if page else extent_of(plane))
    if barbs is not None and page:
        barbs = Barbs(page.sample(barbs.u, cropped=True), page.sample(barbs.v, cropped=True))
    if barbs is not None:
        add_barbs(ax, map_barbs(barbs, plane))


def _add_contours(ax: Axes, field: Drawable, other: Drawable | None, page: MapPage | None) -> None:
    """The contours of the other field, or those defined by the field's palette: isobars, the freezing line."""
    lines = other or field
    scale = scale_of(lines)
    if scale.meanings:
        if other is not None:
            raise DrawError(f"{other.name} is a field of codes: it has no contours")
        return
    shown = scale.convert(lines.values)
    levels = contour_levels(shown, scale, always=other is not None)
    placed = page.sample(shown, cropped=True) if page else shown
    add_contours(ax, placed, levels, labelled=other is not None or scale.contour_step is not None)


def _crop(ax: Axes, page: MapPage) -> None:
    """Only labels outside the box, and the box itself as the frame."""
    from matplotlib.path import Path as Outline
    from matplotlib.text import Text

    outline = Outline(page.outline)
    for artist in (*ax.images, *ax.lines, *ax.collections):
        artist.set_clip_path(outline, ax.transData)
    for note in ax.findobj(Text):
        note.set_clip_on(False)
    ax.plot(*page.outline.T, color=INK, linewidth=0.9, clip_on=False)
    ax.patch.set_visible(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _heading(field: Drawable, scale: Scale, barbs: Barbs | None, contours: Drawable | None) -> str:
    """The quantities on the map, each with its unit."""
    parts = [field.heading + (f" [{scale.units}]" if scale.units else "")]
    if contours is not None:
        units = scale_of(contours).units
        parts.append(contours.heading + (f" [{units}]" if units else "") + " as lines")
    return ", ".join([*parts, *(["wind barbs [kt]"] if barbs is not None else [])])


def _add_words(figure: Figure, layout: MapLayout, field: Drawable, heading: str, facts: str) -> None:
    """Quantities, source, region and valid time above the map; credits and extremes below it."""
    left, up, width, _ = layout.box(0, layout.height, layout.width, 0)
    high, narrow = layout.size[1], layout.narrow
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
