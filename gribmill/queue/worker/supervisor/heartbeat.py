"""A worker's heartbeat: renews its leases, and finds out which of its jobs were cancelled or lost.

A worker that cannot renew its leases fences itself: a watchdog stops its jobs before others may take them. While a
suspended process blocks all writers of the database, no other worker can take them, so they continue.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from gribmill.queue.errors import StoreError
from gribmill.queue.model import AttemptRef, Report, Snoozed, WorkerState
from gribmill.queue.store import Store
from gribmill.queue.worker.attempt_log import AttemptLog
from gribmill.queue.worker.executor.pool import ExecutorPool
from gribmill.queue.worker.outage import StoreOutage
from gribmill.queue.worker.supervisor.maintenance import Maintenance

log = logging.getLogger("gribmill.worker")

LATE_SECONDS = 1.0
LOOK_SECONDS = 0.2
# After a block, all writers queue up; this is the time for our heartbeat to get through.
TURN_SECONDS = 2.0


class WorkerHeartbeat:
    """Sends three heartbeats per lease. `strays` are claims to return because no executor has them."""

    def __init__(
        self,
        store: Store,
        pool: ExecutorPool,
        attempts: AttemptLog,
        outage: StoreOutage,
        watchdog: LeaseWatchdog,
        maintenance: Maintenance,
    ) -> None:
        self._store = store
        self._pool = pool
        self._attempts = attempts
        self._outage = outage
        self._watchdog = watchdog
        self._maintenance = maintenance
        self._last = 0.0
        self.next_at = 0.0
        self.strays: list[Report] = []

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.next_at

    def hurry(self) -> None:
        """Make the next heartbeat due now."""
        self.next_at = 0.0

    def beat(self, state: WorkerState) -> bool:
        """Renew every lease in one statement; returns whether the store could be written. Continues while draining."""
        began = time.monotonic()
        lease = self._pool.options.lease_seconds
        self.next_at = began + lease / 3
        kinds = [key for lane in self._pool.lanes for key in lane.types]
        try:
            held = self._store.workers.heartbeat(self._pool.worker_id, lease, types=kinds, state=state)
        except StoreError as error:
            self._outage.failed(error)
            self.next_at = self._outage.back_at
            return False
        self._outage.over()
        self._note_late(lease)
        self._watchdog.renew(began)
        self._drop_lost({one.ref for one in held})
        self._return_strays({one.ref for one in held})
        self._pool.stop_cancelled([one.ref for one in held if one.cancel_requested])
        return True

    def _note_late(self, lease: float) -> None:
        """If our heartbeat was late, others may be late for the same reason: give them time before the next sweep."""
        now = time.monotonic()
        if self._last and now - self._last > lease / 3 + LATE_SECONDS:
            self._maintenance.postpone_sweep()
        self._last = now

    def _drop_lost(self, held: set[AttemptRef]) -> None:
        for executor in self._pool.executors:
            if executor.batch and not executor.batch.keys() & held:
                fields = self._attempts.job_fields(executor.head)
                log.error("job %d was taken from us: stopping its executor", executor.head.id, extra=fields)
                executor.stop("fenced", 0.0)

    def _return_strays(self, held: set[AttemptRef]) -> None:
        """Return claims that no executor has. (A claim whose response was lost would otherwise stay idle forever.)"""
        known = {ref for executor in self._pool.executors for ref in executor.batch} | self._pool.ending.keys()
        for ref in held - known:
            log.error("job %d is ours, but no executor has it: giving it back", ref.job_id)
            self.strays.append(Report(ref, Snoozed(0, "claimed by a worker that never heard of it")))


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
