"""The data of a meteogram: variables over time at one point, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gribmill.arrays import Floats
from gribmill.draw.errors import DrawError
from gribmill.tiles.read.units import conversion, spelled

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Series

FRIENDLIER = {"K": "°C", "Pa": "hPa", "1": "%", "kg m-2": "mm", "kg m-2 s-1": "mm/h", "m s-1": "m/s"}


@dataclass(frozen=True, slots=True)
class Curves:
    """Aware, ascending times; values by name with NaN where missing; amounts are per interval, not totals."""

    times: Sequence[datetime]
    values: Mapping[str, ArrayLike]
    units: Mapping[str, str]
    long_names: Mapping[str, str] = field(default_factory=dict)
    minutes: Mapping[str, Sequence[int]] = field(default_factory=dict)  # the interval of each amount
    title: str = ""
    subtitle: str = ""
    attribution: str = ""
    lat: float | None = None  # with lon: nights are shaded
    lon: float | None = None
    zone: tzinfo = UTC  # of the time axis

    def __post_init__(self) -> None:
        count = len(self.times)
        if not count or not self.values:
            raise DrawError("there is nothing to draw: the series has no hours or no quantities")
        if any(after <= before for before, after in zip(self.times, self.times[1:], strict=False)):
            raise DrawError("the times of a series must increase")
        for name, column in self.values.items():
            if np.shape(column) != (count,):
                raise DrawError(f"{name} has {np.size(column)} values for {count} times")

    def get(self, name: str) -> Floats:
        """The values of one quantity."""
        return np.asarray(self.values[name], dtype=np.float64)

    def label(self, name: str) -> str:
        """The quantity in words."""
        return self.long_names.get(name) or name

    @property
    def seconds(self) -> Floats:
        """Times as seconds since 1970."""
        return np.array([moment.timestamp() for moment in self.times])


def curves_of(series: Series) -> Curves:
    """A point forecast (`gribmill.point`) as curves."""
    columns = series.columns
    place = (
        f"{abs(series.lat):g}°{'N' if series.lat >= 0 else 'S'} {abs(series.lon):g}°{'E' if series.lon >= 0 else 'W'}"
    )
    return Curves(
        times=series.times,
        values={name: np.asarray(column.values, np.float64) for name, column in columns.items()},
        units={name: column.units for name, column in columns.items()},
        long_names={name: column.long_name for name, column in columns.items()},
        minutes={name: column.minutes for name, column in columns.items() if column.summed and column.minutes},
        title=f"Forecast for {series.name}, {place}" if series.name else f"Forecast for {place}",
        subtitle="  ".join(filter(None, [series.model.upper(), _runs(series), series.region, series.run_sentence])),
        attribution=series.attribution or "",
        lat=series.lat,
        lon=series.lon,
        zone=series.zone,
    )


def _runs(series: Series) -> str:
    """`run 20261117 00Z`, or `runs 20261117 01Z, 20261117 00Z`."""
    runs = [f"{run.replace('_', ' ')}Z" for run in dict.fromkeys(series.row_runs)]
    return f"run{'s' if len(runs) > 1 else ''} {', '.join(runs)}"


def friendly(curves: Curves) -> Curves:
    """The curves with °C for K, hPa for Pa and % for fractions; units chosen by the user are kept."""
    values, units = dict(curves.values), dict(curves.units)
    for name, given in curves.units.items():
        wanted = FRIENDLIER.get(spelled(given))
        how = conversion(given, wanted) if wanted and name in values else None
        if wanted and how:
            values[name], units[name] = how(curves.get(name)), wanted
    return replace(curves, values=values, units=units)


def with_gaps(curves: Curves) -> Curves:
    """The curves with a gap at each missing hour, so that no line bridges it.

    A step longer than both adjacent steps is such a gap; a model's change to longer steps is not.
    """
    seconds = curves.seconds
    steps = np.diff(seconds)
    if len(steps) < 3:
        return curves
    before, after = np.append(np.inf, steps[:-1]), np.append(steps[1:], np.inf)
    before[0], after[-1] = after[0], before[-1]
    gaps = np.flatnonzero((steps > before * 1.01) & (steps > after * 1.01)) + 1
    if not len(gaps):
        return curves
    moments = np.insert(seconds, gaps, (seconds[gaps - 1] + seconds[gaps]) / 2)
    return replace(
        curves,
        times=[datetime.fromtimestamp(float(moment), UTC) for moment in moments],
        values={name: np.insert(curves.get(name), gaps, np.nan) for name in curves.values},
        minutes={name: np.insert(m, gaps, 0).tolist() for name, m in curves.minutes.items()},
    )


def first_moment(curves: Curves) -> float:
    """The start of the time axis: the first time, or the start of the first amount before it."""
    seconds = curves.seconds
    begins = [seconds[0]]
    for name in curves.minutes:
        present = np.isfinite(curves.get(name))
        begins += (seconds - bar_seconds(curves, name))[present].tolist()
    return float(min(begins))


def bar_seconds(curves: Curves, name: str) -> Floats:
    """The interval of each amount: as given, or else since the previous time."""
    if name in curves.minutes:
        return np.asarray(curves.minutes[name], dtype=np.float64) * 60
    steps = np.diff(curves.seconds)
    return np.append(steps[:1], steps) if len(steps) else np.array([3600.0])


def bar_at(curves: Curves, name: str, moments: Floats) -> Floats:
    """The amount whose interval contains each moment; NaN if there is none."""
    values = curves.get(name)
    present = np.isfinite(values)
    if not present.any():
        return np.full(np.shape(moments), np.nan)
    values, ends, width = values[present], curves.seconds[present], bar_seconds(curves, name)[present]
    which = np.searchsorted(ends, moments).clip(0, len(ends) - 1)
    return np.where((moments > ends[which] - width[which]) & (moments <= ends[which]), values[which], np.nan)
