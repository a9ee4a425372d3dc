"""A point forecast by day: extremes and sums; days with missing hours are marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gribmill.cli.data.point.cells import cell
from gribmill.cli.data.point.fixed_width import (
    TableColumn,
    blocks,
    fitting,
    print_columns,
    print_heading,
    terminal_width,
)
from gribmill.cli.data.point.hourly_table import heading, selection

if TYPE_CHECKING:
    from gribmill.tiles.read.point.daily import Daily, DailyColumn
    from gribmill.tiles.read.point.series import Series

PART = "*"
# Variables of which only one extreme is shown.
ONLY = {"ws10": "high", "gust": "high", "cape": "high", "refc": "high", "prate": "high", "vis": "low", "ceil": "low"}


def print_days(series: Series, *, everything: bool) -> int:
    """Print the table; with `everything`, all columns, in several tables if needed. Returns how many variables were
    left out."""
    width, days = terminal_width(), series.daily()
    print_heading(*heading(series))
    fixed = _fixed(days)
    ranked = [name for name in (days.columns if everything else selection(series)) if name in days.columns]
    columns = [column for name in ranked for column in _columns(days.columns[name])]
    if everything:
        for block in blocks(fixed, columns, width):
            print_columns(block)
        left_out = 0
    else:
        shown = fitting(fixed, columns, width)
        # Do not show a minimum without its maximum.
        names = {name for name in ranked if _count(shown, name) == len(_kinds(days.columns[name]))}
        shown = [column for column in shown if column.heading[0].strip() in names] or shown
        print_columns([*fixed, *shown])
        left_out = len(days.columns) - len(names)
    if any(not value.whole for column in days.columns.values() for value in column.days):
        print_heading(f"{PART} hours of the day are missing: extremes are of the others, and there is no sum")
    return left_out


def _fixed(days: Daily) -> list[TableColumn]:
    hours = tuple(f"{here:g}/{length:g}" for here, length in zip(days.hours, days.lengths, strict=True))
    return [
        TableColumn(("", "day"), tuple(f"{day:%a %Y-%m-%d}" for day in days.days), left=True),
        TableColumn(("", "hours"), hours),
    ]


def _columns(column: DailyColumn) -> list[TableColumn]:
    def cells(which: str) -> tuple[str, ...]:
        texts = ((cell(getattr(value, which), column.units), value.whole) for value in column.days)
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
