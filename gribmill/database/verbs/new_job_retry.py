"""Retries as new jobs: the failed job stays failed, and a new job with `retry_of` takes its place."""

from __future__ import annotations

from gribmill.database.verbs.copies import insert_copy
from gribmill.database.verbs.session import Session, WithJobs
from gribmill.queue.model import AttemptRef
from gribmill.queue.retry_policy import RetryPolicy


def retry_policy(tx: Session, type_key: str) -> RetryPolicy:
    """The retry policy of the stored definition: the code of this version may not declare the job's type."""
    return tx.first(RetryPolicy, "types/retry_policy", {"key": type_key}) or RetryPolicy()


def follow_with_new_job(tx: WithJobs, job_id: int, retry: int, wait_seconds: float) -> None:
    """Enqueue the next job of a chain of retries, after the failed one has ended.

    Its `retry_count` covers the failures of the whole chain, and dependents of the failed job now wait for the new
    one.
    """
    made = insert_copy(tx, job_id, delay_seconds=wait_seconds, source_ref=f"retry of job {job_id}")
    tx.execute("jobs/set_retry_count", {"job_id": made, "retry_count": retry})
    tx.execute("dependencies/move", {"old_id": job_id, "new_id": made})
    tx.wakes |= wait_seconds <= 0


def make_due_retry(tx: WithJobs, job_id: int) -> bool:
    """Create the retry of a job that a manual statement ended as failed, unless there is one.

    False if the job was reset and is no longer failed.
    """
    job = tx.rows("jobs/lock", {"job_id": job_id})[0]
    if job["status"] != "failed":
        return False
    if not (made := tx.rows("jobs/find_retry", {"job_id": job_id})):
        retry = job["retry_count"] + 1
        wait = retry_policy(tx, job["type"]).wait_seconds(retry, AttemptRef(job_id, job["attempt_no"]))
        follow_with_new_job(tx, job_id, retry, wait)
    else:
        tx.execute("dependencies/move", {"old_id": job_id, "new_id": made[0]["id"]})
    return True
