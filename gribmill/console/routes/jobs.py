"""Jobs: the list, one job with its log, and what can be done with them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from gribmill.console.frame import Handle, Notice
from gribmill.console.job_search import JobSearch, read_search
from gribmill.console.pages.job import job_values
from gribmill.console.pages.jobs import BulkAction, apply_bulk, choose_ids, choose_matching, jobs_values
from gribmill.console.routes.page import Form, act, back_with, form_of, handle_of, show
from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import AttemptRef
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/jobs", tag="console", in_docs=False)

REFRESH_SECONDS = 4
LOG_BYTES = 2_000_000
JobId = Annotated[int, Path(gt=0, lt=2**63)]
Before = Annotated[int | None, Query(gt=0, lt=2**63)]


@router.get("")
async def console_jobs(
    request: Request, server: Server, principal: CurrentPrincipal, q: str = "", status: str = "", before: Before = None
) -> Response:
    """A page of jobs, newest first."""
    handle = handle_of(server, principal)
    search = await server.run(read_search, handle, q, status)
    if search.job_id is not None:
        return RedirectResponse(f"/jobs/{search.job_id}", 303)
    # Older pages do not change while they are read.
    refresh = REFRESH_SECONDS if before is None else None
    values = partial(jobs_values, handle, search, before)
    return await show(request, server, principal, "jobs.html", "Jobs", values, active="jobs", refresh_seconds=refresh)


@router.post("/bulk")
async def console_change_jobs(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Cancel or retry many jobs, after a page that asks for confirmation."""
    form = await form_of(request)
    action, scope = _action(form), form.one("scope", "selected")
    handle = handle_of(server, principal)
    search = await server.run(read_search, handle, form.one("q"), form.one("status"))
    if search.error is not None:
        return back_with("/jobs", Notice(search.error, "bad"))
    newest = next(iter(form.ids("newest")), None)
    choice = await server.run(_choose, handle, search, form, action, scope, newest)
    if "confirmed" not in form:
        values: dict[str, Any] = {"choice": choice, "scope": scope, "search": search}
        title = f"{action.capitalize()} jobs"
        return await show(request, server, principal, "jobs_confirm.html", title, lambda: values, active="jobs")
    back = f"/jobs?{request.url.replace(query=None).include_query_params(**search.query).query}"

    def apply() -> str:
        return apply_bulk(handle, action, choice.ids, principal.name).text

    about = f"{action} {len(choice.ids)} jobs: {search.status} {search.text}".strip(": ")
    return await act(request, server, apply, back, about)


def _choose(handle: Handle, search: JobSearch, form: Form, action: BulkAction, scope: str, newest: int | None) -> Any:
    if scope == "matching":
        return choose_matching(handle, search, action, newest)
    return choose_ids(handle, form.ids("id"), action)


def _action(form: Form) -> BulkAction:
    match form.one("action"):
        case "cancel":
            return "cancel"
        case "retry":
            return "retry"
    raise HttpProblem(422, "the action must be cancel or retry")


@router.get("/{job_id}")
async def console_job(request: Request, server: Server, principal: CurrentPrincipal, job_id: JobId) -> Response:
    """One job."""
    handle = handle_of(server, principal)
    values = partial(job_values, handle, job_id, output_logs(server.settings))
    return await show(
        request,
        server,
        principal,
        "job.html",
        f"Job {job_id}",
        values,
        active="jobs",
        refresh_seconds=REFRESH_SECONDS,
    )


@router.get("/{job_id}/attempts/{attempt_no}/log")
async def console_job_log(server: Server, principal: CurrentPrincipal, job_id: JobId, attempt_no: JobId) -> Response:
    """The log of an attempt as plain text: the last 2 MB of it."""
    handle = handle_of(server, principal)
    text = await server.run(_log, server, handle, AttemptRef(job_id, attempt_no))
    return PlainTextResponse(text, headers={"Content-Disposition": "inline"})


def _log(server: ServerContext, handle: Handle, ref: AttemptRef) -> bytes:
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
async def console_cancel_job(request: Request, server: Server, principal: CurrentPrincipal, job_id: JobId) -> Response:
    """Cancel one job, or ask it to stop."""
    jobs = handle_of(server, principal).jobs

    def cancel() -> str:
        done = jobs.cancel(job_id, f"cancelled by {principal.name}")
        return f"job {job_id} was cancelled" if done == "cancelled" else f"job {job_id} was asked to stop"

    return await act(request, server, cancel, f"/jobs/{job_id}", f"job {job_id}")


@router.post("/{job_id}/retry")
async def console_retry_job(request: Request, server: Server, principal: CurrentPrincipal, job_id: JobId) -> Response:
    """Enqueue a finished job again, and go to the new one."""
    jobs = handle_of(server, principal).jobs
    made: list[int] = []

    def retry() -> str:
        new = jobs.retry(job_id, created_by=principal.name)
        made.append(new.id)
        return f"job {new.id} retries job {job_id}" if new.created else f"job {new.id} already does this"

    answer = await act(request, server, retry, f"/jobs/{job_id}", f"job {job_id}")
    if made:
        answer.headers["location"] = f"/jobs/{made[0]}"
    return answer


@router.post("/{job_id}/run_now")
async def console_run_job(request: Request, server: Server, principal: CurrentPrincipal, job_id: JobId) -> Response:
    """Let a delayed job start at once."""
    move = partial(_move, handle_of(server, principal), job_id, "run_now")
    return await act(request, server, move, f"/jobs/{job_id}", f"job {job_id}")


@router.post("/{job_id}/move_to_front")
async def console_advance_job(request: Request, server: Server, principal: CurrentPrincipal, job_id: JobId) -> Response:
    """Move a job ahead of all others of its priority."""
    move = partial(_move, handle_of(server, principal), job_id, "front")
    return await act(request, server, move, f"/jobs/{job_id}", f"job {job_id}")


@router.post("/{job_id}/move_to_back")
async def console_postpone_job(
    request: Request, server: Server, principal: CurrentPrincipal, job_id: JobId
) -> Response:
    """Move a job behind all others of its priority."""
    move = partial(_move, handle_of(server, principal), job_id, "back")
    return await act(request, server, move, f"/jobs/{job_id}", f"job {job_id}")


def _move(handle: Handle, job_id: int, where: str) -> str:
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
