"""Workers, mirrors and disk."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from gribmill.catalogue.events import MirrorCleared
from gribmill.console.frame import Refresh
from gribmill.console.pages.operations import sources_values, storage_values, workers_values
from gribmill.console.routes.visit import CurrentVisit
from gribmill.console.wording import counted
from gribmill.pipeline.job_types import prune_job
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

REFRESH = Refresh(5)


@router.get("/workers")
async def console_workers(visit: CurrentVisit, every: bool = False) -> Response:
    """Workers and their heartbeats."""
    lease = visit.server.settings.queue.lease_seconds
    values = partial(workers_values, visit.server.store, lease, every=every)
    return await visit.show("operations/workers.html", "Workers", values, active="workers", refresh=REFRESH)


@router.post("/workers/{worker_id}/drain")
async def console_drain_worker(visit: CurrentVisit, worker_id: str) -> Response:
    """Let a worker finish its running jobs, start no more, and stop."""

    def drain() -> str:
        visit.server.store.workers.drain(worker_id)
        return f"worker {worker_id} finishes its running jobs, then stops"

    return await visit.act(drain, "/workers", f"worker {worker_id[:80]}")


@router.post("/workers/{worker_id}/dismiss")
async def console_dismiss_worker(visit: CurrentVisit, worker_id: str) -> Response:
    """Mark a silent worker as stopped and requeue its jobs."""

    def dismiss() -> str:
        visit.server.store.workers.dismiss(worker_id, visit.server.settings.queue.lease_seconds)
        back = len(visit.server.store.maintenance.recover().requeued)
        return f"worker {worker_id} is dismissed; {counted(back, 'job')} went back into the queue"

    return await visit.act(dismiss, "/workers", f"worker {worker_id[:80]}")


@router.get("/sources")
async def console_sources(visit: CurrentVisit) -> Response:
    """The health of mirrors."""
    return await visit.show(
        "operations/sources.html",
        "Sources",
        lambda: sources_values(visit.server.weather, visit.server.store),
        active="sources",
        refresh=Refresh(10, covered=True),
    )


@router.post("/sources/{mirror}/clear")
async def console_clear_mirror(visit: CurrentVisit, mirror: str) -> Response:
    """Use a failing mirror again."""

    def clear() -> str:
        if mirror not in visit.server.weather.catalogue.mirrors():
            raise HttpProblem(404, f"the mirror {mirror[:60]} has not been used yet")
        visit.server.weather.catalogue.record([MirrorCleared(mirror)])
        return f"the mirror {mirror} is in use again"

    answer = await visit.act(clear, "/sources", f"mirror {mirror[:60]}")
    visit.weather.forget()
    return answer


@router.get("/storage")
async def console_storage(visit: CurrentVisit) -> Response:
    """Disk usage by model, run and region, and what the next prune would remove."""
    return await visit.show(
        "operations/storage.html",
        "Storage",
        lambda: storage_values(visit.server.weather),
        active="storage",
    )


@router.post("/storage/prune")
async def console_prune_runs(visit: CurrentVisit) -> Response:
    """Enqueue a job that removes old runs."""

    def prune() -> str:
        made = visit.server.store.jobs.enqueue(prune_job())
        return f"job {made.id} removes them" if made.created else f"job {made.id} already removes them"

    return await visit.act(prune, "/storage", "old runs")
