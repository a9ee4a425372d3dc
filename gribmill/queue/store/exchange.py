"""A worker's turn: it reports how attempts ended and gets the next batches, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gribmill.database.protocol import Database, Transaction
from gribmill.queue.job_type import Registry
from gribmill.queue.model import (
    AttemptRef,
    Claimed,
    ClaimRequest,
    Ended,
    Exchange,
    Failed,
    Outcome,
    PreparedJob,
    Report,
    Snoozed,
    Stopped,
    Succeeded,
)
from gribmill.queue.store.base import Facet
from gribmill.queue.store.effects import Change, EffectReader
from gribmill.queue.store.prepare import prepare


class _Correlation(NamedTuple):
    correlation_id: str | None


class FollowUp(NamedTuple):
    """What becomes true with the end of an attempt."""

    then: Sequence[PreparedJob] = ()
    also: Sequence[Change] = ()


NOTHING = FollowUp()


class Exchanges(Facet):
    """Taking reports and handing out work. A fenced worker changes nothing."""

    def __init__(self, database: Database, registry: Registry, effects: EffectReader) -> None:
        super().__init__(database, registry)
        self._effects = effects

    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """The next batch for this worker, head first; empty when nothing can run."""
        with self.database.write() as tx:
            batch = tx.claim(request)
            tx.lasting = self._must_outlive(batch)
        return batch

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        """Ready jobs of the same group that arrived since the head was claimed; none for a worker that has lost it."""
        if head.group_key is None or limit < 1 or head.retry_count:
            return ()
        with self.database.write() as tx:
            batch = tx.claim_siblings(request, head, limit)
            tx.lasting = self._must_outlive(batch)
        return batch

    def exchange(self, worker_id: str, reports: Sequence[Report], claims: Sequence[ClaimRequest] = ()) -> Exchange:
        """Apply the reports and hand out the next batches (one per claim), all in one transaction."""
        prepared = [self._prepare(report.outcome) for report in reports]
        accepted: list[AttemptRef] = []
        fenced: list[AttemptRef] = []
        wakes = False
        with self.database.write() as tx:
            for report, follow_up in zip(reports, prepared, strict=True):
                ended = _end(tx, worker_id, report)
                if ended is None:
                    fenced.append(report.ref)
                    continue
                accepted.append(report.ref)
                wakes |= ended.wakes
                # What a cancelled job would have brought about does not happen.
                if follow_up is not NOTHING and ended.status != "cancelled":
                    wakes |= _apply(tx, report.ref, follow_up)
            batches = tuple(tx.claim(claim) for claim in claims)
            tx.lasting = bool(accepted) or any(self._must_outlive(batch) for batch in batches)
        if wakes:
            self.database.announce()
        return Exchange(tuple(accepted), tuple(fenced), batches)

    def _prepare(self, outcome: Outcome) -> FollowUp:
        """Checked before the transaction begins: a result may ask for anything."""
        then = outcome.then if isinstance(outcome, Succeeded | Snoozed) else ()
        also = () if isinstance(outcome, Stopped) else outcome.also
        if not then and not also:
            return NOTHING
        jobs = [prepare(self.registry, job) for job in then]
        return FollowUp(jobs, [self._effects.prepare(effect) for effect in also])

    def _must_outlive(self, batch: Sequence[Claimed]) -> bool:
        """Whether a claim has to survive a power cut.

        Forgotten, it leaves a pending job, which is run again. So is one that is remembered, for its worker is gone
        too; unless a job of its type that was lost must never run again.
        """
        return any(self.registry[job.type].on_lost == "fail" for job in batch)


def _end(tx: Transaction, worker_id: str, report: Report) -> Ended | None:
    """None when the worker is fenced."""
    outcome = report.outcome
    if isinstance(outcome, Succeeded):
        return tx.complete(worker_id, report, outcome)
    if isinstance(outcome, Failed):
        return tx.fail(worker_id, report, outcome)
    if isinstance(outcome, Snoozed):
        return tx.snooze(worker_id, report, outcome)
    return tx.stop(worker_id, report, outcome)


def _apply(tx: Transaction, ref: AttemptRef, follow_up: FollowUp) -> bool:
    """Record the effects of an attempt and enqueue its jobs. True when there are any.

    The jobs inherit the correlation id, so that a whole backfill can be followed.
    """
    for change in follow_up.also:
        change(tx)
    if not follow_up.then:
        return False
    found = tx.first(_Correlation, "jobs/correlation_of", {"job_id": ref.job_id})
    inherited = found.correlation_id if found else None
    jobs = [job._replace(correlation_id=job.correlation_id or inherited) for job in follow_up.then]
    return bool(tx.insert_jobs(jobs))
