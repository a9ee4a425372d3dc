"""Recovers lost jobs and prunes old ones. Every worker does this."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from gribmill.queue.errors import StoreError
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.output import OutputLogs, note_logs, remove_orphans

log = logging.getLogger("gribmill.worker")

PRUNE_EVERY_SECONDS = 3600.0


class Maintenance:
    """Runs at each heartbeat, and at the start of short-lived workers."""

    def __init__(self, store: Store, options: WorkerOptions, worker_id: str) -> None:
        self._store = store
        self._options = options
        self._worker_id = worker_id
        self._clocks = (time.monotonic(), time.time())
        self._sweep_after = 0.0
        self._next_prune = time.monotonic() + 60.0
        self._pruning: Iterator[None] | None = None

    def run_once(self) -> int:
        """Recover, expire, and begin to prune. Returns how many jobs and reservations changed, so that callers look for
        work."""
        if time.monotonic() >= self._next_prune:
            self._next_prune = time.monotonic() + PRUNE_EVERY_SECONDS
            self._pruning = self._prune()
        try:
            return self._store.reservations.expire() + self._recover()
        except StoreError as error:
            log.error("maintenance is postponed: %s", error)
            return 0

    @property
    def is_pruning(self) -> bool:
        return self._pruning is not None

    def prune_some(self) -> None:
        """Take the next step of pruning, if it has begun. Each takes milliseconds: all together may outlast a lease."""
        if self._pruning is None:
            return
        try:
            next(self._pruning)
        except StopIteration:
            self._pruning = None
        except StoreError as error:
            log.error("pruning is postponed: %s", error)
            self._pruning = None

    def take_back(self) -> None:
        """At start-up: recover jobs of dead processes on this machine, and shorten waits if the clock was set back."""
        try:
            found = self._store.maintenance.recover_dead_processes()
            note_logs(self._store, self._options.logs, found)
            if shortened := self._store.maintenance.shorten_waits():
                log.warning("the clock was set back: %d jobs waited too long for their next attempt", shortened)
        except StoreError as error:
            log.error("maintenance is postponed: %s", error)
            return
        if found:
            queued, ended = map(len, (found.requeued, found.ended))
            log.warning("jobs of dead workers: %d; queued again: %d, ended: %d", len(found), queued, ended)

    def _recover(self) -> int:
        self._notice_clock_jump()
        if time.monotonic() < self._sweep_after:
            return 0
        found = self._store.maintenance.recover()
        for worker_id in self._store.maintenance.lose_silent_workers(self._options.lease_seconds):
            log.warning("worker %s is lost: it sends no heartbeats", worker_id)
        note_logs(self._store, self._options.logs, found)
        if found:
            log.warning(
                "jobs of silent workers: %d; queued again: %d, ended: %d",
                len(found),
                *map(len, (found.requeued, found.ended)),
            )
        return len(found)

    def _notice_clock_jump(self) -> None:
        """After a jump of the wall clock, wait until all owners have renewed their leases."""
        before_steady, before_wall = self._clocks
        self._clocks = steady, wall = (time.monotonic(), time.time())
        jump = (wall - before_wall) - (steady - before_steady)
        if abs(jump) > self._options.lease_seconds / 3:
            log.warning("the clock jumped by %+.0f s: not looking for lost jobs for one lease", jump)
            self.postpone_sweep()
            if jump < 0:
                self.take_back()

    def postpone_sweep(self) -> None:
        """Postpone the search for lost jobs by one lease, so that living owners can renew theirs."""
        self._sweep_after = time.monotonic() + self._options.lease_seconds

    def _prune(self) -> Iterator[None]:
        """Remove old jobs, unless another worker did it within the hour; and on each machine the logs of removed ones.

        Orphans, for which every attempt is read, come last: if that takes too long, pruning is done.
        """
        term = self._store.workers.take_lease("prune", self._worker_id, PRUNE_EVERY_SECONDS, renew=False)
        if term is not None:
            yield from self._prune_jobs()
        if self._options.logs is not None:
            yield from self._remove_logs(self._options.logs)
        if term is not None and (orphans := self._store.maintenance.sweep_orphans()):
            log.warning("%d attempts had no running job: removed or ended", orphans)

    def _prune_jobs(self) -> Iterator[None]:
        self._store.jobs.renumber_far()
        completed = failed = 0
        for gone in self._store.maintenance.pruning(self._options.keep_completed_days, self._options.keep_failed_days):
            completed += gone.completed
            failed += gone.failed
            yield
        if completed or failed:
            log.info("pruned %d completed and %d failed jobs", completed, failed)

    def _remove_logs(self, logs: OutputLogs) -> Iterator[None]:
        total = 0
        for gone in remove_orphans(self._store, logs):
            total += gone
            yield
        if total:
            log.info("removed %d logs of pruned jobs", total)
