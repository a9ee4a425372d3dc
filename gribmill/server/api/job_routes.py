"""Jobs: creating, listing, showing, summarizing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from gribmill.queue.model import Job, JobSource, NewJob
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.queue.store.scope import TenantStore
from gribmill.server.api.scope import Scope, TenantScope
from gribmill.server.api.values import (
    PAGE_LIMIT,
    Cursor,
    JsonObject,
    Key,
    Moment,
    Name,
    ObjectId,
    PageLimit,
    PathId,
    RequestBody,
    WholeNumber,
)
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.contract import (
    DEFAULT_PRIORITY,
    STATUSES,
    AttemptResource,
    ContractStatus,
    JobDetail,
    JobPage,
    JobResource,
    JobSummary,
    from_priority,
    job_filter,
)

router = SecuredRouter("/api/v1/jobs", tag="jobs")

FARTHEST_OFFSET = 10_000
Priority = Annotated[WholeNumber, Field(ge=-(2**31) + 200, le=2**31 - 200, description="Lower means sooner.")]


class NewJobBody(RequestBody):
    """A job to enqueue."""

    definition_key: Name
    payload: JsonObject = Field(default_factory=dict)
    priority: Priority = DEFAULT_PRIORITY
    scheduled_for: Moment | None = None
    dedupe_key: Key | None = None
    correlation_id: Name | None = None
    max_attempts: Annotated[WholeNumber, Field(ge=1, le=1000)] | None = None
    timeout_seconds: Annotated[WholeNumber, Field(ge=1, le=604_800)] | None = None
    after: Annotated[tuple[ObjectId, ...], Field(max_length=1000)] = ()
    group_id: ObjectId | None = None


@router.post("", status_code=201)
async def create_job(
    body: NewJobBody, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> JobResource:
    """Enqueue a job. If one with the same dedupe key is queued or running, 200 with that job."""

    def enqueue() -> tuple[Job, bool]:
        acting = scope.acting()
        new = NewJob(
            body.definition_key,
            body.payload,
            from_priority(body.priority),
            dedupe_key=body.dedupe_key,
            max_attempts=body.max_attempts,
            tenant_id=scope.new_tenant_id,
            correlation_id=body.correlation_id,
            created_by=scope.by,
            after=body.after,
            run_at=body.scheduled_for,
            timeout_seconds=body.timeout_seconds,
        )
        if body.group_id is None:
            made = acting.jobs.enqueue(new)
        else:
            (made,) = acting.groups.add(body.group_id, [new])
        return acting.jobs.get(made.id), made.created

    job, created = await server.run(enqueue)
    shown = JobResource.of(job)
    change.tenant_id, change.object = job.tenant_id, f"job {job.id}"
    change.after = shown.model_dump(warnings=False) if created else None
    response.status_code = 201 if created else 200
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return shown


@router.get("")
async def list_jobs(
    server: Server,
    scope: Scope,
    status: ContractStatus | None = None,
    source: JobSource | None = None,
    definition_key: Annotated[str | None, Query(max_length=200)] = None,
    correlation_id: Annotated[str | None, Query(max_length=1000)] = None,
    batching_key: Annotated[str | None, Query(max_length=1000)] = None,
    worker: Annotated[str | None, Query(max_length=200)] = None,
    group_id: Cursor = None,
    template_id: Cursor = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    limit: PageLimit = 50,
    offset: Annotated[int, Query(ge=0, le=FARTHEST_OFFSET, description="Jobs to skip; prefer `cursor`.")] = 0,
    cursor: Cursor = None,
) -> JobPage:
    """List jobs, newest first."""
    wanted = job_filter(
        status,
        definition_key,
        batching_key,
        worker,
        source=source,
        correlation_id=correlation_id,
        group_id=group_id,
        template_id=template_id,
        created_after=created_after,
        created_before=created_before,
    )
    if offset and cursor is not None:
        raise HttpProblem(422, "give an offset or a cursor, not both")
    return await server.run(_page, scope, wanted, limit, offset, cursor)


def _page(scope: TenantScope, wanted: JobFilter, limit: int, offset: int, cursor: int | None) -> JobPage:
    acting = scope.acting()
    if not offset:
        page = acting.jobs.list(wanted, limit=limit, before=cursor)
        return JobPage(jobs=tuple(map(JobResource.of, page.jobs)), next_cursor=page.next_before)
    found = [*islice(all_jobs(acting, wanted), offset, offset + limit + 1)]
    more = len(found) > limit
    return JobPage(jobs=tuple(map(JobResource.of, found[:limit])), next_cursor=found[limit - 1].id if more else None)


def all_jobs(acting: Store | TenantStore, wanted: JobFilter) -> Iterator[Job]:
    """All matching jobs, newest first, a page at a time."""
    before: int | None = None
    while True:
        page = acting.jobs.list(wanted, limit=PAGE_LIMIT, before=before)
        yield from page.jobs
        before = page.next_before
        if before is None:
            return


@router.get("/summary")
async def summarize_jobs(server: Server, scope: Scope) -> JobSummary:
    """Count jobs by status, with the age of the oldest queued job and the number of running ones."""
    return await server.run(_summary, scope)


def _summary(scope: TenantScope) -> JobSummary:
    types = scope.server.store.types
    ours = Counter[str]()
    for (_, status), count in scope.acting().activity.counts().items():
        ours[status] += count
    counts = {theirs: ours[status] for status, theirs in STATUSES.items()}
    dead = types.dead_letters(scope.tenant_id)
    return JobSummary(
        # A job may have become a dead letter since the others were counted.
        counts={**counts, "failed": max(0, counts["failed"] - dead), "dead_letter": dead},
        oldest_queued_age_seconds=types.oldest_ready(scope.tenant_id),
        running_count=counts["running"],
    )


@router.get("/{job_id}")
async def show_job(job_id: PathId, server: Server, scope: Scope) -> JobDetail:
    """Show one job, and why it has not started yet."""

    def look() -> JobDetail:
        acting = scope.acting()
        history = acting.jobs.history(job_id)
        waits = acting.jobs.readiness().why_not(history.job) if history.job.status == "pending" else None
        return JobDetail.model_construct(
            **dict(JobResource.of(history.job)),
            waits_for=waits,
            parents=tuple(one.id for one in history.parents),
            children=tuple(one.id for one in history.children),
            retries=tuple(one.id for one in history.chain),
        )

    return await server.run(look)


@router.get("/{job_id}/attempts")
async def list_attempts(job_id: PathId, server: Server, scope: Scope) -> tuple[AttemptResource, ...]:
    """List the attempts of a job in order, with the end of their output."""

    def look() -> tuple[AttemptResource, ...]:
        return tuple(map(AttemptResource.of, scope.acting().jobs.history(job_id).attempts))

    return await server.run(look)
