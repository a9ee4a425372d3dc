"""Draws a meteogram in the terminal: braille lines, block bars and wind arrows over one time axis."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
from rich.console import Console
from rich.text import Text

from gribmill.arrays import Floats
from gribmill.draw.meteogram.curves import Curves, bar_at, first_moment, friendly, with_gaps
from gribmill.draw.meteogram.panels import (
    Panel,
    colour_of,
    finite_range,
    panels_of,
    unseen_text,
    with_wind,
    without_panel_text,
)
from gribmill.draw.meteogram.time_axis import local_hours, tick_hours, tick_label, zone_label
from gribmill.draw.terminal.braille import bars, braille, dots_of, stars

MARGIN = 9  # for the numbers at the left: "1013.25 │"
DAY_LETTERS = len("Mon 16 Nov")
ROWS = 4  # characters high, so 16 dots
MOST_WIDE = 150
ARROWS = "↓↙←↖↑↗→↘"  # where the wind blows to, by the octant it comes from, north first
PLAIN_ARROWS = "v/<\\^/>\\"
PLAIN = str.maketrans("│─┬└−·²", "|-++-.2", "°")


def draw_meteogram_terminal(curves: Curves, console: Console, width: int | None = None) -> None:
    """Print the meteogram within the terminal's width; missing hours are gaps."""
    curves = with_gaps(friendly(with_wind(curves)))
    plain = not console.encoding.lower().startswith("utf")
    coloured = console.color_system is not None and not console.no_color
    columns = max(min(width or console.width, MOST_WIDE) - MARGIN - 1, 16)
    panels, unseen = panels_of(curves)
    lines = [Text(line, "bold") for line in (curves.title, curves.subtitle) if line]
    for panel in panels if coloured else _apart(panels, curves):
        lines += _panel(panel, curves, columns, coloured=coloured, plain=plain)
    lines += [Text(line) for line in _time_axis(curves, columns)]
    notes = [curves.attribution, without_panel_text(curves), unseen_text(unseen)]
    lines += [Text(note, "dim") for note in notes if note]
    for line in lines:
        text = line if coloured else Text(line.plain.rstrip())
        if plain:
            text = Text(text.plain.translate(PLAIN).encode("ascii", "replace").decode())
        console.print(text, no_wrap=True, overflow="crop", crop=True, soft_wrap=False)


def _apart(panels: list[Panel], curves: Curves) -> list[Panel]:
    """One quantity per panel: without colours, two lines could not be distinguished."""
    return [
        replace(panel, title=panel.title if name == panel.names[0] else curves.label(name), names=(name,))
        for panel in panels
        for name in panel.names
    ]


def _panel(panel: Panel, curves: Curves, columns: int, *, coloured: bool, plain: bool) -> list[Text]:
    lines = [_heading(panel, curves)]
    span = finite_range(curves.get(name) for name in panel.names)
    if span is None:
        return [lines[0].append("  missing")]
    if panel.look == "bars":
        lines += _bars(panel.names[0], span[1], curves, columns, plain=plain)
    else:
        lines += _lines(panel.names, span, curves, columns, coloured=coloured, plain=plain)
    if panel.title == "Wind" and "wdir10" in curves.values:
        lines.append(_arrows(curves, columns, plain=plain))
    return lines


def _heading(panel: Panel, curves: Curves) -> Text:
    """Each quantity in its colour with its extremes, so that the numbers are there as well as the shape."""
    units = curves.units.get(panel.names[0], "")
    text = Text(f"{panel.title} [{units}]" if units else panel.title, "bold")
    for number, name in enumerate(panel.names):
        values = curves.get(name)
        present = values[np.isfinite(values)]
        if not len(present):
            continue
        label = curves.label(name) if len(panel.names) > 1 else ""
        facts = f"{_number(present.min())} to {_number(present.max())}"
        if panel.look == "bars":
            facts = f"sum {_number(present.sum())}, most {_number(present.max())}"
        text.append(f"  {label} {facts}".replace("   ", "  "), f"not bold {colour_of(name, number)}")
    return text


