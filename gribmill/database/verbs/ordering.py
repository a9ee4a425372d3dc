"""Positions of pending jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gribmill.database.verbs.session import Session
from gribmill.queue.model import PlacedJob


def rearrange(
    tx: Session,
    priority: int,
    arrange: Callable[[Sequence[PlacedJob]], Mapping[int, int]],
    *,
    moved_only: bool = False,
) -> int:
    with tx.across_tenants():
        queue = tx.query(PlacedJob, "order/moved" if moved_only else "order/pending", {"priority": priority})
        rows = [{"job_id": job_id, "position": at, "priority": priority} for job_id, at in arrange(queue).items()]
        return tx.execute_many("order/set", rows) if rows else 0
