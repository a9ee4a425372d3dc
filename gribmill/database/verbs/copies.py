"""Enqueueing copies of finished jobs."""

from __future__ import annotations

from gribmill.database.verbs.session import Row, WithJobs
from gribmill.queue.model import FINISHED, Enqueued, PreparedJob

# The columns that a copy inherits, in the order of `PreparedJob`.
COLUMNS = (
    "type", "priority", "max_attempts", "tenant_id", "source", "source_ref", "correlation_id", "created_by",
    "args", "group_key", "dedupe_key", "retry_of",
)  # fmt: skip
RARE_COLUMNS = ("timeout_seconds", "group_id", "template_id", "requested_by")
assert PreparedJob._fields[: len(COLUMNS)] == COLUMNS


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
    again = _copy(rows[0])
    again = again._replace(source="manual", source_ref=f"retry of job {job_id}", retry_of=job_id, created_by=created_by)
    return tx.insert_jobs([again._replace(after=after, on_parent_failure=on_parent_failure)])[0]


def insert_copy(tx: WithJobs, job_id: int, *, delay_seconds: float, source_ref: str) -> int:
    """Enqueue the retry of a job that just failed; returns its id."""
    again = _copy(tx.rows("jobs/get", {"job_id": job_id})[0])
    wait = delay_seconds if delay_seconds > 0 else None
    again = again._replace(source="system", source_ref=source_ref, retry_of=job_id, delay_seconds=wait)
    return tx.insert_jobs([again])[0].id


def _copy(row: Row) -> PreparedJob:
    """A new job with the values of a stored one."""
    return PreparedJob(**{name: row[name] for name in (*COLUMNS, *RARE_COLUMNS)})
