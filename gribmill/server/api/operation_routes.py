"""Operations on the whole queue: workers, reservations, ticks."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal

from pydantic import Field

from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import Reservation
from gribmill.queue.store.reservations import EVERYTHING, LONGEST_SECONDS
from gribmill.queue.worker.in_process import TickedJob, Ticker
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.api.values import Name, Number, PathName, PathWorker, RequestBody, WholeNumber
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.attempt import TickView
from gribmill.views.queue.reservation import ReservationView
from gribmill.views.queue.worker import WorkerDismissedView, WorkerDrainedView, WorkerView, worker_views
from gribmill.views.view import View

workers = SecuredRouter("/api/v1/workers", tag="workers")
reservations = SecuredRouter("/api/v1/reservations", tag="reservations")
operations = SecuredRouter("/api/jobs", tag="operations")

MOST_TICKED = 100
ReservedSeconds = Annotated[Number, Field(gt=0, le=LONGEST_SECONDS)]
# One tick at a time, in its own thread, because a job may take a long time.
_ticking = ThreadPoolExecutor(1, thread_name_prefix="gribmill-tick")


class NewReservationBody(RequestBody):
    """Reserve a job type, or all (`*`), for some time."""

    seconds: ReservedSeconds
    scope: Name = EVERYTHING


class ExtendBody(RequestBody):
    """How long the reservation lasts from now."""

    seconds: ReservedSeconds


class TickBody(RequestBody):
    """The number of jobs to run, and their types."""

    limit: Annotated[WholeNumber, Field(ge=1, le=MOST_TICKED)] = 1
    types: Annotated[tuple[Name, ...], Field(max_length=100)] = ()


class Ticked(View):
    """The attempts of this tick."""

    ok: Literal[True] = True
    ran: tuple[TickView, ...]


@workers.get("")
async def list_workers(server: Server) -> tuple[WorkerView, ...]:
    """List workers and their last heartbeats."""
    return tuple(await server.run(worker_views, server.store, server.settings.queue.lease_seconds))


@workers.post("/{worker}/drain")
async def drain_worker(worker: PathWorker, server: Server, change: CurrentChange) -> WorkerDrainedView:
    """Let a worker finish its running jobs, start no new ones, and stop. 409 if it is draining or has stopped."""
    change.tenant_id, change.object = None, f"worker {worker}"
    await server.run(server.store.workers.drain, worker)
    change.after = {"state": "draining"}
    return WorkerDrainedView(id=worker)


@workers.post("/{worker}/dismiss")
async def dismiss_worker(worker: PathWorker, server: Server, change: CurrentChange) -> WorkerDismissedView:
    """Mark a silent worker as stopped and requeue its jobs. 409 if it sent a heartbeat recently."""
    change.tenant_id, change.object = None, f"worker {worker}"
    await server.run(server.store.workers.dismiss, worker, server.settings.queue.lease_seconds)
    found = await server.run(server.store.maintenance.recover)
    change.after = {"state": "stopped", "requeued": [*found.requeued]}
    return WorkerDismissedView(id=worker, requeued=tuple(found.requeued))


@reservations.get("")
async def list_reservations(server: Server) -> tuple[ReservationView, ...]:
    """List active reservations."""
    return tuple(map(ReservationView.of, await server.run(server.store.reservations.list)))


@reservations.post("", status_code=201)
async def create_reservation(
    body: NewReservationBody, server: Server, principal: CurrentPrincipal, change: CurrentChange
) -> ReservationView:
    """Reserve the queue or one job type, so that no covered job starts. 409 if another caller has reserved it."""
    if body.scope != EVERYTHING and body.scope not in server.store.registry:
        raise HttpProblem(422, "there is no such job type", errors=[("body.scope", "must be a job type or *")])
    held = await server.run(server.store.reservations.reserve, principal.name, body.seconds, body.scope)
    change.tenant_id, change.object = None, f"reservation {held.id}"
    change.after = ReservationView.of(held).model_dump()
    return ReservationView.of(held)


@reservations.patch("/{reservation_id}")
async def extend_reservation(
    reservation_id: PathName, body: ExtendBody, server: Server, change: CurrentChange
) -> ReservationView:
    """Extend or shorten a reservation."""

    def extend() -> Reservation:
        _reservation(server, reservation_id)
        server.store.reservations.extend(reservation_id, body.seconds)
        return _reservation(server, reservation_id)

    change.tenant_id, change.object = None, f"reservation {reservation_id}"
    held = await server.run(extend)
    change.after = ReservationView.of(held).model_dump()
    return ReservationView.of(held)


@reservations.delete("/{reservation_id}", status_code=204)
async def release_reservation(reservation_id: PathName, server: Server, change: CurrentChange) -> None:
    """End a reservation."""

    def release() -> Reservation:
        held = _reservation(server, reservation_id)
        server.store.reservations.release(reservation_id)
        return held

    change.tenant_id, change.object = None, f"reservation {reservation_id}"
    change.before = ReservationView.of(await server.run(release)).model_dump()


def _reservation(server: ServerContext, reservation_id: str) -> Reservation:
    found = next((one for one in server.store.reservations.list() if one.id == reservation_id), None)
    if found is None:
        raise HttpProblem(404, "there is no such active reservation")
    return found


@operations.post("/tick")
async def tick(server: Server, change: CurrentChange, body: TickBody | None = None) -> Ticked:
    """Run a few ready jobs in the server's own process. For development only; use workers in production."""
    wanted = body or TickBody()
    if strange := [one for one in wanted.types if one not in server.store.registry]:
        raise HttpProblem(422, f"there is no job type {strange[0]!r}")
    ran = await asyncio.get_running_loop().run_in_executor(_ticking, _tick, server, wanted)
    views = tuple(TickView.of(one) for one in ran)
    change.tenant_id, change.after = None, {"jobs": [one.job_id for one in views]}
    return Ticked(ran=views)


def _tick(server: ServerContext, wanted: TickBody) -> list[TickedJob]:
    settings = server.settings
    ticker = Ticker(
        server.store, settings.queue.lease_seconds, settings.model_dump(mode="json"), logs=output_logs(settings)
    )
    return ticker.tick(wanted.limit, wanted.types)
