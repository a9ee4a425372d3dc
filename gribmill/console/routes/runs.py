"""The list of runs, one run, and one hour of a run."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import Response

from gribmill.console.frame import Refresh
from gribmill.console.pages.runs import hour_values, run_values, runs_values
from gribmill.console.routes.visit import CurrentVisit
from gribmill.identity import HourRef, IdentityError, RunRef, whole_run
from gribmill.pipeline.job_types import ingest_job
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/runs", tag="console", in_docs=False)

REFRESH = Refresh(5, covered=True)


@router.get("")
async def console_runs(visit: CurrentVisit, model: str | None = None) -> Response:
    """The newest runs of a model, hour by hour."""

    def values() -> dict[str, Any]:
        return runs_values(visit.server.weather, model, visit.regions())

    return await visit.show("runs/runs.html", "Runs", values, active="runs", refresh=REFRESH)


@router.get("/{model_id}/{run_id}")
async def console_run(visit: CurrentVisit, model_id: str, run_id: str) -> Response:
    """The timeline of one run."""
    try:
        ref = RunRef(model_id, run_id)
    except IdentityError as error:
        raise HttpProblem(404, str(error)) from None

    def values() -> dict[str, Any]:
        found = run_values(visit.server.weather, ref, visit.regions())
        if found is None:
            raise HttpProblem(404, f"there is no run {run_id} of {model_id} here")
        return found

    title = f"{model_id} {run_id}"
    return await visit.show("runs/run.html", title, values, active="runs", refresh=REFRESH)


@router.get("/{model_id}/{run_id}/{hour}")
async def console_hour(visit: CurrentVisit, model_id: str, run_id: str, hour: int) -> Response:
    """One hour: its source, its tiles, its jobs."""
    ref = _hour(model_id, run_id, hour)

    def values() -> dict[str, Any]:
        handle = visit.handle
        return hour_values(visit.server.weather, handle, ref, visit.regions())

    return await visit.show(
        "runs/hour.html",
        f"{model_id} {run_id} hour {hour}",
        values,
        active="runs",
        refresh=REFRESH,
    )


@router.post("/{model_id}/{run_id}/{hour}/fetch")
async def console_fetch_hour(visit: CurrentVisit, model_id: str, run_id: str, hour: int) -> Response:
    """Download one file again, and build its tiles."""
    ref = _hour(model_id, run_id, hour)
    back = f"/runs/{model_id}/{run_id}/{hour}"
    return await visit.act(partial(_fetch, visit.server, ref, visit.by), back, str(ref))


def _fetch(server: ServerContext, ref: HourRef, by: str) -> str:
    model = server.weather.models.get(ref.model_id)
    if model is None or ref.hour not in model.hours(ref.run.time):
        raise HttpProblem(404, f"{ref.model_id} has no hour {ref.hour} in the run {ref.run_id}")
    made = server.store.jobs.enqueue(ingest_job(ref, live=True, requested_by=by))
    return f"job {made.id} fetches it" if made.created else f"job {made.id} already fetches it"


def _hour(model_id: str, run_id: str, hour: int) -> HourRef:
    try:
        ref = HourRef(model_id, run_id, hour)
        whole_run(run_id)
    except IdentityError as error:
        raise HttpProblem(404, str(error)) from None
    return ref
