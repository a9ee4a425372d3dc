"""A point forecast as a table: one row per hour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from gribmill.cli.data.point.cells import row_cell
from gribmill.cli.data.point.fixed_width import (
    TableColumn,
    blocks,
    fitting,
    print_columns,
    print_heading,
    terminal_width,
)
from gribmill.tiles.read.time_zone import zone_name

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Series

# The most important variables, in order. If there is not enough room, the last ones are left out.
READ_FIRST = ("t2m", "tp", "ws10", "wdir10", "gust", "tcc", "mslp", "d2m", "rh2m", "vis", "asnow", "cape")
NOWHERE = len(READ_FIRST)


def print_hours(series: Series, *, everything: bool) -> int:
    """Print the table; with `everything`, all columns, in several tables if needed. Returns how many were left out."""
    width = terminal_width()
    print_heading(*heading(series))
    fixed = _fixed(series, short=width is not None)
    shown = list(series.columns) if everything else selection(series)
    by_name = {name: _column(series, name) for name in shown}
    if everything:
        for block in blocks(fixed, list(by_name.values()), width):
            print_columns(block)
        return 0
    chosen = fitting(fixed, list(by_name.values()), width)
    names = [name for name, column in by_name.items() if column in chosen]
    in_order = [name for name in series.columns if name in names]
    print_columns([*fixed, *(by_name[name] for name in in_order)])
    return len(series.columns) - len(names)


def heading(series: Series) -> list[str]:
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


def selection(series: Series) -> list[str]:
    """Up to a dozen columns with values: the most important ones first, then others."""
    order = {name: number for number, name in enumerate(READ_FIRST)}
    filled = [name for name, column in series.columns.items() if not all(map(math.isnan, column.values))]
    return sorted(filled or series.columns, key=lambda name: order.get(name, NOWHERE))[:NOWHERE]


def _fixed(series: Series, *, short: bool) -> list[TableColumn]:
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


def _column(series: Series, name: str) -> TableColumn:
    column = series.columns[name]
    cells = tuple(row_cell(series, column, row) for row in range(len(series.steps)))
    return TableColumn((name, column.units), cells)


def more_line(count: int, names: Sequence[str]) -> str:
    """How to see the columns that were left out."""
    example = ",".join(names[:2]) or "t2m,tp"
    return f"{count} more: --vars NAME,… (such as {example}) or --all"
