"""Which job goes first: live before backfill, the newest run before older ones, short hours before long ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
# A run weighs more than any forecast hour; hours since 2000 times this stays below LIVE until the year 2100.
_RUN_WEIGHT = 1000
LIVE = 1_000_000_000
# Looking for runs comes before everything, and costs next to nothing.
SCAN = 2_000_000_000
# What is built is told of, and its messages removed, before more is fetched.
PUBLISH = 1_900_000_000
# Housekeeping waits for nobody's forecast.
HOUSEKEEPING = -1_000_000_000


def file_priority(run: datetime, hour: int, *, live: bool) -> int:
    """The priority of a file's ingest and of its tiles."""
    since = int((run - _EPOCH) / timedelta(hours=1))
    return (LIVE if live else 0) + since * _RUN_WEIGHT - min(hour, _RUN_WEIGHT - 1)
