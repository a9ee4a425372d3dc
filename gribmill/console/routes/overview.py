"""The overview, the login form, and releasing reservations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Query
from starlette.responses import HTMLResponse, Response

from gribmill.console.frame import AnyStore, Refresh, Visitor, frame
from gribmill.console.pages.attention import QueueState, troubles_of, troubles_of_tenant
from gribmill.console.pages.overview import DEAD_COUNTED, overview_values
from gribmill.console.render import render
from gribmill.console.routes.visit import CurrentVisit, Visit, remembered_weather
from gribmill.console.weather_look import WeatherLook
from gribmill.queue.model import Worker
from gribmill.queue.store import Store
from gribmill.server.access.return_path import return_path
from gribmill.server.context import ServerContext
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.worker import WorkerView

router = SecuredRouter(tag="console", in_docs=False)

REFRESH = Refresh(5)


@router.get("/")
async def console_overview(visit: CurrentVisit) -> Response:
    """Freshness, the queue, and what needs attention."""
    return await visit.show(
        "overview.html",
        "Overview",
        partial(_values, visit),
        active="overview",
        refresh=REFRESH,
    )


def _values(visit: Visit) -> dict[str, Any]:
    return _read(visit.server, visit.handle, visit.weather.get(), visit.regions(), visit.visitor)


def _read(
    server: ServerContext, handle: AnyStore, look: WeatherLook, regions: set[str] | None, visitor: Visitor
) -> dict[str, Any]:
    workers = server.store.workers.list()
    lease = server.settings.queue.lease_seconds
    values = overview_values(handle, look, workers, lease, regions, visitor)
    queue = _queue_state(handle, workers, lease)
    troubles = troubles_of(look, queue) if isinstance(handle, Store) else troubles_of_tenant(look, queue)
    return {**values, "troubles": troubles}


def warm_up(app: FastAPI) -> None:
    """Make the overview of an operator once: the templates are compiled then, and the jobs of the last hour read."""
    server: ServerContext = app.state.context
    visitor = Visitor("warm-up", "super_admin")
    values = _read(server, server.store, remembered_weather(app).get(), None, visitor)
    render("overview.html", {"page": frame(visitor, "Overview", "overview", refresh=REFRESH), **values})


def _queue_state(handle: AnyStore, workers: Sequence[Worker], lease_seconds: float) -> QueueState:
    dead = handle.activity.unretried_dead_letters(DEAD_COUNTED)
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
    visit: CurrentVisit, refused: bool = False, back: Annotated[str, Query(alias="next")] = ""
) -> Response:
    """The login form, which asks for a token."""
    values = {"page": frame(None, "Log in"), "refused": refused, "who": visit.principal, "back": return_path(back)}
    return HTMLResponse(await visit.server.run(render, "access/login.html", values))


@router.post("/reservations/release")
async def console_release_reservation(visit: CurrentVisit) -> Response:
    """Release a reservation, so that its jobs can start again."""
    reservation_id = (await visit.form()).one("id")

    def release() -> str:
        visit.server.store.reservations.release(reservation_id)
        return "the reservation was released"

    return await visit.act(release, "/", f"reservation {reservation_id}")
