"""Job groups, and backfills from a form."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path
from starlette.responses import Response

from gribmill.console.frame import Notice, Refresh
from gribmill.console.pages.backfills import form_values, offers, read_requests
from gribmill.console.pages.groups import group_values, groups_values
from gribmill.console.routes.form import Form
from gribmill.console.routes.notices import back_with
from gribmill.console.routes.visit import BeforeId, CurrentVisit, Visit, refusal
from gribmill.console.wording import counted
from gribmill.errors import GribmillError
from gribmill.pipeline.backfill.backfill import enqueue_backfill, plan_backfill
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.server.context import ServerContext
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

REFRESH = Refresh(5)
FIELDS = ("model", "from", "to", "cycles", "hours", "regions")
LONGEST_FIELD = 300
GroupId = Annotated[int, Path(gt=0, lt=2**63)]


@router.get("/groups")
async def console_groups(visit: CurrentVisit, before: BeforeId = None) -> Response:
    """Groups and backfills, newest first."""
    values = partial(groups_values, visit.handle, before)
    refresh = REFRESH if before is None else None
    return await visit.show("jobs/groups.html", "Groups", values, active="groups", refresh=refresh)


@router.get("/groups/{group_id}")
async def console_group(visit: CurrentVisit, group_id: GroupId) -> Response:
    """One group."""
    values = partial(group_values, visit.handle, group_id)
    return await visit.show(
        "jobs/group.html",
        f"Group {group_id}",
        values,
        active="groups",
        refresh=REFRESH,
    )


@router.post("/groups/{group_id}/cancel")
async def console_cancel_group(visit: CurrentVisit, group_id: GroupId) -> Response:
    """Cancel waiting jobs, and ask running ones to stop."""
    groups = visit.handle.groups

    def cancel() -> str:
        done = groups.cancel(group_id, f"the group was cancelled by {visit.by}")
        return f"{counted(done.cancelled, 'job')} cancelled, {done.requested} asked to stop"

    return await visit.act(cancel, f"/groups/{group_id}", f"group {group_id}")


@router.post("/groups/{group_id}/retry")
async def console_retry_group(visit: CurrentVisit, group_id: GroupId) -> Response:
    """Retry the jobs that failed or were cancelled."""
    groups = visit.handle.groups

    def retry() -> str:
        made = groups.retry(group_id, cancelled=True, created_by=visit.by)
        return f"{counted(sum(one.created for one in made), 'job')} enqueued again"

    return await visit.act(retry, f"/groups/{group_id}", f"group {group_id}")


@router.get("/backfills/new")
async def console_new_backfill(visit: CurrentVisit) -> Response:
    """The backfill form; the query may prefill its fields."""
    given = visit.request.query_params
    return await _form(visit, {name: given.get(name, "")[:LONGEST_FIELD] for name in FIELDS})


@router.post("/backfills/estimate")
async def console_estimate_backfill(visit: CurrentVisit) -> Response:
    """Show what a backfill would fetch; nothing is enqueued."""
    fields = _fields(await visit.form())
    try:
        requests = await visit.server.run(read_requests, visit.server.weather, fields, visit.by)
        found = await visit.server.run_slow(offers, visit.server.weather, requests)
    except GribmillError as error:
        return await _form(visit, fields, problem=refusal(error))
    return await _form(visit, fields, offers=found)


@router.post("/backfills")
async def console_start_backfill(visit: CurrentVisit) -> Response:
    """Enqueue a backfill, and redirect to its group."""
    fields = _fields(await visit.form())
    change = visit.change
    change.after = fields
    try:
        names = await visit.server.run_slow(_start, visit.server, fields, visit.by)
    except GribmillError as error:
        return await _form(visit, fields, problem=refusal(error))
    change.object = ", ".join(names)
    if not names:
        return back_with("/backfills/new", Notice("Nothing to fetch: everything is already here.", "note"))
    group = await visit.server.run(visit.server.store.groups.find, names[0])
    return back_with(f"/groups/{group.id}", Notice("The backfill was enqueued."))


def _start(server: ServerContext, fields: dict[str, str], by: str) -> list[str]:
    weather = server.weather
    plans = [plan_backfill(weather, one) for one in read_requests(weather, fields, by)]
    live = wanted_regions(weather)
    return [enqueue_backfill(server.store, weather.catalogue, plan, live) for plan in plans if plan.files]


def _fields(form: Form) -> dict[str, str]:
    return {name: form.one(name)[:LONGEST_FIELD] for name in FIELDS}


async def _form(
    visit: Visit,
    fields: dict[str, str],
    *,
    offers: Any = None,
    problem: str | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        return {**form_values(visit.server.weather), "fields": fields, "offers": offers, "problem": problem}

    status = 422 if problem else 200
    return await visit.show("operations/backfill.html", "New backfill", values, active="backfills", status=status)
