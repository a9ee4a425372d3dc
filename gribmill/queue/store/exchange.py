"""Exchanges: a worker reports ended attempts and claims the next batches, in one transaction.

The effects of an attempt, changes to the application's own records, are applied in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol, TypeGuard

from gribmill.database.protocol import Database, Transaction
from gribmill.queue.errors import BadEffect, NotAllowed
from gribmill.queue.job_type import Registry
from gribmill.queue.model import (
    DEFAULT_TENANT,
    AttemptRef,
    AttemptStatus,
    Claimed,
    ClaimRequest,
    Effect,
    Exchange,
    Failed,
    NewJob,
    Outcome,
    PreparedJob,
    Report,
    Snoozed,
    Stopped,
    Succeeded,
)
from gribmill.queue.redact import redacted
from gribmill.queue.store.base import Facet, get_job, retried
from gribmill.queue.store.jobs.groups import join_follow_ups
from gribmill.queue.store.jobs.readiness import read_readiness

Change = Callable[[Transaction], None]
# The lease of a manually claimed job, from the call that ends it until it has ended. If that fails, it is recovered.
ADOPTED_SECONDS = 60.0


class EffectReader(Protocol):
    """Interprets the effects of an application."""

    def prepare(self, effect: Effect) -> Change:
        """Validate an effect and return the change it makes; raises BadEffect. Called before the transaction begins."""
        ...


class NoEffects:
    """Rejects all effects, for queues that use none."""

    def prepare(self, effect: Effect) -> Change:
        raise BadEffect(f"this queue has no effect {effect.kind!r}")


class _Origin(NamedTuple):
    tenant_id: str
    requested_by: str | None
    created_by: str | None
    correlation_id: str
    group_id: int | None


class _FollowUp(NamedTuple):
    """The jobs and changes that are committed together with the end of an attempt."""

    then: Sequence[PreparedJob] = ()
    also: Sequence[Change] = ()


NOTHING = _FollowUp()


class Exchanges(Facet):
    """Accepts reports and hands out work. Reports of a fenced worker change nothing."""

    def __init__(self, database: Database, registry: Registry, effects: EffectReader) -> None:
        super().__init__(database, registry)
        self._effects = effects

    @retried
    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """Claim the next batch for this worker, head first; empty if nothing can run."""
        done = self.database.turn(request.worker_id, (), [request])
        if done is not None:
            return done.batches[0]
        with self.database.write() as tx:
            batch = tx.claim(request)
            tx.lasting = self._must_outlive(batch)
        return batch

    @retried
    def claim_job(self, request: ClaimRequest, job_id: int) -> Claimed:
        """Claim this pending job ahead of its turn; raises NotAllowed with the reason if it cannot start."""
        with self.database.write() as tx:
            return self._claim_job(tx, request, job_id)

    @retried
    def claim_new(self, request: ClaimRequest, job: NewJob) -> Claimed:
        """Enqueue and claim a job in one transaction, before any other worker can; NotAllowed if it cannot start."""
        self.registry.refresh()
        prepared = self.registry.prepare(job)
        with self.database.write() as tx:
            (made,) = tx.insert_jobs([prepared])
            if not made.created:
                raise NotAllowed(f"an equal job, {made.id}, is active already")
            return self._claim_job(tx, request, made.id)

    def complete(self, job_id: int, outcome: Succeeded | None = None) -> None:
        """Complete the running attempt of a job, whichever worker holds it; NotAllowed if none is running."""
        self._end_by_id(job_id, outcome or Succeeded())

    def fail(self, job_id: int, error: str, *, retry_in: float | None = None, permanent: bool = False) -> None:
        """Fail the running attempt of a job; it is retried after `retry_in` seconds, or after the type's backoff."""
        self._end_by_id(job_id, Failed(error, permanent=permanent, retry_in=retry_in))

    def _end_by_id(self, job_id: int, outcome: Outcome) -> None:
        with self.database.read() as tx:
            job = get_job(tx, job_id)
        if job.status != "processing" or job.worker_id is None:
            raise NotAllowed(f"job {job_id} is {job.status}: only an attempt that runs can be ended")
        ref = AttemptRef(job.id, job.attempt_no)
        if job.lease_expires_at is None:
            self._adopt(ref)
        done = self.exchange(job.worker_id, [Report(ref, redacted(outcome))])
        if done.fenced:
            raise NotAllowed(f"attempt {job.attempt_no} of job {job_id} ended meanwhile")

    @retried
    def _adopt(self, ref: AttemptRef) -> None:
        with self.database.write() as tx:
            until = tx.now + timedelta(seconds=ADOPTED_SECONDS)
            tx.change("leases/adopt", {**ref._asdict(), "lease_expires_at": until})

    def _claim_job(self, tx: Transaction, request: ClaimRequest, job_id: int) -> Claimed:
        claimed = tx.claim_job(request, job_id)
        if claimed is None:
            job = get_job(tx, job_id)
            pending = job.status == "pending"
            why = read_readiness(tx, request.worker_id).why_not(job) if pending else f"it is {job.status}"
            raise NotAllowed(f"the job cannot start now: {why}")
        return claimed

    @retried
    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        """Claim ready jobs with the head's batching key that arrived since; none if the worker has lost the head."""
        if head.group_key is None or limit < 1 or head.retry_count:
            return ()
        with self.database.write() as tx:
            batch = tx.claim_siblings(request, head, limit)
            tx.lasting = self._must_outlive(batch)
        return batch

    @retried
    def exchange(self, worker_id: str, reports: Sequence[Report], claims: Sequence[ClaimRequest] = ()) -> Exchange:
        """Apply the reports and hand out the next batches (one per claim), all in one transaction."""
        # The common case, recognised before any other work.
        succeeded = [(report, report.outcome) for report in reports if _only_succeeded(report.outcome)]
        plain = len(succeeded) == len(reports)
        if plain and (reports or claims):
            done = self.database.turn(worker_id, succeeded, claims)
            if done is not None:
                return done
        prepared = [NOTHING if plain else self._prepare(report.outcome) for report in reports]
        accepted: list[AttemptRef] = []
        fenced: list[AttemptRef] = []
        with self.database.write() as tx:
            if not plain and (heirs := [report.ref.job_id for report in reports if _may_leave_jobs(report.outcome)]):
                tx.hold_groups(heirs)
            ends = (
                _end_all(tx, worker_id, reports) if not plain else tx.complete(worker_id, succeeded) if reports else ()
            )
            for report, follow_up, status in zip(reports, prepared, ends, strict=True):
                if status is None:
                    fenced.append(report.ref)
                    continue
                accepted.append(report.ref)
                # A cancelled job has no follow-up.
                if follow_up is not NOTHING and status != "cancelled":
                    self._apply(tx, report.ref, follow_up)
            if not claims:
                tx.settle()
            batches = tuple(tx.claim(claim) for claim in claims)
            tx.lasting = bool(accepted) or any(self._must_outlive(batch) for batch in batches)
        if tx.wakes:
            self.database.announce()
        return Exchange(tuple(accepted), tuple(fenced), batches)

    def _prepare(self, outcome: Outcome) -> _FollowUp:
        """Validate an outcome's jobs and effects before the transaction begins: handlers may return anything."""
        then = outcome.then if isinstance(outcome, Succeeded | Snoozed) else ()
        also = () if isinstance(outcome, Stopped) else outcome.also
        if not then and not also:
            return NOTHING
        if then:
            self.registry.refresh()
        jobs = [self.registry.prepare(job) for job in then]
        return _FollowUp(jobs, [self._effects.prepare(effect) for effect in also])

    def _apply(self, tx: Transaction, ref: AttemptRef, follow_up: _FollowUp) -> None:
        """Record the effects of an attempt and enqueue its jobs."""
        tx.source_job = ref.job_id
        for change in follow_up.also:
            change(tx)
        tx.source_job = None
        if not follow_up.then:
            return
        origin = tx.first(_Origin, "jobs/origin", {"job_id": ref.job_id})
        heirs = [self._inherited(job, origin) for job in follow_up.then]
        made = tx.insert_jobs(heirs)
        members = [one for heir, one in zip(heirs, made, strict=True) if heir.group_id is not None]
        if members and origin is not None and origin.group_id is not None:
            join_follow_ups(tx, origin.group_id, ref.job_id, members)
        tx.wakes |= bool(made)

    def _inherited(self, job: PreparedJob, origin: _Origin | None) -> PreparedJob:
        """A follow-up job inherits the creator and correlation id of its origin, the tenant unless its type is shared,
        and the group unless it names another tenant."""
        if origin is None:
            return job
        same_tenant = job.tenant_id in (DEFAULT_TENANT, origin.requested_by or origin.tenant_id)
        heir = job._replace(
            correlation_id=job.correlation_id or origin.correlation_id,
            created_by=job.created_by or origin.created_by,
            group_id=origin.group_id if same_tenant else None,
            requested_by=job.requested_by or origin.requested_by,
        )
        if job.tenant_id != DEFAULT_TENANT or origin.tenant_id == DEFAULT_TENANT:
            return heir
        kind, key = self.registry[job.type], job.dedupe_key
        if kind.shared:
            return heir._replace(requested_by=origin.tenant_id)
        if key is not None and key == kind.dedupe_key_of(job.args, job.tenant_id):
            key = kind.dedupe_key_of(job.args, origin.tenant_id)
        return heir._replace(tenant_id=origin.tenant_id, dedupe_key=key)

    def _must_outlive(self, batch: Sequence[Claimed]) -> bool:
        """Whether a claim must be durable across a power cut or a failover.

        If a claim is lost, its job is pending and runs again; so does a claimed job whose worker died with the
        database. Only types whose lost jobs must not run again need a durable claim.
        """
        if self.database.workers_outlive_it:
            return bool(batch)
        return any(self.registry[job.type].on_lost == "fail" for job in batch)


