"""An attempt ends: completed, failed, snoozed or stopped. Every step is fenced by (job, attempt, worker)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from gribmill.database.protocol import Database, Row, Transaction
from gribmill.queue.backoff import backoff_seconds
from gribmill.queue.job_type import Registry
from gribmill.queue.model import AttemptRef, ClaimRequest, Exchange, Failed, Report, Snoozed, Stopped, Succeeded
from gribmill.queue.store.claims import Claims, take_batch
from gribmill.queue.store.dependents import settle_dependents
from gribmill.queue.store.effects import Change, EffectReader
from gribmill.queue.store.enqueue import PreparedJob, insert_jobs, prepare
from gribmill.queue.times import to_text

ERROR_LIMIT = 20_000


class Exchanges(Claims):
    """Taking reports and handing out work. A fenced worker changes nothing."""

    def __init__(self, database: Database, registry: Registry, effects: EffectReader) -> None:
        super().__init__(database, registry)
        self._effects = effects

    def exchange(self, worker_id: str, reports: Sequence[Report], claims: Sequence[ClaimRequest] = ()) -> Exchange:
        """Apply the reports and hand out the next batches (one per claim), all in one transaction."""
        prepared = [self._prepare_end(report) for report in reports]
        accepted: list[AttemptRef] = []
        fenced: list[AttemptRef] = []
        woken = False
        with self.database.write() as tx:
            for report, end in zip(reports, prepared, strict=True):
                wakes = _apply(tx, worker_id, report, end)
                if wakes is None:
                    fenced.append(report.ref)
                    continue
                woken |= wakes
                accepted.append(report.ref)
            batches = tuple(take_batch(tx, claim) for claim in claims)
            tx.lasting = bool(accepted) or any(self._must_outlive(batch) for batch in batches)
        if woken:
            self.database.announce()
        return Exchange(tuple(accepted), tuple(fenced), batches)

    def _prepare_end(self, report: Report) -> PreparedEnd:
        """Checked before the transaction begins: a result may ask for anything."""
        outcome = report.outcome
        if isinstance(outcome, Stopped):
            return PreparedEnd()
        then = () if isinstance(outcome, Failed) else outcome.then
        return PreparedEnd(
            tuple(prepare(self.registry, job) for job in then),
            tuple(self._effects.prepare(effect) for effect in outcome.also),
        )


class PreparedEnd(NamedTuple):
    """What becomes true with the end of an attempt."""

    then: tuple[PreparedJob, ...] = ()
    also: tuple[Change, ...] = ()

    def record(self, tx: Transaction) -> None:
        for change in self.also:
            change(tx)


def _follow_up(tx: Transaction, ref: AttemptRef, jobs: tuple[PreparedJob, ...]) -> bool:
    """What follows a job carries its correlation id on, so that a whole backfill can be followed."""
    if not jobs:
        return False
    chain = tx.rows("jobs/correlation_of", {"job_id": ref.job_id})[0]["correlation_id"]
    return bool(insert_jobs(tx, [job._replace(correlation_id=job.correlation_id or chain) for job in jobs]))


def _apply(tx: Transaction, worker_id: str, report: Report, end: PreparedEnd) -> bool | None:
    """One report. None when the worker is fenced; True when some job may run now because of it."""
    outcome = report.outcome
    if isinstance(outcome, Succeeded):
        wakes = _complete(tx, worker_id, report, outcome, end)
        return None if wakes is None else wakes | _follow_up(tx, report.ref, end.then)
    rows = tx.rows("jobs/held", _fence(worker_id, report.ref))
    if not rows:
        return None
    held = rows[0]
    if isinstance(outcome, Stopped) or held["cancel_requested_at"] is not None:
        error = Stopped().error if isinstance(outcome, Snoozed) else outcome.error
        _end_attempt(tx, report, "cancelled", error)
        return _end(tx, worker_id, report, "cancelled", error, dead=False)
    end.record(tx)
    if isinstance(outcome, Snoozed):
        return _snooze(tx, worker_id, report, outcome) | _follow_up(tx, report.ref, end.then)
    return _fail(tx, worker_id, report, outcome, held)


def _complete(tx: Transaction, worker_id: str, report: Report, outcome: Succeeded, end: PreparedEnd) -> bool | None:
    ref = report.ref
    if not tx.change("jobs/complete", (tx.stamp, *ref, worker_id)):
        return None
    end.record(tx)
    _end_attempt(tx, report, "skipped" if outcome.skipped else "succeeded", outcome.skipped, outcome.artifacts)
    return settle_dependents(tx, ref.job_id, "completed")


def _snooze(tx: Transaction, worker_id: str, report: Report, outcome: Snoozed) -> bool:
    due = to_text(tx.now + outcome.seconds) if outcome.seconds > 0 else None
    requeue = {"next_run_at": due, "cost": 0, "error": None}
    tx.change("jobs/requeue", {**_fence(worker_id, report.ref), **requeue})
    _end_attempt(tx, report, "snoozed", outcome.reason or None)
    return due is None


def _fail(tx: Transaction, worker_id: str, report: Report, outcome: Failed, held: Row) -> bool:
    error = outcome.error[-ERROR_LIMIT:]
    _end_attempt(tx, report, "timeout" if outcome.timeout else "failed", error)
    retry = held["retry_count"] + 1
    if not outcome.permanent and retry < held["max_attempts"]:
        due = to_text(tx.now + retry_wait(tx, held["type"], retry, report.ref))
        requeue = {"next_run_at": due, "cost": 1, "error": error}
        tx.change("jobs/requeue", {**_fence(worker_id, report.ref), **requeue})
        return False
    return _end(tx, worker_id, report, "failed", error, dead=not outcome.permanent)


def _end(tx: Transaction, worker_id: str, report: Report, status: str, error: str, *, dead: bool) -> bool:
    now = tx.stamp
    ending = {"status": status, "now": now, "error": error, "dead_lettered_at": now if dead else None}
    tx.change("jobs/end", {**_fence(worker_id, report.ref), **ending})
    return settle_dependents(tx, report.ref.job_id, status)


def _end_attempt(
    tx: Transaction, report: Report, status: str, error: str | None, artifacts: tuple[str, ...] = ()
) -> None:
    left = (report.stdout_tail, report.stderr_tail, error, json.dumps(artifacts) if artifacts else None)
    end = (status, tx.stamp, report.exit_code)
    if left == (None, None, None, None):
        tx.change("attempts/end_quiet", (*end, *report.ref))
    else:
        tx.change("attempts/end", (*end, *left, *report.ref))


def retry_wait(tx: Transaction, type_key: str, retry: int, ref: AttemptRef) -> float:
    """Seconds before retry number `retry` of a job of this type."""
    known = tx.rows("types/get", {"key": type_key})
    base, cap = (known[0]["backoff_base_s"], known[0]["backoff_cap_s"]) if known else (30.0, 600.0)
    return backoff_seconds(retry, base, cap, job_id=ref.job_id, attempt_no=ref.attempt_no)


def _fence(worker_id: str, ref: AttemptRef) -> dict[str, object]:
    return {"job_id": ref.job_id, "attempt_no": ref.attempt_no, "worker_id": worker_id}
