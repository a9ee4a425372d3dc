"""Ends attempts, and settles what follows: a retry as a new job, and the job's dependents.

Every step is fenced by (job, attempt, worker): if no job row changes, the worker is fenced. Nothing depends on the
attempt's own row: if it is not `running` (manually deleted or changed), the job ends anyway, and `jobs verify` reports
the row.

A dependent is released when its last parent completes, and cancelled when one fails. If retries are new jobs, the
failed job stays failed, and a job with `retry_of` takes its place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gribmill.database.records import storable
from gribmill.database.verbs.new_jobs import COLUMNS, RARE_COLUMNS
from gribmill.database.verbs.session import Row, Session, WithJobs
from gribmill.queue.model import (
    AttemptRef,
    AttemptStatus,
    Failed,
    PreparedJob,
    Report,
    RetryPolicy,
    Snoozed,
    Stopped,
    Succeeded,
    Transfer,
)

ERROR_LIMIT = 20_000
# `stdout_tail`, `stderr_tail` and `log_path` of most attempts of short jobs.
NO_OUTPUT = (None, None, None)


def complete(
    tx: WithJobs, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]
) -> Sequence[AttemptStatus | None]:
    return [_complete(tx, worker_id, report, outcome) for report, outcome in reports]


def _complete(tx: WithJobs, worker_id: str, report: Report, outcome: Succeeded) -> AttemptStatus | None:
    ref = report.ref
    if not tx.execute("jobs/complete", (tx.stamp, *ref, worker_id)).rowcount:
        return None
    if report[3:] == NO_OUTPUT and not outcome.artifacts and outcome.skipped is None and outcome.transfer is None:
        tx.execute("attempts/end_quiet", ("succeeded", tx.stamp, report.exit_code, *ref))
        return "succeeded"
    status: AttemptStatus = "skipped" if outcome.skipped else "succeeded"
    _end_attempt(tx, report, status, storable(outcome.skipped), outcome.artifacts)
    return status


def fail(tx: WithJobs, worker_id: str, report: Report, outcome: Failed) -> AttemptStatus | None:
    error = storable(outcome.error[-ERROR_LIMIT:])
    held = _held(tx, worker_id, report.ref)
    if held is None:
        return None
    if held["cancel_requested"]:
        return _cancel(tx, worker_id, report, error)
    status: AttemptStatus = "timeout" if outcome.timeout else "failed"
    retry = held["retry_count"] + 1
    if outcome.permanent or retry >= held["max_attempts"]:
        return _end(tx, worker_id, report, status, error, "failed", dead=not outcome.permanent)
    policy = retry_policy(tx, held["type"])
    wait = policy.wait_seconds(retry, report.ref) if outcome.retry_in is None else outcome.retry_in
    if policy.retry_as == "new_job":
        return _end_for_new_job(tx, worker_id, report, status, error, retry, wait)
    return _requeue(tx, worker_id, report, status, error, wait, cost=1)


def snooze(tx: WithJobs, worker_id: str, report: Report, outcome: Snoozed) -> AttemptStatus | None:
    held = _held(tx, worker_id, report.ref)
    if held is None:
        return None
    if held["cancel_requested"]:
        return _cancel(tx, worker_id, report, Stopped().error)
    limit = retry_policy(tx, held["type"]).poll_limit
    if limit is not None and _snoozes(tx, report.ref, held["retry_count"]) > limit:
        error = f"snoozed {limit} times, which is the limit of {held['type']}: {outcome.reason}".rstrip(": ")
        return _end(tx, worker_id, report, "failed", storable(error[-ERROR_LIMIT:]), "failed", dead=True)
    return _requeue(tx, worker_id, report, "snoozed", storable(outcome.reason) or None, outcome.seconds, cost=0)


def _snoozes(tx: WithJobs, ref: AttemptRef, retry_count: int) -> int:
    """How often the job was snoozed, including this time: all attempts except failed ones. A retry as a new job
    continues the count."""
    attempts = int(tx.rows("jobs/chain_attempts", {"job_id": ref.job_id})[0]["n"]) if retry_count else ref.attempt_no
    return attempts - retry_count


def stop(tx: WithJobs, worker_id: str, report: Report, outcome: Stopped) -> AttemptStatus | None:
    return _cancel(tx, worker_id, report, storable(outcome.error))


def _held(tx: WithJobs, worker_id: str, ref: AttemptRef) -> Row | None:
    rows = tx.rows("jobs/held", _fence(worker_id, ref))
    return rows[0] if rows else None


def _requeue(
    tx: WithJobs,
    worker_id: str,
    report: Report,
    status: AttemptStatus,
    error: str | None,
    wait: float,
    *,
    cost: int,
) -> AttemptStatus | None:
    """Set the job back to pending. A snooze uses no attempt, and its reason is not an error."""
    due = tx.after(wait) if wait > 0 else None
    changes = {"now": tx.stamp, "next_run_at": due, "cost": cost, "error": error if cost else None}
    if not tx.execute("jobs/requeue", {**_fence(worker_id, report.ref), **changes}).rowcount:
        return None
    transfer = _transfer(report)
    metered = (None, None) if transfer is None else (transfer.downloaded, transfer.written)
    tx.send("attempts/end_requeued", (*_end_of(tx, report, status), *_left(report, error), *metered, *report.ref))
    if due is None:
        tx.send("jobs/set_ready", {"job_id": report.ref.job_id, "now": tx.stamp})
        tx.wakes = True
    return status


def _end_for_new_job(
    tx: WithJobs, worker_id: str, report: Report, status: AttemptStatus, error: str, retry: int, wait: float
) -> AttemptStatus | None:
    """Fail the job and create its retry in one transaction."""
    if not _write_end(tx, worker_id, report, error, "failed", dead=False):
        return None
    _end_attempt(tx, report, status, error)
    follow_with_new_job(tx, report.ref.job_id, retry, wait)
    return status


def _cancel(tx: WithJobs, worker_id: str, report: Report, error: str) -> AttemptStatus | None:
    return _end(tx, worker_id, report, "cancelled", error, "cancelled", dead=False)


def _end(
    tx: WithJobs, worker_id: str, report: Report, status: AttemptStatus, error: str, job_status: str, *, dead: bool
) -> AttemptStatus | None:
    if not _write_end(tx, worker_id, report, error, job_status, dead=dead):
        return None
    _end_attempt(tx, report, status, error)
    return status


def _write_end(tx: WithJobs, worker_id: str, report: Report, error: str, job_status: str, *, dead: bool) -> bool:
    now = tx.stamp
    changes = {"status": job_status, "now": now, "error": error, "dead_lettered_at": now if dead else None}
    return tx.execute("jobs/end", {**_fence(worker_id, report.ref), **changes}).rowcount > 0


def _end_attempt(
    tx: WithJobs, report: Report, status: AttemptStatus, error: str | None, artifacts: tuple[str, ...] = ()
) -> None:
    left = _left(report, error, artifacts)
    end = _end_of(tx, report, status)
    transfer = _transfer(report)
    if transfer is not None:
        metered = (transfer.downloaded, transfer.written)
        tx.send("attempts/end_metered", (*end, *left, *metered, *report.ref))
    elif left == (None, None, None, None, None):
        tx.send("attempts/end_quiet", (*end, *report.ref))
    else:
        tx.send("attempts/end", (*end, *left, *report.ref))


def _end_of(tx: WithJobs, report: Report, status: AttemptStatus) -> tuple[AttemptStatus, str, int | None]:
    return (status, tx.stamp, report.exit_code)


def _left(report: Report, error: str | None, artifacts: tuple[str, ...] = ()) -> tuple[str | None, ...]:
    """What an attempt leaves behind: its output, its error, the paths of its files and of its log."""
    paths = json.dumps(artifacts) if artifacts else None
    return (storable(report.stdout_tail), storable(report.stderr_tail), error, paths, report.log_path)


def _transfer(report: Report) -> Transfer | None:
    return None if isinstance(report.outcome, Stopped) else report.outcome.transfer


def _fence(worker_id: str, ref: AttemptRef) -> dict[str, Any]:
    return {"job_id": ref.job_id, "attempt_no": ref.attempt_no, "worker_id": worker_id}


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
