"""Actions on one job: cancel, retry, run now, move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import Field

from gribmill.queue.model import Job
from gribmill.queue.store import Store
from gribmill.queue.store.scope import TenantStore
from gribmill.server.api.job_routes import Priority, router
from gribmill.server.api.scope import Scope, TenantScope
from gribmill.server.api.values import ObjectId, PathId, RequestBody, Text
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.views.queue.contract import CanceledJob, JobResource, RetriedJob, from_priority

Acting = Store | TenantStore


class CancelBody(RequestBody):
    """Why a job is cancelled."""

    reason: Annotated[Text, Field(max_length=1000)] = "cancelled"


class MoveBody(RequestBody):
    """Where to move a queued job: to an end of its priority, next to another job, or to another priority."""

    to: Literal["front", "back"] | None = None
    before: ObjectId | None = None
    behind: ObjectId | None = None
    priority: Priority | None = None


async def _act(
    server: Server, scope: TenantScope, change: CurrentChange, job_id: int, act: Callable[[Acting], Any]
) -> tuple[Any, Job]:
    """Run the action; returns its result and the changed job, and records both states in the audit trail."""

    def run() -> tuple[Any, Job, Job]:
        acting = scope.acting()
        before = acting.jobs.get(job_id)
        return act(acting), before, acting.jobs.get(job_id)

    change.object = f"job {job_id}"
    result, before, after = await server.run(run)
    change.tenant_id = before.tenant_id
    old, new = (JobResource.of(one).model_dump(warnings=False) for one in (before, after))
    changed = [name for name in old if old[name] != new[name]]
    change.before, change.after = ({name: one[name] for name in changed} for one in (old, new))
    return result, after


@router.post("/{job_id}/cancel")
async def cancel_job(
    job_id: PathId, server: Server, scope: Scope, change: CurrentChange, body: CancelBody | None = None
) -> CanceledJob:
    """Cancel a queued job, or ask a running one to stop. 409 if it has ended."""
    reason = (body or CancelBody()).reason
    result, job = await _act(server, scope, change, job_id, lambda acting: acting.jobs.cancel(job_id, reason))
    word: Literal["canceled", "requested"] = "canceled" if result == "cancelled" else "requested"
    return CanceledJob.model_construct(**dict(JobResource.of(job)), result=word)


@router.post("/{job_id}/retry", status_code=201)
async def retry_job(
    job_id: PathId, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> RetriedJob:
    """Run a finished job again, as a new job. 409 if it has not ended."""

    def retry(acting: Acting) -> RetriedJob:
        made = acting.jobs.retry(job_id, created_by=scope.by)
        return RetriedJob(id=made.id, created=made.created, job=JobResource.of(acting.jobs.get(made.id)))

    result, _ = await _act(server, scope, change, job_id, retry)
    assert isinstance(result, RetriedJob)
    change.after = {"retried as": result.id}
    response.headers["Location"] = f"/api/v1/jobs/{result.id}"
    return result


@router.post("/{job_id}/run-now")
async def run_job_now(job_id: PathId, server: Server, scope: Scope, change: CurrentChange) -> JobResource:
    """Let a delayed job start now. 409 if it is not queued."""
    _, job = await _act(server, scope, change, job_id, lambda acting: acting.jobs.run_now(job_id))
    return JobResource.of(job)


@router.post("/{job_id}/move")
async def move_job(job_id: PathId, body: MoveBody, server: Server, scope: Scope, change: CurrentChange) -> JobResource:
    """Move a queued job. 409 if it is not queued."""
    if len(body.given()) != 1:
        raise HttpProblem(422, "give exactly one of to, before, behind and priority")
    _, job = await _act(server, scope, change, job_id, lambda acting: _move(acting, job_id, body))
    return JobResource.of(job)


def _move(acting: Acting, job_id: int, body: MoveBody) -> None:
    if body.before is not None:
        acting.jobs.move_before(job_id, body.before)
    elif body.behind is not None:
        acting.jobs.move_after(job_id, body.behind)
    elif body.priority is not None:
        acting.jobs.set_priority(job_id, from_priority(body.priority))
    elif body.to == "front":
        acting.jobs.move_to_front(job_id)
    elif body.to == "back":
        acting.jobs.move_to_back(job_id)
    else:
        raise HttpProblem(422, "give a place to move to")
