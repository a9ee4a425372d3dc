"""The part of enqueueing that all dialects share, and tenants' limits on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from gribmill.database.verbs.session import Row, Session
from gribmill.queue.errors import JobNotFound, TenantLimit
from gribmill.queue.model import FINISHED, PreparedJob

# The first columns of a job, in the order of `PreparedJob`.
COLUMNS = (
    "type", "priority", "max_attempts", "tenant_id", "source", "source_ref", "correlation_id", "created_by",
    "args", "group_key", "dedupe_key", "retry_of",
)  # fmt: skip
RARE_COLUMNS = ("timeout_seconds", "group_id", "template_id", "requested_by")
assert PreparedJob._fields[: len(COLUMNS)] == COLUMNS
# The columns that jobs enqueued together usually share come first.
SHARED = 8
# Then the columns of each job: arguments, batching key, dedupe key.
OWN = 3

# An id is a 64-bit integer.
ID_LIMIT = 1 << 63


def runs_alike(jobs: Sequence[PreparedJob]) -> Iterator[list[PreparedJob]]:
    """Split jobs into runs that one statement can insert; a job with dependencies is its own run."""
    for _, run in groupby(jobs, _likeness):
        alike = list(run)
        if alike[0].after:
            yield from ([job] for job in alike)
        else:
            yield alike


def _likeness(job: PreparedJob) -> tuple[Any, ...]:
    """All except the job's own columns. Uses slices for speed, because this runs for every job."""
    return job[:SHARED], job[SHARED + OWN :], job.dedupe_key is None


def rare_columns(job: PreparedJob) -> tuple[int | str | None, ...]:
    """Columns that most jobs leave empty."""
    return (job.retry_of, job.timeout_seconds, job.group_id, job.template_id, job.requested_by)


def share_request(tx: Session, job: PreparedJob, found: Row) -> None:
    """If another tenant requests an active job too, it no longer counts as any tenant's request."""
    if found["requested_by"] is not None and found["requested_by"] != job.requested_by:
        tx.execute("jobs/share_request", {"job_id": found["id"]})


def due_at(tx: Session, job: PreparedJob, to_text: Callable[[float], str]) -> str | None:
    """When the job may start; None for immediately."""
    if job.run_at is not None:
        due = to_text(job.run_at.timestamp())
        return due if due > tx.stamp else None
    return tx.after(job.delay_seconds) if job.delay_seconds else None


def open_parents(tx: Session, job: PreparedJob) -> tuple[list[int], str | None]:
    """The parents to wait for, and the reason to cancel if one has already failed. PostgreSQL locks them."""
    wanted = sorted(set(job.after))
    rows = tx.rows("dependencies/parent_states", {"ids": json.dumps([one for one in wanted if one < ID_LIMIT])})
    states = {row["id"]: row["status"] for row in rows}
    for parent in wanted:
        if parent not in states:
            raise JobNotFound(f"the job would wait on job {parent}, which does not exist")
        if states[parent] in ("failed", "cancelled") and job.on_parent_failure == "cancel":
            return [], f"parent job {parent} had {states[parent]}"
    return [parent for parent in wanted if states[parent] not in FINISHED], None


def check_tenant_limits(tx: Session, tenant_id: str, more: int = 0) -> None:
    with tx.across_tenants():
        _check_limits(tx, tenant_id, more)


def _check_limits(tx: Session, tenant_id: str, more: int) -> None:
    rows = tx.rows("tenants/get", {"name": tenant_id})
    if not rows:
        return
    most, per_minute = rows[0]["max_pending"], rows[0]["max_per_minute"]
    if most is None and per_minute is None:
        return
    tx.rows("tenants/hold", {"name": tenant_id})
    if most is not None and tx.rows("tenants/count_pending", {"tenant_id": tenant_id})[0]["n"] + more > most:
        raise TenantLimit(
            f"tenant {tenant_id} may have {most} pending jobs at most (max_pending): wait for some to end"
        )
    if per_minute is None:
        return
    window = {"tenant_id": tenant_id, "limit": max(0, per_minute - more), "since": tx.after(-60)}
    if tx.rows("tenants/enqueued_since", window):
        raise TenantLimit(f"tenant {tenant_id} may enqueue {per_minute} jobs a minute at most (max_per_minute)")
