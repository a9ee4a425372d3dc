"""The overview, the login form, and releasing reservations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from gribmill.console.frame import Handle, frame
from gribmill.console.pages.attention import QueueState, troubles_of, troubles_of_tenant
from gribmill.console.pages.overview import overview_values
from gribmill.console.render import render
from gribmill.console.routes.page import ConsoleState, act, console_state, form_of, handle_of, show, visitor_of
from gribmill.console.routes.runs import visible_regions
from gribmill.queue.model import Worker
from gribmill.queue.store import Store
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.access.return_path import return_path
from gribmill.server.context import Server, ServerContext
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.worker import WorkerView

router = SecuredRouter(tag="console", in_docs=False)

REFRESH_SECONDS = 5


@router.get("/")
async def console_overview(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Freshness, the queue, what needs attention."""
    read = partial(_values, server, console_state(request, server), principal)
    return await show(
        request,
        server,
        principal,
        "overview.html",
        "Overview",
        read,
        active="overview",
        refresh_seconds=REFRESH_SECONDS,
    )


def _values(server: ServerContext, state: ConsoleState, principal: Principal) -> dict[str, Any]:
    handle, look = handle_of(server, principal), state.weather.get()
    workers = server.store.workers.list()
    regions = visible_regions(server, principal)
    lease = server.settings.queue.lease_seconds
    values = overview_values(handle, look, workers, lease, regions, visitor_of(principal))
    queue = _queue_state(handle, values["queue"]["dead_count"], workers, lease)
    troubles = troubles_of(look, queue) if isinstance(handle, Store) else troubles_of_tenant(look, queue)
    return {**values, "troubles": troubles}


def _queue_state(handle: Handle, dead: int, workers: Sequence[Worker], lease_seconds: float) -> QueueState:
    if not isinstance(handle, Store):
        return QueueState(dead=dead)
    offset = handle.workers.clock_offset()
    views = [WorkerView.of(one, lease_seconds, clock_offset=offset) for one in workers if one.state != "stopped"]
    return QueueState(
        paused=sorted(handle.types.paused()),
        reservations=handle.reservations.list(),
        workers=views,
        leader=handle.workers.leader(),
        dead=dead,
        skew_seconds=abs(offset),
        disabled_webhooks=sum(not one.is_enabled and bool(one.disabled_reason) for one in handle.webhooks.list()),
    )


@router.get("/login")
async def console_login(
    server: Server, principal: CurrentPrincipal, refused: bool = False, back: Annotated[str, Query(alias="next")] = ""
) -> Response:
    """The form that takes a token."""
    values = {"page": frame(None, "Log in"), "refused": refused, "who": principal, "back": return_path(back)}
    return HTMLResponse(await server.run(render, "login.html", values))


@router.post("/reservations/release")
async def console_release_reservation(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Release a reservation, so that its jobs can start again."""
    reservation_id = (await form_of(request)).one("id")

    def release() -> str:
        server.store.reservations.release(reservation_id)
        return "the reservation was released"

    return await act(request, server, release, "/", f"reservation {reservation_id}")
