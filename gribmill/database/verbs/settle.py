"""What follows when a job ends: its retry as a new job, and its dependents.

A dependent is released when its last parent completes, and cancelled when one fails. If retries are new jobs, the
failed job stays failed, and a job with `retry_of` takes its place.
"""

from __future__ import annotations

from gribmill.database.verbs.new_jobs import COLUMNS, RARE_COLUMNS
from gribmill.database.verbs.session import Row, Session, WithJobs
from gribmill.queue.model import AttemptRef, PreparedJob, RetryPolicy


def settle_dependents(tx: WithJobs) -> None:
    """Release or cancel the dependents of all ended jobs, transitively; stop groups that stop at a failure.

    A database trigger lists the parents that have ended, whether through the queue or a manual statement, and those
    whose retry as a new job is still to be created.
    """
    with tx.across_tenants():
        while ended := tx.rows("dependencies/ended_parents"):
            for parent in ended:
                _settle(tx, parent)


def retry_policy(tx: Session, type_key: str) -> RetryPolicy:
    """The retry policy of the stored definition: the code of this version may not declare the job's type."""
    return tx.first(RetryPolicy, "types/retry_policy", {"key": type_key}) or RetryPolicy()


def follow_with_new_job(tx: WithJobs, job_id: int, retry: int, wait_seconds: float) -> None:
    """Enqueue the next job of a chain of retries, after the failed one has ended.

    Its `retry_count` covers the failures of the whole chain, and dependents of the failed job now wait for the new
    one.
    """
    again = copy_of(tx.rows("jobs/get", {"job_id": job_id})[0])
    wait = wait_seconds if wait_seconds > 0 else None
    again = again._replace(source="system", source_ref=f"retry of job {job_id}", retry_of=job_id, delay_seconds=wait)
    made = tx.insert_jobs([again])[0].id
    tx.send("jobs/set_retry_count", {"job_id": made, "retry_count": retry})
    tx.send("dependencies/move", {"old_id": job_id, "new_id": made})
    tx.wakes |= wait_seconds <= 0


def copy_of(row: Row) -> PreparedJob:
    """A new job with the values of a stored one."""
    return PreparedJob(**{name: row[name] for name in (*COLUMNS, *RARE_COLUMNS)})


def _settle(tx: WithJobs, parent: Row) -> None:
    if parent["retry_due"] and _make_due_retry(tx, parent["id"]):
        tx.send("dependencies/settled", (parent["id"],))
        return
    for child in tx.rows("dependencies/pending_children", (parent["id"],)):
        params = {"job_id": child["job_id"], "now": tx.stamp}
        if parent["status"] == "completed" or child["on_failure"] == "ignore":
            tx.wakes |= tx.execute("dependencies/release", params).rowcount > 0
        else:
            error = f"parent job {parent['id']} ended {parent['status']}"
            tx.send("jobs/cancel_pending", {**params, "error": error})
    if parent["stopped_group"] is not None:
        group = {"group_id": parent["stopped_group"], "now": tx.stamp}
        tx.send("groups/stop", group)
        tx.send("groups/cancel_pending", {**group, "error": f"job {parent['id']} of the group failed"})
    tx.send("dependencies/settled", (parent["id"],))


def _make_due_retry(tx: WithJobs, job_id: int) -> bool:
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
        tx.send("dependencies/move", {"old_id": job_id, "new_id": made[0]["id"]})
    return True
