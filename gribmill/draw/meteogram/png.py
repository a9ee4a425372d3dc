"""Draws a meteogram as PNG, with matplotlib: a point forecast in panels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from gribmill.draw.map.png import matplotlib_figure, save
from gribmill.draw.meteogram.curves import Curves, bar_at, bar_seconds, first_moment, friendly, with_gaps
from gribmill.draw.meteogram.panels import (
    Panel,
    colour_of,
    finite_range,
    knots,
    panels_of,
    unseen_text,
    with_wind,
    without_panel_text,
)
from gribmill.draw.meteogram.time_axis import local_hours, nights, tick_hours, tick_label, zone_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY = "#1c2126", "#5a6269"
WIDTH_IN, PANEL_IN, TOP_IN, BOTTOM_IN = 10.0, 1.4, 0.98, 0.85
FOOT_LETTERS = 136  # of a line at the foot
BARBS_ACROSS = 36
DAY = 86400.0
DAY_LABEL_SHARE = 0.075  # of the axis: narrower days have no room for their name


def draw_meteogram(curves: Curves, path: Path, dpi: int = 130) -> None:
    """Write the meteogram; matplotlib must be installed. Lines are broken where hours are missing."""
    figure_class = matplotlib_figure()
    curves = with_gaps(friendly(with_wind(curves)))
    panels, unseen = panels_of(curves)
    high = TOP_IN + BOTTOM_IN + PANEL_IN * len(panels)
    figure = figure_class(figsize=(WIDTH_IN, high), dpi=dpi, facecolor="white")
    axes = list(figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0])
    figure.subplots_adjust(left=0.075, right=0.975, top=1 - TOP_IN / high, bottom=BOTTOM_IN / high, hspace=0.16)
    for ax, panel in zip(axes, panels, strict=True):
        _draw_panel(ax, panel, curves)
    _time_axis(axes, curves)
    figure.text(0.075, 1 - 0.38 / high, curves.title, fontsize=13, fontweight="bold", color=INK)
    figure.text(0.075, 1 - 0.65 / high, curves.subtitle, fontsize=9.5, color=GREY)
    notes = [curves.attribution, without_panel_text(curves), unseen_text(unseen), "gribmill"]
    foot = "\n".join(wrap(" · ".join(note for note in notes if note), FOOT_LETTERS))
    figure.text(0.075, 0.1 / high, foot, fontsize=7.5, color=GREY)
    save(figure, path, curves.title)


def _draw_panel(ax: Axes, panel: Panel, curves: Curves) -> None:
    draw = {"lines": _draw_lines, "bars": _draw_bars, "cover": _draw_cover}[panel.look]
    draw(ax, panel, curves)
    units = curves.units.get(panel.names[0], "")
    ax.set_title(f"{panel.title} [{units}]" if units else panel.title, loc="left", fontsize=8.5, color=INK, pad=3)
    ax.tick_params(labelsize=8, length=2.5, colors=GREY)
    ax.ticklabel_format(axis="y", style="plain", useOffset=False)
    ax.grid(axis="y", color="#d5d9dd", linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set(visible=side in ("left", "bottom"), color="#9aa4ad")


def _draw_lines(ax: Axes, panel: Panel, curves: Curves) -> None:
    seconds = curves.seconds
    for number, name in enumerate(panel.names):
        ax.plot(
            seconds, curves.get(name), color=colour_of(name, number), linewidth=1.6, marker="o", markersize=2.2,
            label=curves.label(name), linestyle="--" if name == "gust" else "-",
        )  # fmt: skip
    if len(panel.names) > 1:
        ax.legend(
            loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=4, fontsize=7.5, frameon=False, borderaxespad=0.1,
            handlelength=1.6,
        )  # fmt: skip
    span = finite_range(curves.get(name) for name in panel.names)
    if span is None:
        _say_missing(ax)
        return
    # Small changes must not be magnified to the full height.
    room = max(span[1] - span[0], 2e-3 * max(abs(span[0]), abs(span[1]))) or 1.0
    low, top = span[0] - 0.12 * room, span[1] + 0.14 * room
    if panel.title == "Temperature" and low < 0 < top:
        ax.axhline(0, color="#4b9bd9", linewidth=0.9)
    if panel.title == "Wind":
        low, top = 0.0, span[1] * 1.15 + 0.5
        if knots(curves) is not None:
            top += (top - low) * 0.75
            _draw_barbs(ax, curves, top - (top - low) * 0.2)
    ax.set_ylim(low, top)


def _draw_barbs(ax: Axes, curves: Curves, height: float) -> None:
    wind = knots(curves)
    assert wind is not None
    every = int(np.ceil(len(curves.times) / BARBS_ACROSS))
    keep = np.isfinite(wind[0]) & (np.arange(len(curves.times)) % every == 0)
    if keep.any():
        south = curves.lat is not None and curves.lat < 0
        ax.barbs(
            curves.seconds[keep], np.full(keep.sum(), height), wind[0][keep], wind[1][keep],
            length=5.2, linewidth=0.7, color=INK, flip_barb=south, pivot="middle", clip_on=False,
            sizes={"emptybarb": 0.14, "spacing": 0.16},
        )  # fmt: skip


def _draw_bars(ax: Axes, panel: Panel, curves: Curves) -> None:
    """Draws each amount over its interval, and a cross on the axis if it is missing."""
    name, seconds = panel.names[0], curves.seconds
    if not np.isfinite(curves.get(name)).any():
        _say_missing(ax)
        return
    values, width = curves.get(name), bar_seconds(curves, name)
    present = np.isfinite(values)
    ax.bar(
        seconds[present], values[present], -width[present] * 0.94, align="edge",
        color=colour_of(name), edgecolor="white", linewidth=0.3,
    )  # fmt: skip
    missing = ~present & np.isnan(bar_at(curves, name, seconds))
    ax.plot(seconds[missing], np.zeros(missing.sum()), "x", color="#b0b6bc", markersize=3, clip_on=False)
    most = float(values[present].max())
    if most > 0:
        ax.text(
            0.995, 0.86, f"sum {values[present].sum():.1f} {curves.units.get(name, '')}",
            transform=ax.transAxes, ha="right", fontsize=7.5, color=GREY,
        )  # fmt: skip
    ax.set_ylim(0, most * 1.25 if most > 0 else 1.0)


def _draw_cover(ax: Axes, panel: Panel, curves: Curves) -> None:
    values = curves.get(panel.names[0])
    ax.fill_between(curves.seconds, 0, values, color=colour_of(panel.names[0]), alpha=0.75, linewidth=0)
    ax.plot(curves.seconds, values, color=GREY, linewidth=0.8, marker="o", markersize=1.6)
    ax.set_ylim(0, 105 if "%" in curves.units.get(panel.names[0], "") else None)
    if not np.isfinite(values).any():
        _say_missing(ax)


def _say_missing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "missing", transform=ax.transAxes, ha="center", va="center", fontsize=9, color=GREY)
    ax.set_yticks([])


def _time_axis(axes: Sequence[Axes], curves: Curves) -> None:
    """Hours under the last panel, days under the hours, nights shaded through all panels."""
    start, end = first_moment(curves), float(curves.seconds[-1])
    room = max((end - start) * 0.02, 60.0)
    every = tick_hours(curves.seconds, 26, 14)
    ticks = local_hours(start, end, every, curves.zone)
    days = local_hours(start - DAY - 3600, end, 24, curves.zone)
    for ax in axes:
        ax.set_xlim(start - room, end + room)
        if curves.lat is not None and curves.lon is not None:
            for dusk, dawn in nights(start - room, end + room, curves.lat, curves.lon):
                ax.axvspan(dusk, dawn, color="#dfe5ee", alpha=0.55, linewidth=0, zorder=0)
        for day, _ in days:
            if day > start - room:
                ax.axvline(day, color="#8a939b", linewidth=0.7, zorder=0.5)
    last = axes[-1]
    last.set_xticks([moment for moment, _ in ticks], [tick_label(local, every) for _, local in ticks])
    for day, local in days:
        at = max(day, start - room)
        if (min(day + DAY, end + room) - at) / (end - start + 2 * room) > DAY_LABEL_SHARE:
            last.annotate(
                f"{local:%a %d %b}", (at, 0), (3, -18), xycoords=("data", "axes fraction"),
                textcoords="offset points", fontsize=8.5, color=INK, va="top",
            )  # fmt: skip
    label = zone_label([local for _, local in ticks or days])
    last.annotate(label, (1, 0), (0, -18), xycoords="axes fraction", textcoords="offset points",
                  fontsize=7.5, color=GREY, va="top", ha="right")  # fmt: skip
