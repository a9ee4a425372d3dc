"""The time of a field as NOAA's index files write it: `anl`, `6 hour fcst`, `0-1 day acc fcst`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from gribmill.grib.product.keys import Statistic

UNITS = {"min": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
STATISTICS: dict[str, Statistic] = {"acc": "accum", "ave": "avg", "max": "max", "min": "min"}

# `495 min fcst` is a moment in minutes, `0-1 hour min fcst` a minimum.
_MOMENT = re.compile(r"(\d{1,6}) (min|hour|day) fcst")
_WINDOW = re.compile(r"(\d{1,6})-(\d{1,6}) (min|hour|day) (acc|ave|max|min) fcst")


@dataclass(frozen=True, slots=True)
class NoaaWindow:
    """From when to when after the run began (the same for a moment), and what was done between."""

    start: timedelta
    end: timedelta
    statistic: Statistic = "instant"


def parse_window(text: str) -> NoaaWindow | None:
    """The window; None for forms that no plain forecast has (means over days, climates …)."""
    if text == "anl":
        return NoaaWindow(timedelta(0), timedelta(0))
    if moment := _MOMENT.fullmatch(text):
        end = int(moment[1]) * UNITS[moment[2]]
        return NoaaWindow(end, end)
    if window := _WINDOW.fullmatch(text):
        unit = UNITS[window[3]]
        return NoaaWindow(int(window[1]) * unit, int(window[2]) * unit, STATISTICS[window[4]])
    return None
