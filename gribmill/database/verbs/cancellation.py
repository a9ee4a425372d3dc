"""Cancelling jobs."""

from __future__ import annotations

from typing import Literal

from gribmill.database.verbs.dependents import settle_dependents
from gribmill.database.verbs.session import WithJobs
from gribmill.queue.storable_text import storable


def cancel(tx: WithJobs, job_id: int, reason: str) -> Literal["cancelled", "requested"] | None:
    # Lock the job first: the attempt may end in another transaction while one of these statements waits for it.
    tx.rows("jobs/lock", {"job_id": job_id})
    params = {"job_id": job_id, "now": tx.stamp, "error": storable(reason)}
    # A manually claimed row has no lease and no worker: it is cancelled like a pending one.
    for name in ("jobs/cancel_pending", "jobs/cancel_hand_claimed"):
        if tx.execute(name, params).rowcount:
            settle_dependents(tx)
            return "cancelled"
    return "requested" if tx.execute("jobs/request_cancel", params).rowcount else None


def cancel_group(tx: WithJobs, group_id: int, reason: str) -> int:
    done = tx.execute(
        "groups/cancel_pending", {"group_id": group_id, "now": tx.stamp, "error": storable(reason)}
    ).rowcount
    settle_dependents(tx)
    return done
