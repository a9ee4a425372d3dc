"""A point forecast as rows and columns. Sums, means and extremes have the time range of each value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from gribmill.grib.names.time_range import RUN, split_window
from gribmill.identity import run_time
from gribmill.tiles.read.point.daily import Daily, daily
from gribmill.tiles.read.point.place import Sampling
from gribmill.tiles.read.run_choice import RunChoice
from gribmill.tiles.read.time_zone import zone_name

# Start and end in minutes since the run.
TimeWindow = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Column:
    """One variable over the hours.

    `windows` are the time ranges of a sum, mean or extreme in minutes since the run, each None if there is no value or
    its message states no time range. It is None for an instant.
    """

    name: str
    long_name: str
    units: str
    values: tuple[float, ...]
    windows: tuple[TimeWindow | None, ...] | None = None
    statistic: str = "instant"
    # The meaning of each value of a code field.
    flags: dict[int, str] = field(default_factory=dict)
    # Whether the values have the opposite sign of the lexicon's variable.
    negated: bool = False

    def with_values(self, values: tuple[float, ...], units: str | None = None) -> Column:
        """The same column with other values, and perhaps in other units; faster than `dataclasses.replace`."""
        return Column(
            self.name,
            self.long_name,
            self.units if units is None else units,
            values,
            self.windows,
            self.statistic,
            self.flags,
            self.negated,
        )

    @property
    def minutes(self) -> tuple[int, ...] | None:
        """The length of each time range, 0 if there is none; None for an instant."""
        if self.windows is None:
            return None
        return tuple(0 if window is None else window[1] - window[0] for window in self.windows)

    @property
    def summed(self) -> bool:
        """Whether the values may be added up: no two of their time ranges overlap."""
        return self.statistic == "accum"


@dataclass(frozen=True, slots=True)
class Series:
    """A point forecast; `columns` are in the usual order.

    `run` is the newest run in it, `runs` are the runs of the rows. `zone` is the time zone of `times`.
    """

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
    runs: tuple[str, ...] = ()
    choice: RunChoice | None = None
    zone: tzinfo = UTC
    name: str = ""

    @property
    def times(self) -> list[datetime]:
        """The valid time of each row."""
        return valid_times(self.row_runs, self.steps, self.zone)

    @property
    def row_runs(self) -> tuple[str, ...]:
        """The run of each row."""
        return self.runs or (self.run,) * len(self.steps)

    @property
    def run_sentence(self) -> str:
        """How the run was chosen, and what is missing from it."""
        return self.choice.sentence if self.choice else ""

    def odd_minutes(self, column: Column, row: int) -> int | None:
        """The length of a value's time range, if neither the previous row nor the column's name implies it."""
        window = column.windows[row] if column.windows is not None else None
        if window is None or split_window(column.name) or column.name.endswith(RUN):
            return None
        before = 0
        if row:
            previous, this = (run_time(run) for run in self.row_runs[row - 1 : row + 1])
            before = self.steps[row - 1] - (this - previous) // timedelta(minutes=1)
        return None if window[0] == before else window[1] - window[0]

    def daily(self) -> Daily:
        """Minimum, maximum and sum of each day in the series' time zone."""
        return daily(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: missing numbers are null."""
        return {
            **self.facts(),
            "hours": [
                {
                    "hour": hour_number(step),
                    "time": time_text(moment),
                    "run": run,
                    **{name: _plain(column.values[row]) for name, column in self.columns.items()},
                }
                for row, (step, moment, run) in enumerate(zip(self.steps, self.times, self.row_runs, strict=True))
            ],
        }

    def facts(self) -> dict[str, Any]:
        """The same without the rows."""
        return {
            "model": self.model,
            "run": self.run,
            "region": self.region,
            "place": {"name": self.name or None, "lat": self.lat, "lon": self.lon},
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
            "notes": list(self.notes),
            "attribution": self.attribution,
            "run_choice": self.choice.to_dict() if self.choice else None,
            "timezone": zone_name(self.zone),
        }

    def to_dataframe(self) -> Any:
        """A pandas DataFrame indexed by valid time; its `attrs` have the units, the run and the place."""
        import pandas as pd

        index = pd.DatetimeIndex(pd.to_datetime(self.times, utc=True).tz_convert(self.zone), name="time")
        frame = pd.DataFrame({name: column.values for name, column in self.columns.items()}, index=index)
        if len({*self.row_runs}) > 1:
            frame.insert(0, "run", self.row_runs)
        frame.attrs["units"] = {name: column.units for name, column in self.columns.items()}
        frame.attrs |= {
            "model": self.model, "run": self.run, "region": self.region, "name": self.name, "lat": self.lat,
            "lon": self.lon, "run_choice": self.run_sentence,
        }  # fmt: skip
        return frame

    # The earlier name of this method.
    to_pandas = to_dataframe


def valid_times(runs: Sequence[str], steps: Sequence[int], zone: tzinfo) -> list[datetime]:
    """The valid time of each row, in a time zone."""
    starts = {run: run_time(run) for run in {*runs}}
    return [(starts[run] + timedelta(minutes=step)).astimezone(zone) for run, step in zip(runs, steps, strict=True)]


class SeriesList(tuple[Series, ...]):
    """The forecasts of several places, in their order."""

    __slots__ = ()

    def to_dataframe(self) -> Any:
        """One pandas DataFrame, indexed by place and valid time. A place without a name is `lat,lon`."""
        import pandas as pd

        frames = [one.to_dataframe() for one in self]
        keys = [one.name or f"{one.lat:g},{one.lon:g}" for one in self]
        whole = pd.concat(frames, keys=keys, names=["place", "time"]) if frames else pd.DataFrame()
        whole.attrs = {"units": {name: unit for one in frames for name, unit in one.attrs["units"].items()}}
        return whole


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(digits(value))


def digits(value: float) -> str:
    """The number with enough digits to distinguish any two float32 values."""
    return f"{value:.9g}"


def hour_number(step: int) -> int | float:
    """Converts a step in minutes to hours since the run."""
    return step // 60 if step % 60 == 0 else step / 60


def time_text(moment: datetime) -> str:
    """ISO 8601 to the second: `2026-11-17T05:00:00Z`, or with the offset of another time zone."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z" if moment.tzinfo is UTC else "+00:00")
