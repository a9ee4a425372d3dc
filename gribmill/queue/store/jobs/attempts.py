"""Attempts that run now."""

from __future__ import annotations

from typing import NamedTuple

from gribmill.queue.model import AttemptRef
from gribmill.queue.store.base import Facet


class _RunningJob(NamedTuple):
    id: int
    worker_id: str


class Attempts(Facet):
    """What runs, and what is to be stopped."""

    def running(self) -> dict[str, list[int]]:
        """The jobs that each worker runs at this moment; its own row is only as new as its last heartbeat."""
        found: dict[str, list[int]] = {}
        with self.database.read() as tx:
            for job in tx.query(_RunningJob, "listing/running"):
                found.setdefault(job.worker_id, []).append(job.id)
        return found

    def cancellations(self, worker_id: str) -> list[AttemptRef]:
        """The attempts of this worker that are to be stopped. A look without any lock."""
        with self.database.read() as tx:
            return tx.query(AttemptRef, "leases/cancellations", {"worker_id": worker_id})
