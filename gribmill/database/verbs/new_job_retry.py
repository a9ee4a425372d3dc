"""A failed job that is not run again itself: it has ended, and a new job that names it takes its place."""

from __future__ import annotations

from gribmill.database.verbs.copies import insert_copy
from gribmill.database.verbs.session import WithJobs


def follow_with_new_job(tx: WithJobs, job_id: int, retry: int, wait_seconds: float) -> None:
    """Enqueue the next job of the chain, once the failed one has ended.

    The new job counts the failures of the whole chain (`retry_count`), and the jobs that waited for the failed one wait
    for the new one: dependents follow the end of the chain.
    """
    made = insert_copy(tx, job_id, delay_seconds=wait_seconds, source_ref=f"retry of job {job_id}")
    tx.execute("jobs/set_retry_count", {"job_id": made, "retry_count": retry})
    tx.execute("dependencies/move", {"old_id": job_id, "new_id": made})
    tx.wakes |= wait_seconds <= 0
