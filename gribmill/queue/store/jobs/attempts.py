"""Attempts: which are running, and where their logs are."""

from __future__ import annotations

from typing import NamedTuple

from gribmill.queue.model import Attempt, AttemptRef
from gribmill.queue.store.base import Facet, retried


class _RunningJob(NamedTuple):
    id: int
    worker_id: str


class _Lost(NamedTuple):
    job_id: int
    attempt_no: int
    head_id: int
    head_attempt_no: int


class LostAttempt(NamedTuple):
    """An attempt whose worker died before its log was recorded, and the head of its batch."""

    ref: AttemptRef
    head: AttemptRef


class Attempts(Facet):
    """Running attempts, requested cancellations, and logs."""

    def running(self) -> dict[str, list[int]]:
        """The jobs that each worker is running now. (A worker's own row is only as recent as its last heartbeat.)"""
        found: dict[str, list[int]] = {}
        with self.database.read() as tx:
            for job in tx.query(_RunningJob, "listing/running"):
                found.setdefault(job.worker_id, []).append(job.id)
        return found

    def of(self, job_id: int) -> list[Attempt]:
        """All attempts of a job, in order."""
        with self.database.read() as tx:
            return tx.query(Attempt, "attempts/list", {"job_id": job_id})

    def cancellations(self, worker_id: str) -> list[AttemptRef]:
        """The attempts of this worker whose cancellation was requested. Takes no lock."""
        with self.database.read() as tx:
            return tx.query(AttemptRef, "leases/cancellations", {"worker_id": worker_id})

    def lost_without_log(self, job_id: int) -> list[LostAttempt]:
        with self.database.read() as tx:
            found = tx.query(_Lost, "attempts/lost_without_log", {"job_id": job_id})
        return [
            LostAttempt(AttemptRef(one.job_id, one.attempt_no), AttemptRef(one.head_id, one.head_attempt_no))
            for one in found
        ]

    @retried
    def set_log(self, ref: AttemptRef, log_path: str) -> None:
        """Record the log of a lost attempt."""
        with self.database.write() as tx:
            tx.change("attempts/set_log", {**ref._asdict(), "log_path": log_path})

    def within(self, job_ids: range) -> frozenset[AttemptRef]:
        """All attempts of jobs with ids in a range."""
        with self.database.read() as tx:
            bounds = {"first": job_ids.start, "end": job_ids.stop}
            return frozenset(tx.query(AttemptRef, "attempts/within", bounds))
