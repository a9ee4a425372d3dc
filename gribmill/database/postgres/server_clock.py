"""The server's time without a query: this host's monotonic clock plus a measured offset."""

from __future__ import annotations

import time

from gribmill.database.postgres.connection import Connection

LOOKS = 5
GOOD_FOR_SECONDS = 60.0


class ServerClock:
    """Accurate to half a round trip, independent of this host's wall clock."""

    __slots__ = ("_offset", "_set_at")

    def __init__(self, connection: Connection) -> None:
        self._set_at = 0.0
        self._offset = 0.0
        self.set(connection)

    def now(self) -> float:
        return time.monotonic() + self._offset

    @property
    def is_old(self) -> bool:
        return time.monotonic() > self._set_at + GOOD_FOR_SECONDS

    def set(self, connection: Connection) -> None:
        """Measure the offset with the fastest of a few queries, assuming equal latency in both directions."""
        best = float("inf")
        for _ in range(LOOKS):
            asked = time.monotonic()
            row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
            took = time.monotonic() - asked
            if took < best and row is not None:
                best, self._offset = took, row[0] - (asked + took / 2)
        self._set_at = time.monotonic()
