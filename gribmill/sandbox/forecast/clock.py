"""The time axis of synthetic weather."""

from __future__ import annotations

from datetime import UTC, datetime

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
DAY_HOURS = 24.0
YEAR_HOURS = 8766.0


def hours_since_epoch(moment: datetime) -> float:
    """A time as hours since EPOCH."""
    return (moment - EPOCH).total_seconds() / 3600
