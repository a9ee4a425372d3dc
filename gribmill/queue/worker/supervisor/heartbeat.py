"""A worker's heartbeat: renews its leases, and finds out which of its jobs were cancelled or lost."""

from __future__ import annotations

import logging
import time
from typing import Literal

from gribmill.queue.errors import StoreError
from gribmill.queue.model import AttemptRef, Report, Snoozed
from gribmill.queue.store import Store
from gribmill.queue.worker.executor.pool import ExecutorPool
from gribmill.queue.worker.supervisor.attempt_log import AttemptLog
from gribmill.queue.worker.supervisor.lease_watchdog import LeaseWatchdog
from gribmill.queue.worker.supervisor.maintenance import Maintenance
from gribmill.queue.worker.supervisor.store_outage import StoreOutage

log = logging.getLogger("gribmill.worker")

LATE_SECONDS = 1.0

WorkerState = Literal["active", "draining", "stopped"]


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
