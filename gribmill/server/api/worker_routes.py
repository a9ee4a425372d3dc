"""Lets workers without database access claim jobs, renew leases and report, with the same fencing as other workers.

A worker's id contains the id of its token, so that a token cannot report on another token's jobs.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from gribmill.queue.errors import StoreError
from gribmill.queue.model import (
    AttemptRef,
    Claimed,
    ClaimRequest,
    Failed,
    Heartbeat,
    Outcome,
    Report,
    Succeeded,
    exit_code_of,
)
from gribmill.queue.redact import clean, redacted
from gribmill.queue.store import Store
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.access.worker_id import worker_id_of
from gribmill.server.api.values import Name, Number, PathId, RequestBody, WholeNumber
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.view import View

router = SecuredRouter("/api/v1/worker/jobs", tag="worker")

MOST_CLAIMED = 100
Tail = Annotated[str, Field(max_length=8192)]
WorkerName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._:-]+$")]
LeaseSeconds = Annotated[Number, Field(ge=1, le=3600)]
AttemptNo = Annotated[WholeNumber, Field(ge=1, le=2**31)]


class ClaimBody(RequestBody):
    """What to claim. Without `types`, jobs of any type."""

    worker_id: WorkerName
    types: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    batch_size: Annotated[WholeNumber, Field(ge=1, le=MOST_CLAIMED)] = 1
    lease_seconds: LeaseSeconds = 60.0
    hostname: Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z0-9._-]*$")] = ""
    version: Annotated[str, Field(max_length=50, pattern=r"^[A-Za-z0-9.+-]*$")] = ""


class ClaimedJob(View):
    """A job that the worker holds until its lease expires. Every report must contain its `attempt_no`."""

    id: int
    definition_key: str
    payload: Any
    tenant_id: str
    attempt_no: int
    max_attempts: int
    timeout_seconds: int
    command: Any

    @classmethod
    def of(cls, job: Claimed) -> ClaimedJob:
        command = json.loads(job.command)["command"] if job.command else None
        return cls.model_construct(
            id=job.id,
            definition_key=job.type,
            payload=json.loads(job.args),
            tenant_id=job.tenant_id,
            attempt_no=job.attempt_no,
            max_attempts=job.max_attempts,
            timeout_seconds=job.timeout_seconds,
            command=command,
        )


class ClaimedJobs(View):
    """The claimed jobs; empty if nothing is ready. A worker that is `draining` gets no more jobs, and should stop."""

    jobs: tuple[ClaimedJob, ...]
    draining: bool


class BeatBody(RequestBody):
    """A heartbeat for one attempt; renews all leases of the worker."""

    worker_id: WorkerName
    attempt_no: AttemptNo
    lease_seconds: LeaseSeconds = 60.0


class Beat(View):
    """The worker still holds the attempt. With `cancel_requested`, it should stop and report a failure. If it is
    `draining`, it should claim no more."""

    held: bool
    cancel_requested: bool
    draining: bool


class _EndBody(RequestBody):
    worker_id: WorkerName
    attempt_no: AttemptNo
    exit_code: Annotated[WholeNumber, Field(ge=-255, le=255)] | None = None
    stdout_tail: Tail = ""
    stderr_tail: Tail = ""


class CompleteBody(_EndBody):
    """The attempt succeeded."""

    artifacts: Annotated[tuple[Name, ...], Field(max_length=1000)] = ()


class FailBody(_EndBody):
    """The attempt failed. Unless `permanent`, the job is retried after the type's backoff or `retry_in` seconds."""

    error: Annotated[str, Field(min_length=1, max_length=20_000)]
    permanent: bool = False
    timeout: bool = False
    retry_in: Annotated[Number, Field(ge=0, le=31_536_000)] | None = None


class Accepted(View):
    """The report was accepted."""

    accepted: bool


