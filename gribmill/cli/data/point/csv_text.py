"""Point forecasts as CSV (RFC 4180). Units are in the header; the run, and why it was chosen, are columns."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

from gribmill.tiles.read.point.series import Column, Series, digits, time_text

PLACE = ["place", "lat", "lon"]


def hours_csv(several: Sequence[Series], *, named: bool) -> str:
    """One line per hour. Sums, means and extremes have an additional column with the length of each time range.

    With `named`, each line begins with its place. Variables that a place does not have are empty.
    """
    columns = {name: column for series in several for name, column in series.columns.items()}
    heading = ["time", "hour"]
    for column in columns.values():
        heading.append(f"{column.name} [{column.units}]")
        if column.minutes is not None:
            heading.append(f"{column.name} interval [h]")
    rows = [[*(PLACE if named else []), *heading, "run", "run choice"]]
    for series in several:
        place = [series.name, f"{series.lat:g}", f"{series.lon:g}"] if named else []
        for row, (moment, step, run) in enumerate(zip(series.times, series.steps, series.row_runs, strict=True)):
            cells: list[Any] = [*place, time_text(moment), f"{step / 60:g}"]
            for name, column in columns.items():
                cells += _values(series.columns.get(name), row, amount=column.minutes is not None)
            rows.append([*cells, run, series.run_sentence])
    return _text(rows)


def days_csv(several: Sequence[Series], *, named: bool) -> str:
    """One line per day and place. After the values of a variable, `whole` is false if hours are missing."""
    days = [series.daily() for series in several]
    columns = {name: column for one in days for name, column in one.columns.items()}
    heading = ["day", "hours", "day hours"]
    for column in columns.values():
        for word in ("sum",) if column.amount else ("min", "max"):
            heading.append(f"{column.name} {word} [{column.units}]")
        heading.append(f"{column.name} whole")
    rows: list[list[Any]] = [[*(PLACE if named else []), *heading, "run", "run choice"]]
    for series, one in zip(several, days, strict=True):
        place = [series.name, f"{series.lat:g}", f"{series.lon:g}"] if named else []
        for number, day in enumerate(one.days):
            cells: list[Any] = [*place, day.isoformat(), f"{one.hours[number]:g}", f"{one.lengths[number]:g}"]
            for name, column in columns.items():
                own = one.columns.get(name)
                if own is None:
                    cells += [""] * (2 if column.amount else 3)
                    continue
                value = own.days[number]
                numbers = (value.total,) if column.amount else (value.low, value.high)
                cells += [*("" if math.isnan(each) else digits(each) for each in numbers), str(value.whole).lower()]
            rows.append([*cells, series.run, series.run_sentence])
    return _text(rows)


def _values(column: Column | None, row: int, *, amount: bool) -> list[str]:
    if column is None:
        return ["", ""] if amount else [""]
    value = column.values[row]
    text = "" if math.isnan(value) else digits(value)
    if not amount:
        return [text]
    return [text, "" if column.minutes is None else f"{column.minutes[row] / 60:g}"]


def _text(rows: Sequence[Sequence[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
