"""Counts, sizes, durations and ages for people: `2 files`, `112.8 kB`, `3m 20s`."""

from __future__ import annotations

import math
import time
from datetime import datetime


def counted(number: int, noun: str) -> str:
    """The number and the noun, in the plural unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_size(count: float) -> str:
    """`112.8 kB`, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        shown = f"{count:.0f}" if unit == "B" else f"{count:.1f}"
        if float(shown) < 1000:
            return f"{shown} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def format_duration(seconds: float | None) -> str:
    """`85ms`, `4.2s`, `3m 20s`, `2h 05m`, `3d 4h`; empty if unknown."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
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
    """Seconds since this moment; negative if it is in the future, None if it is unknown."""
    return None if moment is None else time.time() - moment.timestamp()


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from start to end; None if one of them is unknown."""
    return None if start is None or end is None else round((end - start).total_seconds(), 3)
