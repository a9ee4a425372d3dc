"""An attempt ends: completed, failed, snoozed or stopped. Every step is fenced by (job, attempt, worker)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gribmill.database.protocol import Row, Transaction
from gribmill.queue.backoff import backoff_seconds
from gribmill.queue.model import ClaimRequest, Failed, NewJob, Report, Snoozed, Stopped, Succeeded, Ticket, Turn, Write
from gribmill.queue.store.claims import Claims, take_batch
from gribmill.queue.store.dependents import settle_dependents
from gribmill.queue.store.enqueue import PreparedJob, insert_jobs, prepare
from gribmill.queue.times import to_text

ERROR_LIMIT = 20_000


class Exchanges(Claims):
    """Taking reports and handing out work. A fenced worker changes nothing."""

    def exchange(self, worker_id: str, reports: Sequence[Report], claims: Sequence[ClaimRequest] = ()) -> Turn:
        """Apply the reports and hand out the next batches (one per claim), all in one transaction."""
        then = [[prepare(self.registry, job) for job in _then(report)] for report in reports]
        accepted: list[Ticket] = []
        fenced: list[Ticket] = []
        woken = False
        with self.database.write() as tx:
            for report, jobs in zip(reports, then, strict=True):
                wakes = _apply(tx, worker_id, report, jobs)
                if wakes is None:
                    fenced.append(report.ticket)
                    continue
                woken |= wakes
                accepted.append(report.ticket)
            batches = tuple(take_batch(tx, claim) for claim in claims)
            tx.lasting = bool(accepted) or any(self._must_outlive(batch) for batch in batches)
        if woken:
            self.database.announce()
        return Turn(tuple(accepted), tuple(fenced), batches)


def _follow_up(tx: Transaction, ticket: Ticket, jobs: list[PreparedJob]) -> bool:
    """What follows a job carries its correlation id on, so that a whole backfill can be followed."""
    if not jobs:
        return False
    chain = tx.rows("jobs/correlation_of", {"job_id": ticket.job_id})[0]["correlation_id"]
    return bool(insert_jobs(tx, [job._replace(correlation_id=job.correlation_id or chain) for job in jobs]))


def _apply(tx: Transaction, worker_id: str, report: Report, jobs: list[PreparedJob]) -> bool | None:
    """One report. None when the worker is fenced; True when some job may run now because of it."""
    outcome = report.outcome
    if isinstance(outcome, Succeeded):
        wakes = _complete(tx, worker_id, report, outcome)
        return None if wakes is None else wakes | _follow_up(tx, report.ticket, jobs)
    rows = tx.rows("jobs/held", _fence(worker_id, report.ticket))
    if not rows:
        return None
    held = rows[0]
    if isinstance(outcome, Stopped) or held["cancel_requested_at"] is not None:
        error = Stopped().error if isinstance(outcome, Snoozed) else outcome.error
        _end_attempt(tx, report, "cancelled", error)
        return _end(tx, worker_id, report, "cancelled", error, dead=False)
    if isinstance(outcome, Snoozed):
        return _snooze(tx, worker_id, report, outcome) | _follow_up(tx, report.ticket, jobs)
    return _fail(tx, worker_id, report, outcome, held)


def _complete(tx: Transaction, worker_id: str, report: Report, outcome: Succeeded) -> bool | None:
    ticket = report.ticket
    if not tx.change("jobs/complete", (tx.stamp, *ticket, worker_id)):
        return None
    _write(tx, outcome.also)
    _end_attempt(tx, report, "skipped" if outcome.skipped else "succeeded", outcome.skipped, outcome.artifacts)
    return settle_dependents(tx, ticket.job_id, "completed")


def _snooze(tx: Transaction, worker_id: str, report: Report, outcome: Snoozed) -> bool:
    due = to_text(tx.now + outcome.seconds) if outcome.seconds > 0 else None
    requeue = {"next_run_at": due, "cost": 0, "error": None}
    tx.change("jobs/requeue", {**_fence(worker_id, report.ticket), **requeue})
    _write(tx, outcome.also)
    _end_attempt(tx, report, "snoozed", outcome.reason or None)
    return due is None


def _write(tx: Transaction, also: tuple[Write, ...]) -> None:
    """What the handler wants recorded in the same transaction."""
    for write in also:
        tx.change(write.statement, {**write.params, "now": tx.stamp})


def _fail(tx: Transaction, worker_id: str, report: Report, outcome: Failed, held: Row) -> bool:
    error = outcome.error[-ERROR_LIMIT:]
    _write(tx, outcome.also)
    _end_attempt(tx, report, "timeout" if outcome.timeout else "failed", error)
    retry = held["retry_count"] + 1
    if not outcome.permanent and retry < held["max_attempts"]:
        due = to_text(tx.now + retry_wait(tx, held["type"], retry, report.ticket))
        requeue = {"next_run_at": due, "cost": 1, "error": error}
        tx.change("jobs/requeue", {**_fence(worker_id, report.ticket), **requeue})
        return False
    return _end(tx, worker_id, report, "failed", error, dead=not outcome.permanent)


def _end(tx: Transaction, worker_id: str, report: Report, status: str, error: str, *, dead: bool) -> bool:
    now = tx.stamp
    ending = {"status": status, "now": now, "error": error, "dead_lettered_at": now if dead else None}
    tx.change("jobs/end", {**_fence(worker_id, report.ticket), **ending})
    return settle_dependents(tx, report.ticket.job_id, status)


def _end_attempt(
    tx: Transaction, report: Report, status: str, error: str | None, artifacts: tuple[str, ...] = ()
) -> None:
    left = (report.stdout_tail, report.stderr_tail, error, json.dumps(artifacts) if artifacts else None)
    end = (status, tx.stamp, report.exit_code)
    if left == (None, None, None, None):
        tx.change("attempts/end_quiet", (*end, *report.ticket))
    else:
        tx.change("attempts/end", (*end, *left, *report.ticket))


def retry_wait(tx: Transaction, type_key: str, retry: int, ticket: Ticket) -> float:
    """Seconds before retry number `retry` of a job of this type."""
    known = tx.rows("types/get", {"key": type_key})
    base, cap = (known[0]["backoff_base_s"], known[0]["backoff_cap_s"]) if known else (30.0, 600.0)
    return backoff_seconds(retry, base, cap, job_id=ticket.job_id, attempt_no=ticket.attempt_no)


def _fence(worker_id: str, ticket: Ticket) -> dict[str, object]:
    return {"job_id": ticket.job_id, "attempt_no": ticket.attempt_no, "worker_id": worker_id}


def _then(report: Report) -> tuple[NewJob, ...]:
    return report.outcome.then if isinstance(report.outcome, Succeeded | Snoozed) else ()
