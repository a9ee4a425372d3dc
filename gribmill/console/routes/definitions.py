"""Definitions of job types, and a form that enqueues a job."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from gribmill.console.frame import Notice, Refresh
from gribmill.console.pages.definitions import definition_values, definitions_values, may_enqueue
from gribmill.console.routes.form import Form
from gribmill.console.routes.notices import back_with
from gribmill.console.routes.visit import CurrentVisit, Visit, refusal
from gribmill.console.schema_form import fields_of_schema, json_arguments, read_arguments
from gribmill.console.typed_number import number, whole_number
from gribmill.queue.errors import QueueError, UnknownJobType
from gribmill.queue.model import Definition, NewJob
from gribmill.queue.redact import unredacted
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/definitions", tag="console", in_docs=False)

REFRESH = Refresh(10)


@router.get("")
async def console_definitions(visit: CurrentVisit) -> Response:
    """All job types."""
    values = partial(definitions_values, visit.server.store, visit.handle, visit.visitor)
    return await visit.show(
        "jobs/definitions.html",
        "Definitions",
        values,
        active="definitions",
        refresh=REFRESH,
    )


@router.get("/{key}")
async def console_definition(visit: CurrentVisit, key: str) -> Response:
    """One job type, with a form to enqueue a job."""
    values = partial(_values, visit, key)
    return await visit.show("jobs/definition.html", key[:60], values, active="definitions")


def _values(visit: Visit, key: str) -> dict[str, Any]:
    try:
        return definition_values(visit.server.store, key, visit.visitor)
    except UnknownJobType as error:
        raise HttpProblem(404, str(error)) from None


@router.post("/{key}/enqueue")
async def console_enqueue_job(visit: CurrentVisit, key: str) -> Response:
    """Enqueue a job of this type."""
    form = await visit.form()
    values = await visit.server.run(_values, visit, key)
    definition: Definition = values["definition"]
    change = visit.change
    if not may_enqueue(visit.visitor, definition):
        raise HttpProblem(403, f"only operators may enqueue {definition.key} jobs")
    try:
        job = _job(definition, form, visit.by)
        change.after = {"type": job.type, "args": job.args}
        made = await visit.server.run(visit.handle.jobs.enqueue, job)
    except QueueError as error:
        shown = {**values, "problem": refusal(error), "typed": dict(form.fields)}
        return await visit.show(
            "jobs/definition.html",
            definition.key,
            lambda: shown,
            active="definitions",
            status=422,
        )
    change.object = f"job {made.id}"
    text = f"Job {made.id} was enqueued." if made.created else f"Job {made.id} already does this."
    return back_with(f"/jobs/{made.id}", Notice(text))


def _job(definition: Definition, form: Form, by: str) -> NewJob:
    fields = fields_of_schema(definition.arg_schema, definition.default_args)
    if fields:
        typed = {name.removeprefix("arg."): value for name, value in form.fields if name.startswith("arg.")}
        args = unredacted(read_arguments(fields, typed), definition.default_args)
    else:
        args = json_arguments(form.one("args"))
    return NewJob(
        definition.key,
        args,
        priority=whole_number(form.one("priority"), "the priority") or 0,
        delay_seconds=number(form.one("delay"), "the delay") or None,
        created_by=by,
    )


@router.post("/{key}/pause")
async def console_pause_type(visit: CurrentVisit, key: str) -> Response:
    """Stop starting jobs of this type until it is resumed."""
    types = visit.server.store.types
    return await _change(visit, key, lambda: types.pause(key), f"the type {key} is paused: its jobs do not start")


@router.post("/{key}/resume")
async def console_resume_type(visit: CurrentVisit, key: str) -> Response:
    """Let jobs of this type start again."""
    types = visit.server.store.types
    return await _change(visit, key, lambda: types.resume(key), f"the type {key} is resumed")


@router.post("/{key}/activate")
async def console_activate_type(visit: CurrentVisit, key: str) -> Response:
    """Accept jobs of this type again."""
    switch = partial(visit.server.store.definitions.set_active, key, active=True, changed_by=visit.by)
    return await _change(visit, key, switch, f"the type {key} is active")


@router.post("/{key}/deactivate")
async def console_deactivate_type(visit: CurrentVisit, key: str) -> Response:
    """Stop accepting and starting jobs of this type."""
    switch = partial(visit.server.store.definitions.set_active, key, active=False, changed_by=visit.by)
    return await _change(visit, key, switch, f"the type {key} is inactive: it accepts and starts no jobs")


async def _change(visit: Visit, key: str, change: Callable[[], object], said: str) -> Response:
    def made() -> str:
        try:
            change()
        except UnknownJobType as error:
            raise HttpProblem(404, str(error)) from None
        return said

    answer = await visit.act(made, f"/definitions/{key}", f"definition {key[:60]}")
    visit.weather.forget()
    return answer
