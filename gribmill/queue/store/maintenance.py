"""Maintenance: recovering lost jobs and pruning old ones. Any worker may do it at any time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from gribmill.queue.model import AttemptRef, Json, NewEvent, Recovered, Status, Worker
from gribmill.queue.process_identity import has_died
from gribmill.queue.store.base import Facet, retried

SWEEP_LIMIT = 500
ORPHANED = "its job was not running"
# A writer normally waits milliseconds: a longer wait means that some process blocked all writers.
LONGEST_TURN_SECONDS = 1.0
# No valid lease is longer: a later expiry was written before the clock was set back.
FARTHEST_LEASE_SECONDS = 2 * 3600.0

# Small enough not to delay claims.
CHUNK = 1000
WORKERS_KEPT = timedelta(days=7)
RESERVATIONS_KEPT = timedelta(days=7)
TURNS_KEPT = timedelta(days=1)
# Longer than any window of a trigger (30 days). Event ids are remembered as long.
FIRINGS_KEPT = timedelta(days=31)
EVENTS_KEPT = timedelta(days=31)
DONE: tuple[Status, ...] = ("completed", "cancelled")


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many jobs were removed, or would be in a dry run."""

    completed: int
    failed: int


class _Count(NamedTuple):
    n: int


class _Id(NamedTuple):
    id: int


class _SilentWorker(NamedTuple):
    id: str


class _DelayedJob(NamedTuple):
    id: int
    next_run_at: datetime
    began_at: datetime


