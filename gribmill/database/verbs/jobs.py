"""What operators do to jobs: retry, cancel, reorder, and check them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from gribmill.database.records import storable
from gribmill.database.verbs.completion import copy_of, settle_dependents
from gribmill.database.verbs.session import Session, WithJobs
from gribmill.queue.model import FINISHED, Enqueued, PlacedJob, Violation


def retry(
    tx: WithJobs,
    job_id: int,
    created_by: str | None,
    after: tuple[int, ...] = (),
    on_parent_failure: str = "cancel",
) -> Enqueued | None:
    rows = tx.rows("jobs/lock", {"job_id": job_id})
    if not rows or rows[0]["status"] not in FINISHED:
        return None
    if before := tx.rows("jobs/find_retry", {"job_id": job_id}):
        return Enqueued(before[0]["id"], created=False)
    again = copy_of(rows[0])
    again = again._replace(source="manual", source_ref=f"retry of job {job_id}", retry_of=job_id, created_by=created_by)
    return tx.insert_jobs([again._replace(after=after, on_parent_failure=on_parent_failure)])[0]


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


def violations(tx: Session) -> list[Violation]:
    """Each statement in `sql/verify` finds the rows that violate one invariant."""
    return [
        Violation(name, row["job_id"], row["detail"])
        for name in tx.names_in("verify")
        for row in tx.rows(f"verify/{name}")
    ]
