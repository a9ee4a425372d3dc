"""Workers: heartbeats, named leases, and the recovery of jobs whose worker is dead.

A recovered job is retried with backoff while attempts remain, and is a dead letter after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gribmill.database.verbs.completion import follow_with_new_job, retry_policy, settle_dependents
from gribmill.database.verbs.events import publish
from gribmill.database.verbs.session import Session, WithJobs
from gribmill.queue.model import AttemptRef, Heartbeat, HeldAttempt, NewEvent, Recovered, RetryPolicy

EndStatus = Literal["pending", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class _Renewed:
    id: int
    attempt_no: int
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class _LostJob:
    id: int
    type: str
    worker_id: str | None
    attempt_no: int
    retry_count: int
    max_attempts: int
    cancel_requested: bool
    lease_expires_at: str | None


def heartbeat(tx: Session, beat: Heartbeat) -> list[HeldAttempt]:
    lease = {"worker_id": beat.worker_id, "lease_expires_at": tx.after(beat.lease_seconds)}
    held = tx.query(_Renewed, "leases/renew", lease)
    tx.change(
        "workers/upsert",
        {
            "id": beat.worker_id,
            "hostname": beat.hostname,
            "version": beat.version,
            "types": beat.types,
            "state": beat.state,
            "metadata": beat.metadata,
        },
    )
    return [HeldAttempt(AttemptRef(one.id, one.attempt_no), one.cancel_requested) for one in held]


def take_lease(tx: Session, name: str, holder: str, seconds: float, *, renew: bool) -> int | None:
    params = {"name": name, "holder": holder, "now": tx.stamp, "expires_at": tx.after(seconds), "renew": renew}
    rows = tx.rows("workers/take_lease", params)
    return rows[0]["term"] if rows else None


def any_lost(tx: WithJobs, farthest_lease_seconds: float) -> bool:
    return bool(_lost(tx, 1, farthest_lease_seconds) or tx.rows("dependencies/any_retry_due"))


def recover(tx: WithJobs, limit: int, farthest_lease_seconds: float) -> Recovered:
    settle_dependents(tx)
    return _recover_all(tx, _lost(tx, limit, farthest_lease_seconds))


def recover_worker(tx: WithJobs, worker_id: str) -> Recovered:
    if tx.execute("workers/stop", {"worker_id": worker_id}).rowcount:
        _lose_worker(tx, worker_id, "its process has died")
    return _recover_all(tx, tx.query(_LostJob, "leases/of_worker", {"worker_id": worker_id}), at_once=True)


def _recover_all(tx: WithJobs, jobs: list[_LostJob], *, at_once: bool = False) -> Recovered:
    if jobs:
        tx.hold_groups([job.id for job in jobs])
    requeued: list[int] = []
    ended: list[int] = []
    for job in jobs:
        status = _recover(tx, job, at_once=at_once)
        if status is not None:
            (requeued if status == "pending" else ended).append(job.id)
            if not at_once and job.worker_id:
                _lose_worker(tx, job.worker_id, "its lease has expired")
    return Recovered(tuple(requeued), tuple(ended))


def _lose_worker(tx: WithJobs, worker_id: str, reason: str) -> None:
    """Publish `worker.lost` once, until the worker sends a heartbeat again."""
    if tx.execute("workers/lose", {"worker_id": worker_id, "now": tx.stamp}).rowcount:
        publish(tx, NewEvent("worker.lost", {"worker_id": worker_id, "reason": reason}))


def _lost(tx: WithJobs, limit: int, farthest_lease_seconds: float) -> list[_LostJob]:
    """Expired leases, impossibly long ones (the clock was set back), and manually claimed rows."""
    params = {"limit": limit, "horizon": tx.after(farthest_lease_seconds)}
    names = ("leases/expired", "leases/far", "leases/abandoned_by_hand")
    return [job for name in names for job in tx.query(_LostJob, name, params)]


def _recover(tx: WithJobs, job: _LostJob, *, at_once: bool) -> EndStatus | None:
    """Recover one job; returns its new status, or None if it had already ended."""
    ref = AttemptRef(job.id, job.attempt_no)
    if tx.execute("leases/finish_completed", {**ref._asdict(), "now": tx.stamp}).rowcount:
        settle_dependents(tx)
        return None
    policy = retry_policy(tx, job.type)
    terminal = tx.rows("attempts/terminal", ref._asdict())
    ended = terminal[0]["status"] if terminal else "lost"
    status = _status(job, ended, policy)
    retry = job.retry_count + 1
    wait = 0.0 if at_once or ended == "snoozed" else policy.wait_seconds(retry, ref)
    by_new_job = status == "pending" and policy.retry_as == "new_job" and ended != "snoozed"
    if by_new_job:
        status = "failed"
    again = status == "pending"
    error = _error(job, ended, terminal[0]["error_text"] if terminal else None, at_once=at_once)
    changes = {
        "now": tx.stamp,
        "lease": job.lease_expires_at,
        "whatever_lease": at_once,
        "cancel_requested": int(job.cancel_requested),
        "status": status,
        "next_run_at": tx.after(wait) if again and wait > 0 else None,
        "cost": int(again and ended != "snoozed"),
        "error": error,
        "completed_at": None if again else tx.stamp,
        "dead_lettered_at": tx.stamp if status == "failed" and not by_new_job else None,
    }
    if not tx.execute("leases/recover", {**ref._asdict(), **changes}).rowcount:
        return None
    if not terminal:
        _lose_attempt(tx, job, error)
    if again and wait <= 0:
        tx.execute("jobs/set_ready", {"job_id": job.id, "now": tx.stamp})
    if by_new_job:
        follow_with_new_job(tx, job.id, retry, wait)
    if not again:
        settle_dependents(tx)
    return status


def _status(job: _LostJob, ended: str, policy: RetryPolicy) -> EndStatus:
    """The new status. A failed attempt was not lost: its failure is applied now."""
    if job.cancel_requested or ended == "cancelled":
        return "cancelled"
    if ended == "snoozed":
        return "pending"
    may_retry = policy.on_lost == "retry" or ended in ("failed", "timeout")
    return "pending" if may_retry and job.retry_count + 1 < job.max_attempts else "failed"


def _error(job: _LostJob, ended: str, text: str | None, *, at_once: bool) -> str:
    """The error of a recovered job: that of its attempt, unless that was lost with the worker."""
    if ended != "lost":
        return text or f"attempt {job.attempt_no} ended {ended}"
    how = "died" if at_once else "went silent"
    return f"the worker {job.worker_id or '(unknown)'} {how} during attempt {job.attempt_no}"


def _lose_attempt(tx: WithJobs, job: _LostJob, error: str) -> None:
    lost = {"job_id": job.id, "attempt_no": job.attempt_no, "now": tx.stamp, "error": error}
    if not tx.execute("attempts/lose", lost).rowcount:
        tx.execute("attempts/insert_lost", {**lost, "worker_id": job.worker_id or "(unknown)"})
