"""Jobs: the list, one job with its log, and actions on jobs."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Path
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from gribmill.console.frame import AnyStore, Refresh
from gribmill.console.job_search import read_search
from gribmill.console.pages.job import job_values
from gribmill.console.pages.jobs import jobs_values
from gribmill.console.routes.visit import BeforeId, CurrentVisit
from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import AttemptRef
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/jobs", tag="console", in_docs=False)

REFRESH = Refresh(4)
LOG_BYTES = 2_000_000
JobId = Annotated[int, Path(gt=0, lt=2**63)]


@router.get("")
async def console_jobs(visit: CurrentVisit, q: str = "", status: str = "", before: BeforeId = None) -> Response:
    """A page of jobs, newest first."""
    handle = visit.handle
    search = await visit.server.run(read_search, handle, q, status)
    if search.job_id is not None:
        return RedirectResponse(f"/jobs/{search.job_id}", 303)
    # Older pages do not change while they are read.
    refresh = REFRESH if before is None else None
    values = partial(jobs_values, handle, search, before)
    return await visit.show("jobs/jobs.html", "Jobs", values, active="jobs", refresh=refresh)


@router.get("/{job_id}")
async def console_job(visit: CurrentVisit, job_id: JobId) -> Response:
    """One job."""
    handle = visit.handle
    values = partial(job_values, handle, job_id, output_logs(visit.server.settings))
    return await visit.show(
        "jobs/job.html",
        f"Job {job_id}",
        values,
        active="jobs",
        refresh=REFRESH,
    )


@router.get("/{job_id}/attempts/{attempt_no}/log")
async def console_job_log(visit: CurrentVisit, job_id: JobId, attempt_no: JobId) -> Response:
    """The last 2 MB of an attempt's log as plain text."""
    handle = visit.handle
    text = await visit.server.run(_log, visit.server, handle, AttemptRef(job_id, attempt_no))
    return PlainTextResponse(text, headers={"Content-Disposition": "inline"})


def _log(server: ServerContext, handle: AnyStore, ref: AttemptRef) -> bytes:
    handle.jobs.get(ref.job_id)
    path = output_logs(server.settings).path(ref)
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - LOG_BYTES))
            return file.read(LOG_BYTES)
    except OSError:
        raise HttpProblem(404, f"attempt {ref.attempt_no} of job {ref.job_id} has no log on this host") from None


@router.post("/{job_id}/cancel")
async def console_cancel_job(visit: CurrentVisit, job_id: JobId) -> Response:
    """Cancel one job, or ask it to stop."""
    jobs = visit.handle.jobs

    def cancel() -> str:
        done = jobs.cancel(job_id, f"cancelled by {visit.by}")
        return f"job {job_id} was cancelled" if done == "cancelled" else f"job {job_id} was asked to stop"

    return await visit.act(cancel, f"/jobs/{job_id}", f"job {job_id}")


@router.post("/{job_id}/retry")
async def console_retry_job(visit: CurrentVisit, job_id: JobId) -> Response:
    """Enqueue a finished job again, and redirect to the new one."""
    jobs = visit.handle.jobs
    made: list[int] = []

    def retry() -> str:
        new = jobs.retry(job_id, created_by=visit.by)
        made.append(new.id)
        return f"job {new.id} retries job {job_id}" if new.created else f"job {new.id} already does this"

    answer = await visit.act(retry, f"/jobs/{job_id}", f"job {job_id}")
    if made:
        answer.headers["location"] = f"/jobs/{made[0]}"
    return answer


@router.post("/{job_id}/run_now")
async def console_run_job(visit: CurrentVisit, job_id: JobId) -> Response:
    """Let a delayed job start at once."""
    move = partial(_move, visit.handle, job_id, "run_now")
    return await visit.act(move, f"/jobs/{job_id}", f"job {job_id}")


@router.post("/{job_id}/move_to_front")
async def console_advance_job(visit: CurrentVisit, job_id: JobId) -> Response:
    """Move a job ahead of all others of its priority."""
    move = partial(_move, visit.handle, job_id, "front")
    return await visit.act(move, f"/jobs/{job_id}", f"job {job_id}")


@router.post("/{job_id}/move_to_back")
async def console_postpone_job(visit: CurrentVisit, job_id: JobId) -> Response:
    """Move a job behind all others of its priority."""
    move = partial(_move, visit.handle, job_id, "back")
    return await visit.act(move, f"/jobs/{job_id}", f"job {job_id}")


def _move(handle: AnyStore, job_id: int, where: str) -> str:
    match where:
        case "front":
            handle.jobs.move_to_front(job_id)
            return f"job {job_id} is now ahead of all others of its priority"
        case "back":
            handle.jobs.move_to_back(job_id)
            return f"job {job_id} is now behind all others of its priority"
        case _:
            handle.jobs.run_now(job_id)
            return f"job {job_id} may start now"
