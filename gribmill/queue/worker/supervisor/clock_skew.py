"""Warns if the host's clock differs from the database's. The queue does not use it; logs and schedules do."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("gribmill.worker")

TOLERATED_SECONDS = 5.0
WARN_EVERY_SECONDS = 3600.0


class ClockSkew:
    """Gets the difference at each heartbeat; warns when it becomes too large, then once an hour."""

    def __init__(self) -> None:
        self._warn_at = 0.0

    def note(self, ahead_seconds: float) -> None:
        if abs(ahead_seconds) <= TOLERATED_SECONDS:
            self._warn_at = 0.0
            return
        now = time.monotonic()
        if now < self._warn_at:
            return
        self._warn_at = now + WARN_EVERY_SECONDS
        log.warning("%s; jobs and leases use the database's clock, logs do not: run NTP", describe_skew(ahead_seconds))


def describe_skew(ahead_seconds: float) -> str:
    side = "ahead of" if ahead_seconds > 0 else "behind"
    return f"the clock of this host is {abs(ahead_seconds):.0f} s {side} the database's"
