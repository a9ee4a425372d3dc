"""Positions of pending jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gribmill.database.sqlite.session import SqliteSession
from gribmill.queue.model import PlacedJob


def rearrange(tx: SqliteSession, priority: int, arrange: Callable[[Sequence[PlacedJob]], Mapping[int, int]]) -> int:
    places = arrange(tx.query(PlacedJob, "order/pending", {"priority": priority}))
    rows = [{"job_id": job_id, "position": position, "priority": priority} for job_id, position in places.items()]
    return tx.execute_many("order/set", rows) if rows else 0
