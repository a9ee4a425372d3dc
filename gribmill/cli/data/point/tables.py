"""A point forecast as a table of hours or days, in columns of fixed width.

Without rich, which takes longer to load than everything else.
"""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

import click

from gribmill.errors import printable
from gribmill.grib.names.time_range import window_text
from gribmill.tiles.read.time_zone import zone_name

if TYPE_CHECKING:
    from gribmill.tiles.read.point.daily import Daily, DailyColumn
    from gribmill.tiles.read.point.series import Column, Series

# The most important variables, in order. If there is not enough room, the last ones are left out.
READ_FIRST = ("t2m", "tp", "ws10", "wdir10", "gust", "tcc", "mslp", "d2m", "rh2m", "vis", "asnow", "cape")
NOWHERE = len(READ_FIRST)
# Marks days with missing hours.
PART = "*"
# Variables of which only one extreme is shown.
ONLY = {"ws10": "high", "gust": "high", "cape": "high", "refc": "high", "prate": "high", "vis": "low", "ceil": "low"}
GAP = "  "
DECIMALS = {
    "°C": 1,
    "°F": 0,
    "m/s": 1,
    "mph": 0,
    "hPa": 1,
    "inHg": 2,
    "mm": 1,
    "in": 2,
    "°": 0,
    "%": 0,
    "km": 1,
    "mi": 1,
}
# Smaller numbers are shown with four significant digits.
WHOLE_FROM = 1000


def print_hours(series: Series, *, everything: bool) -> int:
    """Print the table; with `everything`, all columns, in several tables if needed. Returns how many were left out."""
    width = _terminal_width()
    _print_heading(*_heading(series))
    fixed = _times(series, short=width is not None)
    shown = list(series.columns) if everything else selection(series)
    by_name = {name: _hourly(series, name) for name in shown}
    if everything:
        for block in _blocks(fixed, list(by_name.values()), width):
            _print_columns(block)
        return 0
    chosen = _fitting(fixed, list(by_name.values()), width)
    names = [name for name, column in by_name.items() if column in chosen]
    in_order = [name for name in series.columns if name in names]
    _print_columns([*fixed, *(by_name[name] for name in in_order)])
    return len(series.columns) - len(names)


def print_days(series: Series, *, everything: bool) -> int:
    """Print the table; with `everything`, all columns, in several tables if needed. Returns how many variables were
    left out."""
    width, days = _terminal_width(), series.daily()
    _print_heading(*_heading(series))
    fixed = _days(days)
    ranked = [name for name in (days.columns if everything else selection(series)) if name in days.columns]
    columns = [column for name in ranked for column in _daily(days.columns[name])]
    if everything:
        for block in _blocks(fixed, columns, width):
            _print_columns(block)
        left_out = 0
    else:
        shown = _fitting(fixed, columns, width)
        # Do not show a minimum without its maximum.
        names = {name for name in ranked if _count(shown, name) == len(_kinds(days.columns[name]))}
        shown = [column for column in shown if column.heading[0].strip() in names] or shown
        _print_columns([*fixed, *shown])
        left_out = len(days.columns) - len(names)
    if any(not value.whole for column in days.columns.values() for value in column.days):
        _print_heading(f"{PART} hours of the day are missing: extremes are of the others, and there is no sum")
    return left_out


def selection(series: Series) -> list[str]:
    """Up to a dozen columns with values: the most important ones first, then others."""
    order = {name: number for number, name in enumerate(READ_FIRST)}
    filled = [name for name, column in series.columns.items() if not all(map(math.isnan, column.values))]
    return sorted(filled or series.columns, key=lambda name: order.get(name, NOWHERE))[:NOWHERE]


def more_line(count: int, names: Sequence[str]) -> str:
    """How to see the columns that were left out."""
    example = ",".join(names[:2]) or "t2m,tp"
    return f"{count} more: --vars NAME,… (such as {example}) or --all"


def wrapped(sentence: str) -> str:
    """The sentence wrapped to the terminal; on one line in a pipe."""
    width = _terminal_width()
    return "\n".join(textwrap.wrap(printable(sentence), width)) if width else printable(sentence)


def _heading(series: Series) -> list[str]:
    """The heading: the place, the run and why it was chosen, and the grid point."""
    place = f"{series.name} ({series.lat:g}, {series.lon:g}): " if series.name else ""
    several = len({*series.row_runs}) > 1
    runs = " and ".join(dict.fromkeys(series.row_runs)) if several else series.run
    why = f" ({series.run_sentence})" if series.run_sentence else ""
    return [
        f"{place}{series.model} {series.region}, run{'s' if several else ''} {runs}{why}",
        f"grid point {series.point_lat:.3f}, {series.point_lon:.3f}, {series.distance_km:.1f} km away"
        f" ({series.method}); times are {zone_name(series.zone)}",
    ]


