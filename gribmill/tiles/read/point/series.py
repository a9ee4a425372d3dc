"""A point forecast as rows and columns, with accumulations converted to amounts per interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gribmill.identity import run_time
from gribmill.tiles.read.point.locate import Sampling


@dataclass(frozen=True, slots=True)
class Total:
    """The accumulation from `start` to `end` (minutes since the run); `precision` is that of its packing."""

    start: int
    end: int
    value: float
    precision: float = 0.0


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount in the `minutes` before a row; NaN if it cannot be derived."""

    minutes: int
    value: float


def deaccumulate(steps: Sequence[int], totals: Sequence[Sequence[Total]]) -> list[Amount]:
    """One amount per step, from all totals (since the run, bucket) that end there.

    NaN if the totals do not give exactly the amount of the step's own interval.
    """
    by_window = {(total.start, total.end): total for each in totals for total in each}
    found = []
    for step, length, ending_here in zip(steps, interval_lengths(steps), totals, strict=True):
        values = [_within(total, step - length, by_window) for total in ending_here if total.end == step and length > 0]
        found.append(Amount(length, next((value for value in values if not math.isnan(value)), math.nan)))
    return found


def interval_lengths(steps: Sequence[int]) -> list[int]:
    """The interval in minutes before each step: the gap, or the usual gap if a step is missing.

    A step is missing where the next gap is shorter (hourly data do not become three-hourly for one step), or, at the
    end of the series, where the gap before is shorter.
    """
    gaps = [step - before for before, step in zip([0, *steps], steps, strict=False)]
    lengths = []
    for number, gap in enumerate(gaps):
        if number + 1 < len(gaps):
            lengths.append(min(gap, gaps[number + 1]))
        elif number > 0 and gaps[number - 1] > 0:
            lengths.append(min(gap, gaps[number - 1]))
        else:
            lengths.append(gap)
    return lengths


def _within(total: Total, start: int, by_window: dict[tuple[int, int], Total]) -> float:
    if total.start == start:
        return total.value
    before = by_window.get((total.start, start))
    if before is None or total.start > start:
        return math.nan
    difference = total.value - before.value
    # Packing rounds both totals: a decrease of up to a step of each is rounding, a larger one is an invalid series.
    if difference < -(total.precision + before.precision) * 1.001:
        return math.nan
    return max(difference, 0.0) if not math.isnan(difference) else math.nan


@dataclass(frozen=True, slots=True)
class Column:
    """One variable over the hours. `minutes` are the intervals of amounts, otherwise None."""

    name: str
    long_name: str
    units: str
    values: tuple[float, ...]
    minutes: tuple[int, ...] | None = None
    # The meaning of each value of a code field.
    flags: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Series:
    """A point forecast; `columns` are in the usual order."""

    model: str
    run: str
    region: str
    lat: float
    lon: float
    point_lat: float
    point_lon: float
    distance_km: float
    method: Sampling
    steps: tuple[int, ...]
    columns: dict[str, Column]
    notes: tuple[str, ...] = ()
    attribution: str | None = None

    @property
    def times(self) -> list[datetime]:
        """The valid time of each row."""
        start = run_time(self.run)
        return [start + timedelta(minutes=step) for step in self.steps]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: missing numbers are null."""
        return {
            "model": self.model,
            "run": self.run,
            "region": self.region,
            "place": {"lat": self.lat, "lon": self.lon},
            "point": {"lat": self.point_lat, "lon": self.point_lon, "distance_km": round(self.distance_km, 3)},
            "method": self.method,
            "units": {name: column.units for name, column in self.columns.items()},
            "intervals": {
                name: [minutes / 60 for minutes in column.minutes]
                for name, column in self.columns.items()
                if column.minutes is not None
            },
            "flags": {
                name: {str(value): meaning for value, meaning in column.flags.items()}
                for name, column in self.columns.items()
                if column.flags
            },
            "hours": [
                {
                    "hour": _hours(step),
                    "time": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    **{name: _plain(column.values[row]) for name, column in self.columns.items()},
                }
                for row, (step, moment) in enumerate(zip(self.steps, self.times, strict=True))
            ],
            "notes": list(self.notes),
            "attribution": self.attribution,
        }

    def to_pandas(self) -> Any:
        """A pandas DataFrame indexed by valid time; units are in `frame.attrs`."""
        import pandas as pd

        index = pd.DatetimeIndex(self.times, name="time")
        frame = pd.DataFrame({name: column.values for name, column in self.columns.items()}, index=index)
        frame.attrs["units"] = {name: column.units for name, column in self.columns.items()}
        return frame


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(digits(value))


def digits(value: float) -> str:
    """With enough digits to distinguish any two float32 numbers."""
    return f"{value:.9g}"


def _hours(step: int) -> int | float:
    return step // 60 if step % 60 == 0 else step / 60
