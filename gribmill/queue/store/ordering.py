"""Explicit order among pending jobs. Position 0 is natural order; negative is pinned ahead, positive parked behind."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.database.protocol import Row, Transaction
from gribmill.queue.errors import NotAllowed
from gribmill.queue.store.base import Facet, job_row
from gribmill.queue.store.enqueue import check_priority

GAP = 100


class Ordering(Facet):
    """Moving pending jobs. Only rows that have been moved carry a position."""

    def move_to_front(self, job_id: int) -> None:
        """Ahead of every pending job of its priority."""
        with self.database.write() as tx:
            job = _pending(tx, job_id)
            first, _ = _range(tx, job)
            _place(tx, job_id, min(first, 0) - GAP, job["priority"])

    def move_to_back(self, job_id: int) -> None:
        """Behind every pending job of its priority."""
        with self.database.write() as tx:
            job = _pending(tx, job_id)
            _, last = _range(tx, job)
            _place(tx, job_id, max(last, 0) + GAP, job["priority"])

    def move_before(self, job_id: int, other_id: int) -> None:
        """Directly ahead of another pending job, taking over its priority."""
        if job_id == other_id:
            raise NotAllowed(f"job {job_id} cannot go ahead of itself")
        with self.database.write() as tx:
            _pending(tx, job_id)
            other = _pending(tx, other_id)
            rows = tx.rows("order/pending", {"priority": other["priority"]})
            queue = [row for row in rows if row["id"] != job_id]
            at = next(index for index, row in enumerate(queue) if row["id"] == other_id)
            position = _between(queue, at)
            if position is None:
                position = _pin_up_to(tx, queue, at, other["priority"])
            _place(tx, job_id, position, other["priority"])

    def set_priority(self, job_id: int, priority: int) -> None:
        """Higher runs first. The job goes to its natural place among the new priority."""
        check_priority(priority)
        with self.database.write() as tx:
            _pending(tx, job_id)
            _place(tx, job_id, 0, priority)

    def renumber(self, priority: int) -> int:
        """Number the moved jobs of a priority evenly again, order unchanged. How many were renumbered."""
        with self.database.write() as tx:
            rows = tx.rows("order/pending", {"priority": priority})
            pinned = [row for row in rows if row["position"] < 0]
            parked = [row for row in rows if row["position"] > 0]
            places = {row["id"]: -GAP * (len(pinned) - n) for n, row in enumerate(pinned)}
            places |= {row["id"]: GAP * (n + 1) for n, row in enumerate(parked)}
            for job_id, position in places.items():
                _place(tx, job_id, position, priority)
            return len(places)


def _between(queue: Sequence[Row], at: int) -> int | None:
    """A free position between the job at `at` and the one before it, if there is one."""
    here = queue[at]["position"]
    before = queue[at - 1]["position"] if at else min(here, 0) - 2 * GAP
    middle = (before + here) // 2
    return middle if before < middle < here else None


def _pin_up_to(tx: Transaction, queue: Sequence[Row], at: int, priority: int) -> int:
    """Number the queue up to the job at `at` as …, -200, -100, leaving the place ahead of that job free, and give it.

    The numbers end below the next job's position, so nothing changes places.
    """
    ceiling = min(0, queue[at + 1]["position"]) if at + 1 < len(queue) else 0
    _place(tx, queue[at]["id"], ceiling - GAP, priority)
    for n, row in enumerate(reversed(queue[:at]), start=3):
        _place(tx, row["id"], ceiling - GAP * n, priority)
    return ceiling - 2 * GAP


def _pending(tx: Transaction, job_id: int) -> Row:
    row = job_row(tx, job_id)
    if row["status"] != "pending":
        raise NotAllowed(f"job {job_id} is {row['status']}: only pending jobs have a place in the queue")
    return row


def _range(tx: Transaction, job: Row) -> tuple[int, int]:
    row = tx.rows("order/range", {"priority": job["priority"], "job_id": job["id"]})[0]
    return (row["first"] or 0), (row["last"] or 0)


def _place(tx: Transaction, job_id: int, position: int, priority: int) -> None:
    tx.change("order/set", {"job_id": job_id, "position": position, "priority": priority})
