"""Times as the database stores them: UTC text, `YYYY-MM-DD HH:MM:SS.mmm`, which sorts chronologically."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

Clock = Callable[[], float]
"""Returns seconds since the epoch: `time.time`, or a fake in tests."""

# Every job is stamped, and a lookup takes half the time of formatting.
_MILLISECONDS = tuple(f".{n:03d}" for n in range(1000))


def to_text(seconds: float) -> str:
    """Epoch seconds as database text."""
    whole, fraction = divmod(round(seconds * 1000), 1000)
    return _second(whole) + _MILLISECONDS[fraction]


@lru_cache(maxsize=8)
def _second(whole: int) -> str:
    """Cached, because thousands of jobs share a second."""
    # strftime does not pad years before 1000, which would then sort after all others.
    year, month, day, hour, minute, second, *_ = time.gmtime(whole)
    return f"{year:04d}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second:02d}"


def to_datetime(text: str | None) -> datetime | None:
    """Database text as an aware datetime; None if it is not a time, because manually written rows may hold anything."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):  # an offset can lead beyond the years 1 to 9999
        return None


def to_rfc3339(moment: datetime | None) -> str | None:
    """The format of `--json` and the API: `2026-11-16T12:00:00.123Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None