def _only_succeeded(outcome: Outcome) -> TypeGuard[Succeeded]:
    """Whether the outcome is a success without follow-up."""
    return isinstance(outcome, Succeeded) and not outcome.then and not outcome.also


def _may_leave_jobs(outcome: Outcome) -> bool:
    """Whether this outcome may enqueue jobs: follow-up jobs, or a retry as a new job."""
    return isinstance(outcome, Failed) or (isinstance(outcome, Succeeded | Snoozed) and bool(outcome.then))


def _end_all(tx: Transaction, worker_id: str, reports: Sequence[Report]) -> Sequence[AttemptStatus | None]:
    """End the attempts and return the status of each; None if fenced. Successes, the majority, are written together."""
    succeeded = [(report, report.outcome) for report in reports if isinstance(report.outcome, Succeeded)]
    completed = iter(tx.complete(worker_id, succeeded) if succeeded else ())
    return [
        next(completed) if isinstance(report.outcome, Succeeded) else _end(tx, worker_id, report, report.outcome)
        for report in reports
    ]


def _end(tx: Transaction, worker_id: str, report: Report, outcome: Failed | Snoozed | Stopped) -> AttemptStatus | None:
    if isinstance(outcome, Failed):
        return tx.fail(worker_id, report, outcome)
    if isinstance(outcome, Snoozed):
        return tx.snooze(worker_id, report, outcome)
    return tx.stop(worker_id, report, outcome)
