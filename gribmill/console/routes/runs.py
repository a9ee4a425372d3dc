"""Runs, one run, one hour of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import Request
from starlette.responses import Response

from gribmill.console.pages.runs import hour_values, run_values, runs_values
from gribmill.console.routes.page import act, handle_of, show
from gribmill.identity import HourRef, IdentityError, RunRef
from gribmill.pipeline.job_types import ingest_job
from gribmill.queue.store import Store
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/runs", tag="console", in_docs=False)

REFRESH_SECONDS = 5


@router.get("")
async def console_runs(
    request: Request, server: Server, principal: CurrentPrincipal, model: str | None = None
) -> Response:
    """The newest runs of a model, hour by hour."""

    def values() -> dict[str, Any]:
        return runs_values(server.weather, model, visible_regions(server, principal))

    return await show(
        request, server, principal, "runs.html", "Runs", values, active="runs", refresh_seconds=REFRESH_SECONDS
    )


def visible_regions(server: ServerContext, principal: Principal) -> set[str] | None:
    """The regions that the visitor may see: a tenant's own and shared ones; None for all."""
    handle = handle_of(server, principal)
    if isinstance(handle, Store):
        return None
    return {*server.settings.chain.regions, *handle.tenant().regions}


@router.get("/{model_id}/{run_id}")
async def console_run(
    request: Request, server: Server, principal: CurrentPrincipal, model_id: str, run_id: str
) -> Response:
    """The timeline of one run."""
    try:
        ref = RunRef(model_id, run_id)
    except IdentityError as error:
        raise HttpProblem(404, str(error)) from None

    def values() -> dict[str, Any]:
        found = run_values(server.weather, ref, visible_regions(server, principal))
        if found is None:
            raise HttpProblem(404, f"there is no run {run_id} of {model_id} here")
        return found

    title = f"{model_id} {run_id}"
    return await show(
        request, server, principal, "run.html", title, values, active="runs", refresh_seconds=REFRESH_SECONDS
    )


@router.get("/{model_id}/{run_id}/{hour}")
async def console_hour(
    request: Request, server: Server, principal: CurrentPrincipal, model_id: str, run_id: str, hour: int
) -> Response:
    """One hour: its source, its tiles, its jobs."""
    ref = _hour(model_id, run_id, hour)

    def values() -> dict[str, Any]:
        handle = handle_of(server, principal)
        return hour_values(server.weather, handle, ref, visible_regions(server, principal))

    return await show(
        request,
        server,
        principal,
        "hour.html",
        f"{model_id} {run_id} hour {hour}",
        values,
        active="runs",
        refresh_seconds=REFRESH_SECONDS,
    )


@router.post("/{model_id}/{run_id}/{hour}/fetch")
async def console_fetch_hour(
    request: Request, server: Server, principal: CurrentPrincipal, model_id: str, run_id: str, hour: int
) -> Response:
    """Download one file again, and build its tiles."""
    ref = _hour(model_id, run_id, hour)
    back = f"/runs/{model_id}/{run_id}/{hour}"
    return await act(request, server, partial(_fetch, server, ref, principal.name), back, str(ref))


def _fetch(server: ServerContext, ref: HourRef, by: str) -> str:
    model = server.weather.models.get(ref.model_id)
    if model is None or ref.hour not in model.hours(ref.run.time):
        raise HttpProblem(404, f"{ref.model_id} has no hour {ref.hour} in the run {ref.run_id}")
    made = server.store.jobs.enqueue(ingest_job(ref, live=True, requested_by=by))
    return f"job {made.id} fetches it" if made.created else f"job {made.id} already fetches it"


def _hour(model_id: str, run_id: str, hour: int) -> HourRef:
    try:
        ref = HourRef(model_id, run_id, hour)
        _ = ref.run.time
    except IdentityError as error:
        raise HttpProblem(404, str(error)) from None
    return ref