@router.post("/claim")
async def claim_jobs(body: ClaimBody, server: Server, principal: CurrentPrincipal) -> ClaimedJobs:
    """Take the next jobs, each with a lease. If the response is lost, repeat the request with the same Idempotency-Key:
    heartbeats renew the leases of all jobs that the worker holds."""
    return await server.run(_claim, server.store, body, worker_id_of(principal, body.worker_id), principal.address)


def _claim(store: Store, body: ClaimBody, worker_id: str, address: str) -> ClaimedJobs:
    store.registry.refresh()
    known = tuple(kind.key for kind in store.registry)
    types = tuple(dict.fromkeys(body.types)) or known
    if strange := [one for one in types if one not in known]:
        raise HttpProblem(422, f"there is no job type {strange[0]!r}")
    about = {"over": "http", "address": address}
    store.workers.beat(
        Heartbeat(worker_id, body.lease_seconds, types, "active", body.hostname or address, body.version, about)
    )
    claimed: list[Claimed] = []
    draining = store.workers.asked_to_drain(worker_id)
    while len(claimed) < body.batch_size and not draining:
        left = body.batch_size - len(claimed)
        try:
            batch = store.claim(ClaimRequest(worker_id, types, body.lease_seconds, batch_limit=left))
        except StoreError:
            if claimed:
                break  # the worker must learn what it holds: its heartbeats keep it
            raise
        if not batch:
            break
        claimed += batch
    return ClaimedJobs.model_construct(jobs=tuple(map(ClaimedJob.of, claimed)), draining=draining)


@router.post("/{job_id}/heartbeat")
async def heartbeat_job(job_id: PathId, body: BeatBody, server: Server, principal: CurrentPrincipal) -> Beat:
    """Renew the leases of the worker. 409 if it no longer holds this attempt."""
    worker_id = worker_id_of(principal, body.worker_id)
    about = {"over": "http", "address": principal.address}
    beat = Heartbeat(worker_id, body.lease_seconds, (), "active", principal.address, "", about)
    workers = server.store.workers
    held = await server.run(workers.beat, beat)
    mine = next((one for one in held if one.ref == AttemptRef(job_id, body.attempt_no)), None)
    if mine is None:
        raise _fenced(job_id, body.attempt_no)
    draining = await server.run(workers.asked_to_drain, worker_id)
    return Beat(held=True, cancel_requested=mine.cancel_requested, draining=draining)


@router.post("/{job_id}/complete")
async def complete_job(job_id: PathId, body: CompleteBody, server: Server, principal: CurrentPrincipal) -> Accepted:
    """Report success. 409, without any change, if the worker no longer holds the attempt."""
    return await _end(server, principal, job_id, body, Succeeded(artifacts=body.artifacts))


@router.post("/{job_id}/fail")
async def fail_job(job_id: PathId, body: FailBody, server: Server, principal: CurrentPrincipal) -> Accepted:
    """Report failure. 409, without any change, if the worker no longer holds the attempt."""
    outcome = Failed(body.error, body.permanent, body.timeout, exit_code=body.exit_code, retry_in=body.retry_in)
    return await _end(server, principal, job_id, body, outcome)


async def _end(server: Server, principal: Principal, job_id: int, body: _EndBody, outcome: Outcome) -> Accepted:
    worker_id = worker_id_of(principal, body.worker_id)
    code = exit_code_of(outcome) if body.exit_code is None else body.exit_code
    ref = AttemptRef(job_id, body.attempt_no)

    def report() -> bool:
        ended = Report(ref, redacted(outcome), code, clean(body.stdout_tail), clean(body.stderr_tail))
        return bool(server.store.exchange(worker_id, [ended]).accepted)

    if not await server.run(report):
        raise _fenced(job_id, body.attempt_no)
    return Accepted(accepted=True)


def _fenced(job_id: int, attempt_no: int) -> HttpProblem:
    return HttpProblem(409, f"this worker does not hold attempt {attempt_no} of job {job_id}: nothing was changed")