def _times(series: Series, *, short: bool) -> list[TableColumn]:
    """Time and hour, and the run if the rows come from several runs."""
    form = "%a %d %H:%M" if short else "%a %Y-%m-%d %H:%M"
    zone = "" if series.zone is UTC else " %Z"
    times = tuple(f"{moment:{form}{zone}}" for moment in series.times)
    columns = [
        TableColumn(("", "time" if zone else "time UTC"), times, left=True),
        TableColumn(("", "hour"), tuple(f"+{step / 60:g}" for step in series.steps)),
    ]
    if len({*series.row_runs}) > 1:
        columns.append(TableColumn(("", "run"), series.row_runs))
    return columns


def _hourly(series: Series, name: str) -> TableColumn:
    column = series.columns[name]
    cells = tuple(_row_cell(series, column, row) for row in range(len(series.steps)))
    return TableColumn((name, column.units), cells)


def _days(days: Daily) -> list[TableColumn]:
    hours = tuple(f"{here:g}/{length:g}" for here, length in zip(days.hours, days.lengths, strict=True))
    return [
        TableColumn(("", "day"), tuple(f"{day:%a %Y-%m-%d}" for day in days.days), left=True),
        TableColumn(("", "hours"), hours),
    ]


def _daily(column: DailyColumn) -> list[TableColumn]:
    def cells(which: str) -> tuple[str, ...]:
        texts = ((_cell(getattr(value, which), column.units), value.whole) for value in column.days)
        # The mark always takes one character, so that the digits stay aligned.
        return tuple((text or ("-" if not whole else "")) + (" " if whole else PART) for text, whole in texts)

    return [
        TableColumn((f"{column.name} ", f"{word} {column.units}".strip() + " "), cells(which))
        for which, word in _kinds(column)
    ]


def _count(columns: Sequence[TableColumn], name: str) -> int:
    return sum(column.heading[0].strip() == name for column in columns)


def _kinds(column: DailyColumn) -> list[tuple[str, str]]:
    if column.amount:
        return [("total", "sum")]
    both = [("low", "min"), ("high", "max")]
    return [kind for kind in both if ONLY.get(column.name, kind[0]) == kind[0]]


def _cell(value: float, units: str) -> str:
    """A value with the digits that are significant in its unit; empty if it is missing, and never `-0.0`."""
    if math.isnan(value):
        return ""
    if units in DECIMALS:
        text = f"{value:.{DECIMALS[units]}f}"
    else:
        text = f"{value:.0f}" if abs(value) >= WHOLE_FROM else f"{value:.4g}"
    return text.removeprefix("-") if text.strip("-0.") == "" else text


def _row_cell(series: Series, column: Column, row: int) -> str:
    """The value of one row. Codes are shown by meaning; an unusual time range is appended, as in 10.5/6h."""
    value = column.values[row]
    if value in column.flags:
        return f"{value:.0f} {column.flags[int(value)]}"
    text, length = _cell(value, column.units), series.odd_minutes(column, row)
    return text if length is None or not text else f"{text}/{window_text(length)}"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column with a heading of two lines: a name, and usually a unit below it."""

    heading: tuple[str, str]
    cells: tuple[str, ...]
    left: bool = False

    @property
    def width(self) -> int:
        return max(map(len, (*self.heading, *self.cells)))

    def lines(self) -> list[str]:
        """The headings and the cells, padded to the same width."""
        texts = [printable(text) for text in (*self.heading, *self.cells)]
        return [text.ljust(self.width) if self.left else text.rjust(self.width) for text in texts]


def _terminal_width() -> int | None:
    """The width of the terminal on stdout; None in a pipe, where nothing has to fit."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _fitting(fixed: Sequence[TableColumn], ranked: Sequence[TableColumn], width: int | None) -> list[TableColumn]:
    """As many of the ranked columns as fit beside the fixed ones; always at least one."""
    if width is None:
        return list(ranked)
    left = width - _width(fixed)
    found: list[TableColumn] = []
    for column in ranked:
        need = len(GAP) + column.width
        if found and need > left:
            break
        found.append(column)
        left -= need
    return found


def _blocks(
    fixed: Sequence[TableColumn], columns: Sequence[TableColumn], width: int | None
) -> Iterator[list[TableColumn]]:
    """All columns, in as many tables as needed, one below the other; each begins with the fixed columns."""
    rest = list(columns)
    while rest:
        part = _fitting(fixed, rest, width)
        rest = rest[len(part) :]
        yield [*fixed, *part]


def _print_columns(columns: Sequence[TableColumn]) -> None:
    """Print one table."""
    for row in zip(*(column.lines() for column in columns), strict=True):
        click.echo(GAP.join(row).rstrip())


def _print_heading(*sentences: str) -> None:
    """Print lines above a table: wrapped on a terminal; in a pipe, each begins with # as a comment."""
    in_pipe = _terminal_width() is None
    for sentence in sentences:
        click.echo(wrapped(f"# {sentence}" if in_pipe else sentence))


def _width(columns: Sequence[TableColumn]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)
