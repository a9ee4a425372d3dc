"""Jobs whose worker died come back: with backoff while attempts remain, as dead letters after."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.database.protocol import Row, Transaction
from gribmill.queue.model import AttemptRef
from gribmill.queue.store.base import Facet
from gribmill.queue.store.dependents import settle_dependents
from gribmill.queue.store.exchange import retry_wait
from gribmill.queue.times import to_text

SWEEP_LIMIT = 500
# No honest lease reaches further: one that does was written before the clock was set back.
FARTHEST_LEASE_SECONDS = 2 * 3600.0


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a sweep did with the jobs it found without a living worker."""

    requeued: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.requeued) + len(self.ended)


class Recovery(Facet):
    """The sweep. Any worker may run it at any time; one writer makes it safe."""

    def recover(self) -> Recovered:
        """End the attempts whose lease has run out, at most 500 at a time."""
        if not self._any_lost():
            return Recovered()
        requeued: list[int] = []
        ended: list[int] = []
        with self.database.write() as tx:
            for row in _lost(tx):
                (requeued if _recover(tx, row) == "pending" else ended).append(row["id"])
        self.database.announce()
        return Recovered(tuple(requeued), tuple(ended))

    def _any_lost(self) -> bool:
        with self.database.read() as tx:
            return bool(_lost(tx))


def _lost(tx: Transaction) -> list[Row]:
    params = {
        "now": tx.stamp,
        "horizon": to_text(tx.now + FARTHEST_LEASE_SECONDS),
        "limit": SWEEP_LIMIT,
    }
    return [
        *tx.rows("leases/expired", params),
        *tx.rows("leases/far", params),
        *tx.rows("leases/abandoned_by_hand", params),
    ]


def _recover(tx: Transaction, row: Row) -> str:
    """One lost attempt; the job's new status."""
    now = tx.stamp
    error = f"the worker {row['worker_id'] or '(unknown)'} went silent during attempt {row['attempt_no']}"
    definition = tx.rows("types/get", {"key": row["type"]})
    retry = row["retry_count"] + 1
    may_retry = not definition or definition[0]["on_lost"] == "retry"
    if row["cancel_requested_at"] is not None:
        status = "cancelled"
    elif may_retry and retry < row["max_attempts"]:
        status = "pending"
    else:
        status = "failed"
    ref = AttemptRef(row["id"], row["attempt_no"])
    wait = retry_wait(tx, row["type"], retry, ref) if status == "pending" else 0.0
    tx.change(
        "leases/recover",
        {
            "job_id": row["id"],
            "attempt_no": row["attempt_no"],
            "status": status,
            "next_run_at": to_text(tx.now + wait) if status == "pending" else None,
            "cost": 1 if status == "pending" else 0,
            "error": error,
            "completed_at": None if status == "pending" else now,
            "dead_lettered_at": now if status == "failed" else None,
        },
    )
    tx.change("attempts/lose", {"job_id": row["id"], "attempt_no": row["attempt_no"], "now": now, "error": error})
    if status != "pending":
        settle_dependents(tx, row["id"], status)
    return status
