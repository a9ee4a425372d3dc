"""Cancelling and retrying many jobs: a confirmation page, then the action, with its progress if it takes long."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from starlette.responses import RedirectResponse, Response

from gribmill.console.frame import Notice, Refresh
from gribmill.console.job_search import JobSearch, read_search
from gribmill.console.pages.bulk import BulkAction, BulkChoice, act_on, choose_ids, choose_matching, result_of
from gribmill.console.render import query
from gribmill.console.routes.form import Form
from gribmill.console.routes.notices import back_with
from gribmill.console.routes.visit import CurrentVisit, Visit
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.server.state.bulk import MOST, BulkOperation

router = SecuredRouter("/jobs/bulk", tag="console", in_docs=False)

REFRESH = Refresh(1)


@router.post("")
async def console_change_jobs(visit: CurrentVisit) -> Response:
    """Cancel or retry many jobs, after a page that asks for confirmation."""
    form = await visit.form()
    action, scope = _action(form), form.one("scope", "selected")
    search = await visit.server.run(_search, visit, form)
    if search.error is not None:
        return back_with("/jobs", Notice(search.error, "bad"))
    choice = await visit.server.run(_choose, visit, search, form, action, scope)
    if "confirmed" not in form or not choice.whole:
        values = {"choice": choice, "scope": scope, "search": search, "most": MOST}
        return await visit.show("jobs/confirm.html", f"{action.capitalize()} jobs", lambda: values, active="jobs")
    operation = await visit.server.run(_begin, visit, choice)
    visit.change.object = f"{action} {len(choice.ids)} jobs: {search.status} {search.text}".strip(": ")
    visit.change.after = {"matched": operation.matched, "done": operation.done, "refused": operation.refused}
    if operation.state == "running":
        return RedirectResponse(f"/jobs/bulk/{operation.id}", 303)
    return back_with(f"/jobs{query(search.query)}", _notice(operation))


def _search(visit: Visit, form: Form) -> JobSearch:
    search = read_search(visit.handle, form.one("q"), form.one("status"))
    if search.job_id is not None:  # as a filter, it would match every job
        return replace(search, error="Open the job to change it.")
    return search


def _choose(visit: Visit, search: JobSearch, form: Form, action: BulkAction, scope: str) -> BulkChoice:
    if scope == "matching":
        return choose_matching(visit.handle, search, action, next(iter(form.ids("newest")), None))
    return choose_ids(visit.handle, form.ids("id"), action)


def _begin(visit: Visit, choice: BulkChoice) -> BulkOperation:
    """Start the action, oldest jobs first, so that retries keep their order."""
    handle, by = visit.handle, visit.by
    return visit.server.bulk.begin(
        choice.action,
        visit.principal.tenant_id,
        choice.ids[::-1],
        lambda job_id: act_on(handle, choice.action, job_id, by),
    )


def _notice(operation: BulkOperation) -> Notice:
    return Notice(result_of(operation), "bad" if operation.refused and not operation.done else "good")


def _action(form: Form) -> BulkAction:
    match form.one("action"):
        case "cancel":
            return "cancel"
        case "retry":
            return "retry"
    raise HttpProblem(422, "the action must be cancel or retry")


@router.get("/{operation_id}")
async def console_bulk(visit: CurrentVisit, operation_id: str) -> Response:
    """The progress of a bulk action."""
    operation = visit.server.bulk.get(operation_id)
    if operation is None or visit.principal.tenant_id not in (None, operation.tenant_id):
        raise HttpProblem(404, "there is no such bulk action; only the latest are kept, until the server stops")
    refresh = REFRESH if operation.state == "running" else None
    values = partial(_progress, operation)
    return await visit.show("jobs/bulk.html", "Bulk action", values, active="jobs", refresh=refresh)


def _progress(operation: BulkOperation) -> dict[str, Any]:
    ended = operation.done + operation.refused
    return {
        "operation": operation,
        "ended": ended,
        "percent": 100 * ended // max(1, operation.matched),
        "result": result_of(operation),
    }