class Upkeep(Facet):
    """Recovering and pruning jobs."""

    @retried
    def recover(self) -> Recovered:
        """End attempts whose lease has expired, at most 500 at a time.

        Ends none if it had to wait for the write lock: other workers waited too, and must be able to renew first.
        """
        self.database.tidy()
        with self.database.read() as tx:
            if not tx.any_lost(FARTHEST_LEASE_SECONDS):
                return Recovered()
        asked = time.monotonic()
        with self.database.write() as tx:
            if time.monotonic() - asked > LONGEST_TURN_SECONDS:
                return Recovered()
            recovered = tx.recover(SWEEP_LIMIT, FARTHEST_LEASE_SECONDS)
        self.database.announce()
        return recovered

    def recover_dead_processes(self) -> Recovered:
        """End the attempts of dead worker processes on this machine, without waiting for their leases."""
        with self.database.read() as tx:
            workers = tx.query(Worker, "workers/list")
        gone = [one for one in workers if one.state != "stopped" and _has_died(one.metadata)]
        if not gone:
            return Recovered()
        recovered = Recovered()
        for worker in gone:
            found = self._recover_worker(worker.id)
            recovered = Recovered(recovered.requeued + found.requeued, recovered.ended + found.ended)
        self.database.announce()
        return recovered

    @retried
    def _recover_worker(self, worker_id: str) -> Recovered:
        with self.database.write() as tx:
            return tx.recover_worker(worker_id)

    def shorten_waits(self) -> int:
        """After the clock was set back, restart the waits of retries and snoozes from now.

        Their times were computed while the clock was ahead. Times given by a user are kept.
        """
        total = 0
        while shortened := self._shorten_some():
            total += shortened
        if total:
            self.database.announce()
        return total

    @retried
    def _shorten_some(self) -> int:
        with self.database.read() as tx:
            if not tx.query(_DelayedJob, "jobs/delayed_ahead", {"limit": 1}):
                return 0
        with self.database.write() as tx:
            shortened = 0
            for job in tx.query(_DelayedJob, "jobs/delayed_ahead", {"limit": CHUNK}):
                due = tx.now + (job.next_run_at - job.began_at)
                shortened += tx.change("jobs/delay", {"job_id": job.id, "next_run_at": due, "was": job.next_run_at})
        return shortened

    @retried
    def lose_silent_workers(self, silent_seconds: float) -> Sequence[str]:
        """Publish `worker.lost` for silent workers, with or without jobs; once, until they send a heartbeat again."""
        with self.database.read() as tx:
            wanted = {"before": tx.now - timedelta(seconds=silent_seconds), "limit": SWEEP_LIMIT}
            if not tx.query(_SilentWorker, "workers/silent", wanted):
                return ()
        lost = []
        with self.database.write() as tx:
            for worker in tx.query(_SilentWorker, "workers/silent", wanted):
                if tx.change("workers/lose", {"worker_id": worker.id}):
                    reason = f"no heartbeat for {silent_seconds:g} s"
                    tx.publish(NewEvent("worker.lost", {"worker_id": worker.id, "reason": reason}))
                    lost.append(worker.id)
        return lost

    @retried
    def sweep_orphans(self) -> int:
        """Remove attempts without a job, and end running attempts whose job is not running.

        Only manual SQL leaves such rows. Finding them reads every attempt, so once an hour is enough.
        """
        with self.database.read() as tx:
            orphans = tx.query(AttemptRef, "attempts/orphans", {"limit": SWEEP_LIMIT})
        if not orphans:
            return 0
        with self.database.write() as tx:
            return sum(
                tx.change("attempts/remove_orphan", one._asdict())
                or tx.change("attempts/lose_orphan", {**one._asdict(), "error": ORPHANED})
                for one in orphans
            )

    def prune(self, keep_completed_days: float, keep_failed_days: float, *, dry_run: bool = False) -> Pruned:
        """Remove old jobs with their attempts; completed and cancelled jobs have another retention than failed ones."""
        if dry_run:
            done = self._count_prunable(DONE, timedelta(days=keep_completed_days))
            return Pruned(done, self._count_prunable(("failed",), timedelta(days=keep_failed_days)))
        steps = [*self.pruning(keep_completed_days, keep_failed_days)]
        return Pruned(sum(step.completed for step in steps), sum(step.failed for step in steps))

    def pruning(self, keep_completed_days: float, keep_failed_days: float) -> Iterator[Pruned]:
        """The same in short transactions. Yields what each has removed, so that a worker can renew its leases in
        between.

        Attempts of jobs that keep snoozing are removed after `keep_completed_days`.
        """
        keep_completed, keep_failed = timedelta(days=keep_completed_days), timedelta(days=keep_failed_days)
        for gone in self._remove("jobs/prune", keep_completed, statuses=DONE):
            yield Pruned(gone, 0)
        for gone in self._remove("jobs/prune", keep_failed, statuses=("failed",)):
            yield Pruned(0, gone)
        self._prune_small()
        for statement, keep in (
            ("triggers/prune_firings", FIRINGS_KEPT),
            ("attempts/prune", keep_completed),
            ("events/prune", EVENTS_KEPT),
        ):
            for _ in self._remove(statement, keep):
                yield Pruned(0, 0)
        while self._prune_groups(keep_completed) == CHUNK:
            yield Pruned(0, 0)

    @retried
    def _prune_small(self) -> None:
        with self.database.write() as tx:
            tx.change("workers/prune", {"before": tx.now - WORKERS_KEPT})
            tx.change("tenants/prune_turns", {"before": tx.now - TURNS_KEPT})
            tx.change("reservations/prune", {"before": tx.now - RESERVATIONS_KEPT})

    @retried
    def _prune_groups(self, keep: timedelta) -> int:
        """Remove old groups without jobs."""
        with self.database.write() as tx:
            old = tx.query(_Id, "groups/prunable", {"before": tx.now - keep, "limit": CHUNK})
            return tx.change("groups/remove_empty", {"ids": [one.id for one in old]}) if old else 0

    def _count_prunable(self, statuses: tuple[Status, ...], keep: timedelta) -> int:
        with self.database.read() as tx:
            found = tx.first(_Count, "jobs/count_prunable", {"statuses": statuses, "before": tx.now - keep})
        return found.n if found else 0

    def _remove(self, statement: str, keep: timedelta, **params: Any) -> Iterator[int]:
        """Remove old rows; yields how many each transaction has removed."""
        gone = CHUNK
        while gone == CHUNK:
            gone = self._remove_some(statement, keep, params)
            yield gone

    @retried
    def _remove_some(self, statement: str, keep: timedelta, params: Mapping[str, Any]) -> int:
        with self.database.write() as tx:
            return tx.change(statement, {**params, "before": tx.now - keep, "limit": CHUNK})


def _has_died(metadata: Json) -> bool:
    return isinstance(metadata, dict) and has_died(metadata)
