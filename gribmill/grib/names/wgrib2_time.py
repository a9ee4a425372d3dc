"""The time of a field as wgrib2 writes it: `anl`, `6 hour fcst`, `0-1 day acc fcst`, `480-495 min ave fcst`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gribmill.grib.product.keys import Statistic

MINUTES = {"min": 1, "hour": 60, "day": 1440}
WGRIB2_STATISTICS: dict[str, Statistic] = {"acc": "accum", "ave": "avg", "max": "max", "min": "min"}
_WORDS = {statistic: word for word, statistic in WGRIB2_STATISTICS.items()}

# `495 min fcst` is an instant in minutes, `0-1 hour min fcst` the minimum over an hour.
_MOMENT = re.compile(r"([0-9]{1,6}) (min|hour|day) fcst")
_RANGE = re.compile(r"([0-9]{1,6})-([0-9]{1,6}) (min|hour|day) (acc|ave|max|min) fcst")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `start` to `end`, in minutes after the start of the run (equal for an instant), and the statistic."""

    start: int
    end: int
    statistic: Statistic = "instant"


@lru_cache(maxsize=4096)
def parse_time_range(text: str) -> TimeRange | None:
    """The time range; None for forms that do not occur in forecasts (means over days, climatologies …)."""
    if text == "anl":
        return TimeRange(0, 0)
    if moment := _MOMENT.fullmatch(text):
        end = int(moment[1]) * MINUTES[moment[2]]
        return TimeRange(end, end)
    if found := _RANGE.fullmatch(text):
        unit = MINUTES[found[3]]
        start, end = int(found[1]) * unit, int(found[2]) * unit
        return TimeRange(start, end, WGRIB2_STATISTICS[found[4]]) if start <= end else None
    return None


def write_time_range(time: TimeRange) -> str:
    """The text that wgrib2 writes: in minutes if not in whole hours, in days for whole days since the run began."""
    start, end = time.start, time.end
    if time.statistic == "instant":
        if end == 0:
            return "anl"
        return f"{end // 60} hour fcst" if end % 60 == 0 else f"{end} min fcst"
    unit = "min" if start % 60 or end % 60 else "day" if start == 0 and end % 1440 == 0 else "hour"
    return f"{start // MINUTES[unit]}-{end // MINUTES[unit]} {unit} {_WORDS[time.statistic]} fcst"
