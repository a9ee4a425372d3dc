"""Job groups, and backfills from a form."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import Response

from gribmill.console.frame import Notice
from gribmill.console.pages.backfills import form_values, offers, read_requests
from gribmill.console.pages.groups import group_values, groups_values
from gribmill.console.routes.page import Form, act, back_with, form_of, handle_of, show
from gribmill.console.wording import capital, counted
from gribmill.errors import GribmillError
from gribmill.pipeline.backfill.backfill import enqueue_backfill, plan_backfill
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.change import current_change
from gribmill.server.context import Server, ServerContext
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

REFRESH_SECONDS = 5
FIELDS = ("model", "from", "to", "cycles", "hours", "regions")
GroupId = Annotated[int, Path(gt=0, lt=2**63)]
Before = Annotated[int | None, Query(gt=0, lt=2**63)]


@router.get("/groups")
async def console_groups(
    request: Request, server: Server, principal: CurrentPrincipal, before: Before = None
) -> Response:
    """Groups and backfills, newest first."""
    values = partial(groups_values, handle_of(server, principal), before)
    refresh = REFRESH_SECONDS if before is None else None
    return await show(
        request, server, principal, "groups.html", "Groups", values, active="groups", refresh_seconds=refresh
    )


@router.get("/groups/{group_id}")
async def console_group(request: Request, server: Server, principal: CurrentPrincipal, group_id: GroupId) -> Response:
    """One group."""
    values = partial(group_values, handle_of(server, principal), group_id)
    return await show(
        request,
        server,
        principal,
        "group.html",
        f"Group {group_id}",
        values,
        active="groups",
        refresh_seconds=REFRESH_SECONDS,
    )


@router.post("/groups/{group_id}/cancel")
async def console_cancel_group(
    request: Request, server: Server, principal: CurrentPrincipal, group_id: GroupId
) -> Response:
    """Cancel waiting jobs, and ask running ones to stop."""
    groups = handle_of(server, principal).groups

    def cancel() -> str:
        done = groups.cancel(group_id, f"the group was cancelled by {principal.name}")
        return f"{counted(done.cancelled, 'job')} cancelled, {done.requested} asked to stop"

    return await act(request, server, cancel, f"/groups/{group_id}", f"group {group_id}")


@router.post("/groups/{group_id}/retry")
async def console_retry_group(
    request: Request, server: Server, principal: CurrentPrincipal, group_id: GroupId
) -> Response:
    """Retry the jobs that failed or were cancelled."""
    groups = handle_of(server, principal).groups

    def retry() -> str:
        made = groups.retry(group_id, cancelled=True, created_by=principal.name)
        return f"{counted(sum(one.created for one in made), 'job')} enqueued again"

    return await act(request, server, retry, f"/groups/{group_id}", f"group {group_id}")


@router.get("/backfills/new")
async def console_new_backfill(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """The form of a backfill."""
    return await _form(request, server, principal, dict.fromkeys(FIELDS, ""))


@router.post("/backfills/estimate")
async def console_estimate_backfill(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """What a backfill would fetch; nothing is enqueued."""
    fields = _fields(await form_of(request))
    try:
        requests = await server.run(read_requests, server.weather, fields, principal.name)
        found = await server.run(offers, server.weather, requests)
    except GribmillError as error:
        return await _form(request, server, principal, fields, problem=capital(str(error)))
    return await _form(request, server, principal, fields, offers=found)


@router.post("/backfills")
async def console_start_backfill(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Enqueue a backfill, and go to its group."""
    fields = _fields(await form_of(request))
    change = current_change(request)
    change.after = fields
    try:
        names = await server.run(_start, server, fields, principal.name)
    except GribmillError as error:
        return await _form(request, server, principal, fields, problem=capital(str(error)))
    change.object = ", ".join(names)
    if not names:
        return back_with("/backfills/new", Notice("Nothing to fetch: everything is already here.", "note"))
    group = await server.run(server.store.groups.find, names[0])
    return back_with(f"/groups/{group.id}", Notice("The backfill was enqueued."))


def _start(server: ServerContext, fields: dict[str, str], by: str) -> list[str]:
    plans = [plan_backfill(server.weather, one) for one in read_requests(server.weather, fields, by)]
    return [enqueue_backfill(server.store, server.weather.catalogue, plan) for plan in plans if plan.files]


def _fields(form: Form) -> dict[str, str]:
    return {name: form.one(name)[:300] for name in FIELDS}


async def _form(
    request: Request,
    server: ServerContext,
    principal: Principal,
    fields: dict[str, str],
    *,
    offers: Any = None,
    problem: str | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        return {**form_values(server.weather), "fields": fields, "offers": offers, "problem": problem}

    status = 422 if problem else 200
    return await show(
        request, server, principal, "backfill.html", "New backfill", values, active="backfills", status=status
    )
