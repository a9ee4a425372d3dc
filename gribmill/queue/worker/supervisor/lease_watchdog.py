"""Self-fencing: a worker that cannot renew its leases stops its own jobs before others may take them.

While a suspended process blocks all writers of the database, no other worker can take them, so they continue.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("gribmill.worker")

LOOK_SECONDS = 0.2
# After a block, all writers queue up; this is the time for our heartbeat to get through.
TURN_SECONDS = 2.0


class LeaseWatchdog(threading.Thread):
    """Runs in its own thread, so that it acts even while the supervisor hangs in a write to a failing disk."""

    def __init__(self, lease_seconds: float, kill: Callable[[], int], blocked: Callable[[], bool]) -> None:
        super().__init__(name="fence", daemon=True)
        self._lease_seconds = lease_seconds
        # The margin covers the time between reading our clock and the database's.
        self._patience = lease_seconds - max(0.2, lease_seconds / 6)
        self._kill = kill
        self._blocked = blocked
        self._unblocked = 0.0
        self._renewed = time.monotonic()
        self._changed = threading.Condition()
        self._closed = False
        self.fired = 0

    def renew(self, at: float) -> None:
        """Record that a heartbeat that began at this monotonic time renewed the leases."""
        with self._changed:
            self._renewed = max(self._renewed, at)

    @property
    def lapsed(self) -> bool:
        """Whether every lease has expired, so that other workers may run those jobs."""
        return time.monotonic() >= self._renewed + self._lease_seconds

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def run(self) -> None:
        with self._changed:
            while not self._closed:
                left = self._renewed + self._patience - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                if self._is_blocked():
                    self._changed.wait(LOOK_SECONDS)
                    continue
                killed = self._kill()
                if killed:
                    self.fired += 1
                    log.error("no heartbeat for %.1f s: stopped %d executors of our own", self._patience, killed)
                self._changed.wait(self._patience)

    def _is_blocked(self) -> bool:
        """Whether all writers are blocked, or were until just now."""
        now = time.monotonic()
        if self._blocked():
            self._unblocked = now + TURN_SECONDS
        return now < self._unblocked
