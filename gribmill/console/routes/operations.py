"""Workers, mirrors and disk."""

from __future__ import annotations

from functools import partial

from fastapi import Request
from starlette.responses import Response

from gribmill.catalogue.events import MirrorCleared
from gribmill.console.pages.operations import sources_values, storage_values, workers_values
from gribmill.console.routes.page import act, console_state, show
from gribmill.console.wording import counted
from gribmill.pipeline.job_types import prune_job
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

REFRESH_SECONDS = 5


@router.get("/workers")
async def console_workers(
    request: Request, server: Server, principal: CurrentPrincipal, every: bool = False
) -> Response:
    """Workers and their heartbeats."""
    lease = server.settings.queue.lease_seconds
    values = partial(workers_values, server.store, lease, every=every)
    return await show(
        request, server, principal, "workers.html", "Workers", values, active="workers", refresh_seconds=REFRESH_SECONDS
    )


@router.post("/workers/{worker_id}/drain")
async def console_drain_worker(
    request: Request, server: Server, principal: CurrentPrincipal, worker_id: str
) -> Response:
    """Let a worker finish its running jobs, start no more, and stop."""

    def drain() -> str:
        server.store.workers.drain(worker_id)
        return f"worker {worker_id} finishes its running jobs, then stops"

    return await act(request, server, drain, "/workers", f"worker {worker_id[:80]}")


@router.post("/workers/{worker_id}/dismiss")
async def console_dismiss_worker(
    request: Request, server: Server, principal: CurrentPrincipal, worker_id: str
) -> Response:
    """Give up on a silent worker and put its jobs back into the queue."""

    def dismiss() -> str:
        server.store.workers.dismiss(worker_id, server.settings.queue.lease_seconds)
        back = len(server.store.maintenance.recover().requeued)
        return f"worker {worker_id} is dismissed; {counted(back, 'job')} went back into the queue"

    return await act(request, server, dismiss, "/workers", f"worker {worker_id[:80]}")


@router.get("/sources")
async def console_sources(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """The health of mirrors."""
    return await show(
        request,
        server,
        principal,
        "sources.html",
        "Sources",
        lambda: sources_values(server.weather, server.store),
        active="sources",
        refresh_seconds=2 * REFRESH_SECONDS,
    )


@router.post("/sources/{mirror}/clear")
async def console_clear_mirror(request: Request, server: Server, principal: CurrentPrincipal, mirror: str) -> Response:
    """Use a failing mirror again."""

    def clear() -> str:
        if mirror not in server.weather.catalogue.mirrors():
            raise HttpProblem(404, f"the mirror {mirror[:60]} has not been used yet")
        server.weather.catalogue.record([MirrorCleared(mirror)])
        return f"the mirror {mirror} is in use again"

    answer = await act(request, server, clear, "/sources", f"mirror {mirror[:60]}")
    console_state(request, server).weather.forget()
    return answer


@router.get("/storage")
async def console_storage(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Disk usage by model, run and region, and what would be removed."""
    return await show(
        request,
        server,
        principal,
        "storage.html",
        "Storage",
        lambda: storage_values(server.weather),
        active="storage",
    )


@router.post("/storage/prune")
async def console_prune_runs(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Enqueue a job that removes old runs."""

    def prune() -> str:
        made = server.store.jobs.enqueue(prune_job())
        return f"job {made.id} removes them" if made.created else f"job {made.id} already removes them"

    return await act(request, server, prune, "/storage", "old runs")
