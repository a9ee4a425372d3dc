"""Minimum, maximum and sum of each local day of a point forecast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Column, Series

ANGLE = "°"


@dataclass(frozen=True, slots=True)
class DayValue:
    """One variable on one day: the extremes, or the sum of an amount. NaN if unknown.

    `whole` is False if hours of the day are missing; the sum is then NaN, and the extremes cover the other hours.
    """

    low: float
    high: float
    total: float
    whole: bool


@dataclass(frozen=True, slots=True)
class DailyColumn:
    """One variable over the days; `amount` if it has sums, otherwise it has extremes."""

    name: str
    long_name: str
    units: str
    amount: bool
    days: tuple[DayValue, ...]


@dataclass(frozen=True, slots=True)
class Daily:
    """A point forecast by day. `lengths` are the hours in each day, `hours` those that the forecast covers."""

    days: tuple[date, ...]
    lengths: tuple[float, ...]
    hours: tuple[float, ...]
    columns: dict[str, DailyColumn]

    def to_list(self) -> list[dict[str, Any]]:
        """Plain values for JSON, one object per day; `whole` marks days without missing hours."""
        found = []
        for number, day in enumerate(self.days):
            row: dict[str, Any] = {
                "day": day.isoformat(),
                "hours": round(self.hours[number], 3),
                "day_hours": round(self.lengths[number], 3),
                "whole": self.hours[number] >= self.lengths[number],
            }
            for name, column in self.columns.items():
                value = column.days[number]
                numbers = {"sum": value.total} if column.amount else {"min": value.low, "max": value.high}
                row[name] = {key: _plain(one) for key, one in numbers.items()} | {"whole": value.whole}
            found.append(row)
        return found

    def to_dataframe(self) -> Any:
        """A pandas DataFrame indexed by day, with columns such as (t2m, min) and (tp, sum)."""
        import pandas as pd

        table: dict[tuple[str, str], list[Any]] = {}
        for name, column in self.columns.items():
            if column.amount:
                table[name, "sum"] = [value.total for value in column.days]
            else:
                table[name, "min"] = [value.low for value in column.days]
                table[name, "max"] = [value.high for value in column.days]
            table[name, "whole"] = [value.whole for value in column.days]
        frame = pd.DataFrame(table, index=pd.Index(self.days, name="day"))
        frame.attrs["units"] = {name: column.units for name, column in self.columns.items()}
        return frame


def daily(series: Series) -> Daily:
    """The days of a series in its time zone. Directions have no extremes and are left out."""
    times = series.times
    days = sorted({moment.date() for moment in times})
    # An amount that ends at midnight belongs to the day before.
    spans = [(_midnight(day, series.zone), _midnight(day + timedelta(days=1), series.zone)) for day in days]
    minutes = [_minutes(moment) for moment in times]
    bounds = [(_minutes(start), _minutes(end)) for start, end in spans]
    reach = _reach(minutes)
    columns = {
        name: DailyColumn(
            name,
            column.long_name,
            column.units,
            column.summed,
            tuple(_day(column, minutes, reach, start, end) for start, end in bounds),
        )
        for name, column in series.columns.items()
        if column.units != ANGLE
    }
    covered = tuple(_covered(zip(minutes, reach, strict=True), start, end) / 60 for start, end in bounds)
    keep = [number for number, hours in enumerate(covered) if hours > 0]
    return Daily(
        tuple(days[number] for number in keep),
        tuple((bounds[number][1] - bounds[number][0]) / 60 for number in keep),
        tuple(covered[number] for number in keep),
        {name: _only(column, keep) for name, column in columns.items()},
    )


def _day(column: Column, minutes: Sequence[int], reach: Sequence[int], start: int, end: int) -> DayValue:
    if column.windows is None:
        spans = list(zip(minutes, reach, strict=True))
        inside = [start <= minute < end for minute in minutes]
    else:
        lengths = column.minutes or ()
        if column.summed:
            total = _tiled_sum(zip(minutes, lengths, column.values, strict=True), start, end)
            return DayValue(math.nan, math.nan, total, not math.isnan(total))
        # A maximum over six hours belongs to this day only if all six hours do.
        spans = [(minute - length, length) for minute, length in zip(minutes, lengths, strict=True)]
        inside = [length > 0 and start <= begin and begin + length <= end for begin, length in spans]
    present = [not math.isnan(value) for value in column.values]
    values = [value for value, fits, there in zip(column.values, inside, present, strict=True) if fits and there]
    if not values:
        return DayValue(math.nan, math.nan, math.nan, False)
    usable = inside if column.windows is not None else [True] * len(spans)
    used = [span for span, fits, there in zip(spans, usable, present, strict=True) if fits and there]
    return DayValue(min(values), max(values), math.nan, _covered(used, start, end) == end - start)


def _tiled_sum(windows: Any, start: int, end: int) -> float:
    """The sum of the amounts if their time ranges cover exactly the day, without gap or overlap; otherwise NaN."""
    at, total = start, 0.0
    for minute, length, value in windows:
        if minute <= start or minute - length >= end or length <= 0:
            continue
        if minute - length != at or minute > end or math.isnan(value):
            return math.nan
        at, total = minute, total + value
    return total if at == end else math.nan


def _reach(minutes: Sequence[int]) -> list[int]:
    """The minutes for which each row applies: until the next one, but not across missing rows."""
    gaps = [after - before for before, after in pairwise(minutes)]
    if not gaps:
        return [0] * len(minutes)
    # Steps only get longer towards the end of a forecast: if a gap is longer than a later one, rows are missing.
    return [min(gaps[number:]) for number in range(len(gaps))] + [gaps[-1]]


def _covered(rows: Any, start: int, end: int) -> int:
    """The minutes of the day for which there is a row."""
    covered, at = 0, start
    for begin, length in sorted(rows):
        until = min(begin + length, end)
        covered += max(0, until - max(begin, at))
        at = max(at, until)
    return covered


def _only(column: DailyColumn, keep: Sequence[int]) -> DailyColumn:
    days = tuple(column.days[number] for number in keep)
    return DailyColumn(column.name, column.long_name, column.units, column.amount, days)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone)


def _minutes(moment: datetime) -> int:
    return int(moment.timestamp()) // 60


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.9g}")
