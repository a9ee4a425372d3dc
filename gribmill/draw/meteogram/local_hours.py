"""Hours and midnights of a time zone, for the time axis of a meteogram."""

from __future__ import annotations

import math
from datetime import datetime, tzinfo

import numpy as np

from gribmill.arrays import Floats

# All offsets from UTC are multiples of this.
QUARTER = 900
TICK_HOURS = (1, 3, 6, 12, 24)


def local_hours(start: float, end: float, every: float, zone: tzinfo) -> list[tuple[float, datetime]]:
    """Regular hours of the local day, or parts of them, between two moments (seconds since 1970)."""
    minutes = round(every * 60)
    first = math.ceil(start / QUARTER) * QUARTER
    moments = ((float(second), datetime.fromtimestamp(second, zone)) for second in range(first, int(end) + 1, QUARTER))
    return [(second, local) for second, local in moments if (local.hour * 60 + local.minute) % minutes == 0]


def tick_hours(seconds: Floats, most: int, most_quarters: int) -> float:
    """The hours between two ticks: few enough for their labels; parts of an hour only for data at such steps."""
    span = float(seconds[-1] - seconds[0]) / 3600
    if len(seconds) > 1 and float(np.diff(seconds).min()) < 3600:
        found = next((part for part in (0.25, 0.5) if span / part <= most_quarters), None)
        if found is not None:
            return found
    return next((hours for hours in TICK_HOURS if span / hours <= most), TICK_HOURS[-1])


def tick_label(local: datetime, every: float) -> str:
    """`06`, or `06:15` if ticks are parts of an hour."""
    return f"{local:%H:%M}" if every < 1 else f"{local:%H}"


def zone_label(moments: list[datetime]) -> str:
    """`UTC`, `EST`, or `EDT/EST` if clocks change."""
    return "/".join(dict.fromkeys(moment.tzname() or "" for moment in moments))
