"""A column of a point forecast, hourly or every 15 minutes, as Open-Meteo defines it.

Instantaneous values are valid at the hour. Sums and means are over the preceding hour: longer time ranges are spread
evenly over their hours, shorter ones are combined if they fill the hour. If a model has a row every three or six hours,
instantaneous values in between are interpolated; a missing hour stays missing. The same applies to 15-minute values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from gribmill.identity import run_time
from gribmill.tiles.read.point.join_runs import missing_hours
from gribmill.tiles.read.point.series import Column, Series

HOUR, QUARTER = 3600, 900
FULL_CIRCLE = 360.0
Hourly = dict[int, float]


def hourly_values(series: Series, column: Column, step: int = HOUR) -> Hourly:
    """The values by time in seconds since 1970, every `step` seconds; missing values are left out."""
    if column.windows is None:
        return _instants(series, column, step)
    return _windowed(series, column, step)


def _instants(series: Series, column: Column, step: int) -> Hourly:
    times = [int(moment.timestamp()) for moment in series.times]
    rows = [*zip(times, column.values, strict=True)]
    found = {moment: value for moment, value in rows if moment % step == 0 and not math.isnan(value)}
    if not column.flags and any(after - before > step for before, after in pairwise(times)):
        holes = [times[0] + 60 * (minute - series.steps[0]) for minute in missing_hours(series.steps)]
        for (before, low), (after, high) in pairwise(rows):
            if math.isnan(low + high) or any(before < hole < after for hole in holes):
                continue
            for moment in range((before // step + 1) * step, after, step):
                share = (moment - before) / (after - before)
                found.setdefault(moment, _between(low, high, share, circular=column.units == "°"))
    return found


def _between(low: float, high: float, share: float, *, circular: bool) -> float:
    if not circular:
        return low + (high - low) * share
    turn = (high - low + FULL_CIRCLE / 2) % FULL_CIRCLE - FULL_CIRCLE / 2
    return (low + turn * share) % FULL_CIRCLE or FULL_CIRCLE


def _windowed(series: Series, column: Column, step: int) -> Hourly:
    found: Hourly = {}
    parts: dict[int, tuple[float, int]] = {}
    for begin, end, value in _ranges(series, column):
        if end - begin >= step and (end - begin) % step == 0 and end % step == 0:
            count = (end - begin) // step
            for moment in range(begin + step, end + step, step):
                found.setdefault(moment, value / count if column.summed else value)
        elif end - begin < step:
            moment = -(-end // step) * step
            if begin >= moment - step:
                total, covered = parts.get(moment, (0.0, 0))
                parts[moment] = total + value * (1 if column.summed else end - begin), covered + end - begin
    for moment, (total, covered) in parts.items():
        if covered == step:
            found.setdefault(moment, total if column.summed else total / step)
    return found


def _ranges(series: Series, column: Column) -> Iterator[tuple[int, int, float]]:
    starts = {run: int(run_time(run).timestamp()) for run in {*series.row_runs}}
    for run, window, value in zip(series.row_runs, column.windows or (), column.values, strict=True):
        if window is not None and not math.isnan(value):
            yield starts[run] + 60 * window[0], starts[run] + 60 * window[1], value
