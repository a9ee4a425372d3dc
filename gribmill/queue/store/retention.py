"""Finished jobs are kept for a while, then removed a little at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gribmill.queue.store.base import Facet
from gribmill.queue.times import to_text

# Small enough that no claim waits on it.
CHUNK = 1000
DAY_SECONDS = 86_400.0
WORKERS_KEPT_SECONDS = 7 * DAY_SECONDS
RESERVATIONS_KEPT_SECONDS = 7 * DAY_SECONDS
# As long as the longest window of a trigger, and as an event's id is remembered.
FIRINGS_KEPT_SECONDS = 31 * DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows went (or would go)."""

    completed: int
    failed: int


class Retention(Facet):
    """Pruning by age. Attempts go with their job; of one that snoozes on and on, as if they were completed jobs."""

    def prune(self, keep_completed_days: float, keep_failed_days: float, *, dry_run: bool = False) -> Pruned:
        """Remove old jobs: completed and cancelled after one time, failed after another."""
        done = self._prune(("completed", "cancelled"), keep_completed_days, dry_run=dry_run)
        failed = self._prune(("failed",), keep_failed_days, dry_run=dry_run)
        if not dry_run:
            with self.database.write() as tx:
                tx.change("workers/prune", {"before": to_text(tx.now - WORKERS_KEPT_SECONDS)})
                tx.change("reservations/prune", {"before": to_text(tx.now - RESERVATIONS_KEPT_SECONDS)})
            self._remove("triggers/prune_firings", FIRINGS_KEPT_SECONDS)
            self._remove("attempts/prune", keep_completed_days * DAY_SECONDS)
        return Pruned(done, failed)

    def _prune(self, statuses: tuple[str, ...], keep_days: float, *, dry_run: bool) -> int:
        wanted = json.dumps(statuses)
        if not dry_run:
            return self._remove("jobs/prune", keep_days * DAY_SECONDS, statuses=wanted)
        with self.database.read() as tx:
            before = to_text(tx.now - keep_days * DAY_SECONDS)
            return int(tx.rows("jobs/count_prunable", {"statuses": wanted, "before": before})[0]["n"])

    def _remove(self, statement: str, keep_seconds: float, **params: str) -> int:
        """A little at a time, until nothing is left that is so old."""
        total = 0
        while True:
            with self.database.write() as tx:
                old = {"before": to_text(tx.now - keep_seconds), "limit": CHUNK}
                gone = tx.change(statement, {**params, **old})
            total += gone
            if gone < CHUNK:
                return total
