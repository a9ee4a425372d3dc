"""Formats times, sizes and numbers for pages."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from gribmill.errors import sentence

UNITS = ("B", "kB", "MB", "GB", "TB")


def duration(seconds: float | None) -> str:
    """`85 ms`, `4.2 s`, `3 min 20 s`, `2 h 05 min`, `3 d 4 h`; a dash when unknown."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 0:
        return f"−{duration(-seconds)}"
    if seconds < 0.9995:
        return f"{round(seconds * 1000)} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s" if whole < 600 else f"{whole // 60} min"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def relative(moment: datetime, now: datetime) -> str:
    """`just now`, `3 min ago`, `in 2 h 05 min`."""
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 1.5:
        return "just now"
    # Whole seconds: a page that refreshes should not flicker between tenths.
    text = duration(max(2.0, float(round(abs(seconds)))) if abs(seconds) < 60 else abs(seconds)).replace(".0 s", " s")
    return f"{text} ago" if seconds > 0 else f"in {text}"


def exact(moment: datetime) -> str:
    """`2026-11-18 08:17:00 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def clock(moment: datetime) -> str:
    """`Wed 08:17 UTC`."""
    return f"{moment.astimezone(UTC):%a %H:%M} UTC"


def size(count: float | None) -> str:
    """`112.8 kB`, in powers of 1000; a dash when unknown."""
    if count is None:
        return "–"
    for unit in UNITS[:-1]:
        shown = f"{count:.0f}" if unit == "B" else f"{count:.1f}"
        if float(shown) < 1000:
            return f"{shown} {unit}"
        count /= 1000
    return f"{count:.1f} {UNITS[-1]}"


def number(count: float | None) -> str:
    """`12,345`; a dash when unknown."""
    return "–" if count is None else f"{count:,}"


def percent(share: float | None) -> str:
    """`2.5 %`; 0 % and 100 % only if exact; a dash when unknown."""
    if share is None:
        return "–"
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "99.9 %"
    return f"{share * 100:.1f} %".replace(".0 %", " %")


def status(name: str) -> str:
    """A status in words: `pending` jobs are queued, `processing` ones running."""
    return {"pending": "queued", "processing": "running"}.get(name, name.replace("_", " "))


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 job`, `2 jobs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or f'{noun}s'}"


def capital(text: str) -> str:
    """A message as a sentence: capitalized, with a full stop."""
    shown = sentence(text.strip())
    return f"{shown[:1].upper()}{shown[1:]}{'' if shown[-1:] in '.!?…' else '.'}"
