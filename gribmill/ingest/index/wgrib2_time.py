"""The time of a field as wgrib2 writes it: `anl`, `6 hour fcst`, `0-1 day acc fcst`, `480-495 min ave fcst`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Statistic = Literal["instant", "acc", "ave", "max", "min"]
MINUTES = {"min": 1, "hour": 60, "day": 1440}

# `495 min fcst` is a moment in minutes, `0-1 hour min fcst` the lowest of an hour.
_MOMENT = re.compile(r"([0-9]{1,6}) (min|hour|day) fcst")
_SPAN = re.compile(r"([0-9]{1,6})-([0-9]{1,6}) (min|hour|day) (acc|ave|max|min) fcst")


@dataclass(frozen=True, slots=True)
class Window:
    """Minutes after the run began, from when to when (the same for a moment), and what was done between."""

    start: int
    end: int
    statistic: Statistic = "instant"


@lru_cache(maxsize=4096)
def parse_window(text: str) -> Window | None:
    """The window; None for forms that no plain forecast has."""
    if text == "anl":
        return Window(0, 0)
    if moment := _MOMENT.fullmatch(text):
        end = int(moment[1]) * MINUTES[moment[2]]
        return Window(end, end)
    if span := _SPAN.fullmatch(text):
        unit = MINUTES[span[3]]
        start, end = int(span[1]) * unit, int(span[2]) * unit
        statistic: Statistic = span[4]  # type: ignore[assignment]
        return Window(start, end, statistic) if start <= end else None
    return None


def write_window(window: Window) -> str:
    """As wgrib2 would: minutes where hours do not divide, days where a sum from the start does."""
    start, end, statistic = window.start, window.end, window.statistic
    if statistic == "instant":
        if end == 0:
            return "anl"
        return f"{end // 60} hour fcst" if end % 60 == 0 else f"{end} min fcst"
    unit = "min" if start % 60 or end % 60 else "day" if start == 0 and end % 1440 == 0 else "hour"
    return f"{start // MINUTES[unit]}-{end // MINUTES[unit]} {unit} {statistic} fcst"