def _lines(
    names: tuple[str, ...], span: tuple[float, float], curves: Curves, columns: int, *, coloured: bool, plain: bool
) -> list[Text]:
    """Lines over each other, each in its colour; the first is on top."""
    low, high = span
    room = high - low or 2 * max(abs(high), 1.0)
    base = low if high > low else low - room / 2  # a constant is drawn in the middle
    grids = [dots_of(_shares(curves), (curves.get(name) - base) / room, columns, ROWS) for name in names]
    drawn = [(stars if plain else braille)(grid) for grid in grids]
    labels = {0: high, ROWS - 1: low} if high > low else {ROWS // 2 - 1: low}
    out = []
    for row in range(ROWS):
        text = Text(_margin(labels.get(row)))
        for column in range(columns):
            owner = next((k for k, rows in enumerate(drawn) if rows[row][column] != " "), None)
            if owner is None:
                text.append(" ")
            else:
                text.append(drawn[owner][row][column], colour_of(names[owner], owner) if coloured else "")
        out.append(text)
    return out


def _bars(name: str, most: float, curves: Curves, columns: int, *, plain: bool) -> list[Text]:
    """Every column shows the amount of its interval; `x` below marks hours without one."""
    start, end = first_moment(curves), float(curves.seconds[-1])
    moments = start + (np.arange(columns) + 0.5) / columns * max(end - start, 1.0)
    amounts = bar_at(curves, name, moments)
    rows = bars(amounts / most if most > 0 else amounts, ROWS - 1, plain=plain)
    gaps = "".join("x" if missing else " " for missing in np.isnan(amounts))
    labels = [most, *[None] * (ROWS - 2)]
    lines = [Text(_margin(label)).append(row, colour_of(name)) for label, row in zip(labels, rows, strict=True)]
    return [*lines, Text(_margin(0.0)).append(gaps, "dim")] if gaps.strip() else lines


def _arrows(curves: Curves, columns: int, *, plain: bool) -> Text:
    cells = [" "] * columns
    places = np.rint(_shares(curves) * (columns - 1)).astype(int)
    free = 0
    for place, come_from in zip(places.tolist(), curves.get("wdir10").tolist(), strict=True):
        if np.isfinite(come_from) and place >= free:
            cells[place] = (PLAIN_ARROWS if plain else ARROWS)[round(come_from / 45) % 8]
            free = place + 2
    return Text(_margin(None)).append("".join(cells), colour_of("ws10"))


def _time_axis(curves: Curves, columns: int) -> list[str]:
    """Hours below the ticks, days below the hours."""
    start, end = first_moment(curves), float(curves.seconds[-1])
    span = max(end - start, 1.0)
    every = tick_hours(curves.seconds, columns // 4, columns // 8)
    axis, hours, days = ["─"] * columns, [" "] * (columns + 3), [" "] * (columns + 12)
    free = 0
    ticks = local_hours(start, end, every, curves.zone)
    # The first tick has the name of its day, unless there is no room for it before midnight.
    midnight = next((moment for moment, local in ticks if (local.hour, local.minute) == (0, 0)), end)
    named = ticks[0][0] if ticks and (midnight - ticks[0][0]) / span * (columns - 1) > DAY_LETTERS else midnight
    for moment, local in ticks:
        place = round((moment - start) / span * (columns - 1))
        axis[place] = "┬"
        label = tick_label(local, every)
        hours[place : place + len(label)] = label
        if place >= free and ((local.hour, local.minute) == (0, 0) or moment == named):
            text = f"{local:%a %d %b}"
            if place + len(text) <= columns:
                days[place : place + len(text)] = text
            free = place + len(text) + 1
    zone = zone_label([local for _, local in ticks] or [datetime.fromtimestamp(start, curves.zone)])
    return [
        " " * (MARGIN - 1) + "└" + "".join(axis),
        " " * MARGIN + "".join(hours).rstrip(),
        " " * MARGIN + "".join(days).rstrip() + f"  {zone}",
    ]


def _shares(curves: Curves) -> Floats:
    seconds, start = curves.seconds, first_moment(curves)
    return np.asarray(seconds - start) / max(float(seconds[-1]) - start, 1.0)


def _margin(value: float | None) -> str:
    label = "" if value is None else _number(value)
    return f"{label:>{MARGIN - 2}} │"


def _number(value: float) -> str:
    text = f"{value:.1f}" if abs(value) < 9999.95 else f"{value:.6g}"
    return "0.0" if text == "-0.0" else text
