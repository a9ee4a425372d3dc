"""Time ranges as text: as wgrib2 writes them, and as part of the name of a sum, mean or extreme.

wgrib2 writes `anl`, `6 hour fcst`, `0-1 day acc fcst`, `480-495 min ave fcst`.

In names, `tp` is the sum since the run began (also `tp_run`), `tp_bucket` the shortest sum that ends at an hour, and
`tp_6h` or `tp_15min` any sum of that length. `t2m_max` is the extreme over the shortest time that ends at an hour,
`t2m_max_12h` that of 12 hours.
"""

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

RUN, BUCKET = "_run", "_bucket"
LONGEST_MINUTES = 100 * 24 * 60
_LENGTH = re.compile(r"(?P<base>[A-Za-z0-9].*)_(?P<count>[1-9][0-9]{0,5})(?P<unit>min|h)")
_UNIT_MINUTES = {"min": 1, "h": 60}
# How the lexicon's descriptions refer to a time range of unknown length.
_ANY_RANGE = re.compile(r" (since the run began|since the bucket was last emptied|(in|over) the window)\b")


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


def window_text(minutes: int) -> str:
    """The length of a time range as part of a name: `6h`, or `15min` if it is not in whole hours."""
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}min"


def with_window(base: str, minutes: int) -> str:
    """The name of a quantity over a time range of that length."""
    return f"{base}_{window_text(minutes)}"


def split_window(name: str) -> tuple[str, int] | None:
    """Splits `tp_6h` into `tp` and 360; None for names that do not end with a length."""
    found = _LENGTH.fullmatch(name)
    if found is None:
        return None
    minutes = int(found["count"]) * _UNIT_MINUTES[found["unit"]]
    return (found["base"], minutes) if minutes <= LONGEST_MINUTES else None


def base_name(name: str) -> str:
    """The name without its time range: `tp` for `tp`, `tp_run`, `tp_bucket` and `tp_6h`."""
    if found := split_window(name):
        return found[0]
    return name.removesuffix(BUCKET).removesuffix(RUN)


def without_range(long_name: str) -> str:
    """The description without its time range: `Precipitation` for `Precipitation since the run began`."""
    return _ANY_RANGE.sub("", long_name)


def with_range(long_name: str, minutes: int) -> str:
    """The description with the length of the time range: `Precipitation over 6 h`."""
    length = f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"
    return f"{without_range(long_name)} over {length}"
