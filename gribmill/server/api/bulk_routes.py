"""Bulk actions on jobs."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from fastapi import Response

from gribmill.queue.model import JobSource
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.server.api.job_actions import Acting
from gribmill.server.api.job_routes import all_jobs, router
from gribmill.server.api.scope import Scope, TenantScope
from gribmill.server.api.values import Key, Moment, Name, ObjectId, PathName, RequestBody, WholeNumber
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.state.bulk import MOST, BulkAction, BulkOperation
from gribmill.views.queue.contract import ContractStatus, job_filter
from gribmill.views.view import View

STATUSES: dict[BulkAction, tuple[ContractStatus, ...]] = {
    "cancel": ("queued", "running"),
    "retry": ("failed", "dead_letter", "canceled", "succeeded"),
    "run-now": ("queued",),
}


class BulkFilter(RequestBody):
    """The same filter as for listing jobs. The status is required, so that an empty filter cannot match everything."""

    status: ContractStatus
    definition_key: Name | None = None
    source: JobSource | None = None
    correlation_id: Key | None = None
    batching_key: Key | None = None
    group_id: ObjectId | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None


class BulkBody(RequestBody):
    """The action and the filter. `dry_run` only counts; `expected` gives 409 if a different number of jobs matches."""

    action: BulkAction
    filter: BulkFilter
    dry_run: bool = False
    expected: WholeNumber | None = None


class Refusal(View):
    """A job that was not changed, and why."""

    id: int
    error: str


class BulkView(View):
    """Progress of a bulk action. `id` is null if jobs were only counted."""

    id: str | None
    action: BulkAction
    state: Literal["counted", "running", "finished", "failed"]
    matched: int
    done: int
    refused: int
    refusals: tuple[Refusal, ...]
    error: str | None

    @classmethod
    def of(cls, one: BulkOperation) -> BulkView:
        refusals = tuple(Refusal(id=job_id, error=error) for job_id, error in one.refusals)
        return cls.copy_of(one, refusals=refusals)


@router.post("/bulk", responses={202: {"model": BulkView, "description": "It continues in the background."}})
async def bulk_jobs(
    body: BulkBody, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> BulkView:
    """Cancel, retry or start every matching job. For more than 1,000 jobs: 202, with the progress at `Location`."""
    if body.filter.status not in STATUSES[body.action]:
        wanted = " or ".join(STATUSES[body.action])
        raise HttpProblem(422, f"{body.action} is for jobs that are {wanted}")

    change.tenant_id, change.before = scope.tenant_id, body.model_dump(mode="json")
    view = await server.run(_begin, server, scope, body)
    change.object, change.after = f"{view.matched} jobs", view.model_dump(exclude={"refusals"})
    if view.state == "running":
        response.status_code = 202
        response.headers["Location"] = f"/api/v1/jobs/bulk/{view.id}"
    return view


def _begin(server: Server, scope: TenantScope, body: BulkBody) -> BulkView:
    acting = scope.acting()
    ids = [job.id for job in islice(all_jobs(acting, _filter(body)), MOST + 1)]
    if len(ids) > MOST:
        raise HttpProblem(422, f"more than {MOST} jobs match: narrow the filter")
    if body.expected is not None and body.expected != len(ids):
        raise HttpProblem(409, f"{len(ids)} jobs match now, not {body.expected}: review them and try again")
    if body.dry_run:
        nothing: dict[str, Any] = {"done": 0, "refused": 0, "refusals": (), "error": None}
        return BulkView(id=None, action=body.action, state="counted", matched=len(ids), **nothing)
    operation = server.bulk.begin(
        body.action, scope.tenant_id, ids[::-1], lambda job_id: _act(acting, body.action, job_id, scope.by)
    )
    return BulkView.of(operation)


def _filter(body: BulkBody) -> JobFilter:
    same = body.filter.model_dump(exclude={"status", "definition_key", "batching_key"})
    wanted = job_filter(body.filter.status, body.filter.definition_key, body.filter.batching_key, None, **same)
    return replace(wanted, retried=False) if body.action == "retry" else wanted


def _act(acting: Acting, action: BulkAction, job_id: int, by: str) -> None:
    if action == "cancel":
        acting.jobs.cancel(job_id, f"cancelled with others by {by}")
    elif action == "retry":
        acting.jobs.retry(job_id, created_by=by)
    else:
        acting.jobs.run_now(job_id)


@router.get("/bulk/{operation_id}")
async def show_bulk(operation_id: PathName, server: Server, scope: Scope) -> BulkView:
    """Show the progress of a bulk action."""
    found = server.bulk.get(operation_id)
    if found is None or scope.tenant_id not in (None, found.tenant_id):
        raise HttpProblem(404, "there is no such bulk action; only the latest are kept")
    return BulkView.of(found)
