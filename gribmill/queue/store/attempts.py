"""Attempts that run now."""

from __future__ import annotations

from gribmill.queue.model import AttemptRef
from gribmill.queue.store.base import Facet


class Attempts(Facet):
    """What runs, and what is to be stopped."""

    def running(self) -> dict[str, list[int]]:
        """What each worker runs at this moment; its own row only says so at each heartbeat."""
        found: dict[str, list[int]] = {}
        with self.database.read() as tx:
            for row in tx.rows("listing/running"):
                found.setdefault(row["worker_id"], []).append(row["id"])
        return found

    def cancellations(self, worker_id: str) -> list[AttemptRef]:
        """The attempts of this worker that somebody wants stopped. A look without any lock."""
        with self.database.read() as tx:
            rows = tx.rows("leases/cancellations", {"worker_id": worker_id})
            return [AttemptRef(row["id"], row["attempt_no"]) for row in rows]
