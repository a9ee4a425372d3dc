"""Durations as people write and read them: `90`, `2h`, `1d 12h`; `3m 20s`."""

from __future__ import annotations

import math
import re
import time
from datetime import datetime

import click

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([smhdw]?)")
LONGEST_SECONDS = 100 * 366 * 86_400.0


class DurationType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A click parameter in seconds: a number, or numbers with the units s, m, h, d, w."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        seconds = parse_duration(str(value))
        if seconds is None:
            self.fail(f"{value!r} is no duration: write seconds (90), or units as in 20m, 2h or 1d 12h", param, ctx)
        return seconds


DURATION = DurationType()


def parse_duration(text: str) -> float | None:
    """Seconds, or None when the text is no duration."""
    rest = text.strip().lower()
    if not rest:
        return None
    total, parts = 0.0, 0
    while rest:
        match = _PART.match(rest)
        # A number without a unit can only stand alone: `1h 30` might mean minutes or seconds.
        if not match or (not match[2] and (parts or match.end() != len(rest))):
            return None
        total += float(match[1]) * _UNITS[match[2] or "s"]
        parts += 1
        rest = rest[match.end() :].lstrip()
    return total if total <= LONGEST_SECONDS else None


def readable(seconds: float | None) -> str:
    """`85ms`, `4.2s`, `3m 20s`, `2h 05m`, `3d 4h`; empty when unknown."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if seconds < 0:
        return f"-{readable(-seconds)}"
    if seconds < 0.9995:
        return f"{round(seconds * 1000)}ms"
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86_400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86_400}d {whole % 86_400 // 3600}h"


def age_seconds(moment: datetime | None) -> float | None:
    """How long ago; negative for the future, None when unknown."""
    return None if moment is None else time.time() - moment.timestamp()


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """How long it took; None while one end is unknown."""
    return None if start is None or end is None else round((end - start).total_seconds(), 3)
