"""A point forecast as rows and columns. Sums, means and extremes have the time range of each value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gribmill.identity import run_time
from gribmill.tiles.read.point.locate import Sampling

# Start and end in minutes since the run.
TimeWindow = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Column:
    """One variable over the hours.

    `windows` are the time ranges of a sum, mean or extreme in minutes since the run, each None where there is no
    value or its message states no time range. Of an instant there are none.
    """

    name: str
    long_name: str
    units: str
    values: tuple[float, ...]
    windows: tuple[TimeWindow | None, ...] | None = None
    statistic: str = "instant"
    # The meaning of each value of a code field.
    flags: dict[int, str] = field(default_factory=dict)

    @property
    def minutes(self) -> tuple[int, ...] | None:
        """The length of each time range, 0 where there is none; None for an instant."""
        if self.windows is None:
            return None
        return tuple(0 if window is None else window[1] - window[0] for window in self.windows)

    @property
    def summed(self) -> bool:
        """Whether the values may be added: no two of their time ranges overlap."""
        return self.statistic == "accum"


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

    def odd_minutes(self, column: Column, row: int) -> int | None:
        """The length of a value's time range where it is not the time since the row before."""
        window = column.windows[row] if column.windows is not None else None
        if window is None or window[0] == (self.steps[row - 1] if row else 0):
            return None
        return window[1] - window[0]

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
            "window_minutes": {
                name: [None if window is None else list(window) for window in column.windows]
                for name, column in self.columns.items()
                if column.windows is not None
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
