"""Triggers and schedules."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path
from starlette.responses import Response

from gribmill.console.frame import AnyStore, Notice, Refresh
from gribmill.console.pages.definitions import ONLY_OPERATORS
from gribmill.console.pages.triggers import (
    changes_from,
    read_new_trigger,
    slots_of,
    trigger_values,
    triggers_values,
)
from gribmill.console.routes.form import Form
from gribmill.console.routes.notices import back_with
from gribmill.console.routes.visit import CurrentVisit, Visit, refusal
from gribmill.queue.errors import BadTrigger, QueueError
from gribmill.server.problems import http_status
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/triggers", tag="console", in_docs=False)

REFRESH = Refresh(5)
FIELDS = ("label", "type", "cron", "timezone", "event", "args", "priority")
TriggerId = Annotated[int, Path(gt=0, lt=2**63)]


@router.get("")
async def console_triggers(visit: CurrentVisit) -> Response:
    """All triggers, sorted by their next firing."""
    values = partial(triggers_values, visit.handle)
    return await visit.show(
        "rules/triggers.html",
        "Triggers",
        values,
        active="triggers",
        refresh=REFRESH,
    )


@router.get("/new")
async def console_new_trigger(visit: CurrentVisit) -> Response:
    """The form for a new trigger."""
    return await _new(visit, {**dict.fromkeys(FIELDS, ""), "args": "{}"})


@router.post("")
async def console_add_trigger(visit: CurrentVisit) -> Response:
    """Add a trigger, or preview when it would fire."""
    form = await visit.form()
    fields = _fields(form)
    triggers = visit.handle.triggers
    change = visit.change
    change.after = fields
    try:
        _refuse_system_types(visit, fields["type"])
        new = read_new_trigger(fields, visit.by)
        slots = slots_of(new.cron, new.timezone)
        if "preview" in form:
            return await _new(visit, fields, slots=slots)
        made = await visit.server.run(triggers.add, new)
    except QueueError as error:
        return await _new(visit, fields, problem=refusal(error))
    change.object = f"trigger {made.id}"
    return back_with(f"/triggers/{made.id}", Notice("The trigger was added."))


@router.get("/{trigger_id}")
async def console_trigger(visit: CurrentVisit, trigger_id: TriggerId) -> Response:
    """One trigger: its firings and its form."""

    def values() -> dict[str, Any]:
        return {**trigger_values(visit.handle, trigger_id), "types": _types(visit)}

    return await visit.show("rules/trigger.html", f"Trigger {trigger_id}", values, active="triggers")


@router.post("/{trigger_id}")
async def console_edit_trigger(visit: CurrentVisit, trigger_id: TriggerId) -> Response:
    """Change a trigger, or preview the change."""
    form = await visit.form()
    fields = _fields(form)
    handle = visit.handle
    change = visit.change
    change.object, change.after = f"trigger {trigger_id}", fields
    problem, slots = None, []
    try:
        _refuse_system_types(visit, fields["type"])
        slots = slots_of(fields["cron"], fields["timezone"])
        if "preview" not in form:
            await visit.server.run(_edit, handle, trigger_id, fields)
            return back_with(f"/triggers/{trigger_id}", Notice("The trigger was changed."))
    except QueueError as error:
        if http_status(error) == 404:
            raise
        problem = refusal(error)

    def values() -> dict[str, Any]:
        shown = {"fields": fields, "problem": problem, "slots": slots, "previewed": problem is None}
        return {**trigger_values(handle, trigger_id), **shown, "types": _types(visit)}

    status = 422 if problem else 200
    title = f"Trigger {trigger_id}"
    return await visit.show("rules/trigger.html", title, values, active="triggers", status=status)


def _edit(handle: AnyStore, trigger_id: int, fields: dict[str, str]) -> None:
    changes = changes_from(fields, handle.triggers.get(trigger_id))
    if changes:
        handle.triggers.edit(trigger_id, **changes)


@router.post("/{trigger_id}/fire")
async def console_fire_trigger(visit: CurrentVisit, trigger_id: TriggerId) -> Response:
    """Fire a trigger now."""
    triggers = visit.handle.triggers

    def fire() -> str:
        fired = triggers.fire_now(trigger_id)
        if fired.job is None:
            raise BadTrigger(fired.error or "the trigger created no job")
        return f"job {fired.job.id} was created" if fired.job.created else f"job {fired.job.id} already does this"

    return await visit.act(fire, f"/triggers/{trigger_id}", f"trigger {trigger_id}")


@router.post("/{trigger_id}/enable")
async def console_enable_trigger(visit: CurrentVisit, trigger_id: TriggerId) -> Response:
    """Resume a trigger."""
    return await _switch(visit, trigger_id, enabled=True)


@router.post("/{trigger_id}/disable")
async def console_disable_trigger(visit: CurrentVisit, trigger_id: TriggerId) -> Response:
    """Pause a trigger."""
    return await _switch(visit, trigger_id, enabled=False)


async def _switch(visit: Visit, trigger_id: int, *, enabled: bool) -> Response:
    triggers = visit.handle.triggers

    def switch() -> str:
        triggers.set_enabled(trigger_id, enabled=enabled)
        return "it fires again" if enabled else "it is paused: slots missed while it is paused are not fired later"

    return await visit.act(switch, "/triggers", f"trigger {trigger_id}")


@router.post("/{trigger_id}/remove")
async def console_remove_trigger(visit: CurrentVisit, trigger_id: TriggerId) -> Response:
    """Remove a trigger. Its jobs stay."""
    triggers = visit.handle.triggers

    def remove() -> str:
        triggers.remove(trigger_id)
        return f"trigger {trigger_id} was removed; its jobs stay"

    return await visit.act(remove, "/triggers", f"trigger {trigger_id}")


def _fields(form: Form) -> dict[str, str]:
    return {name: form.one(name) for name in FIELDS}


def _types(visit: Visit) -> list[str]:
    keys = [one.key for one in visit.server.store.definitions.list() if one.is_active]
    return [key for key in keys if visit.principal.tenant_id is None or key not in ONLY_OPERATORS]


def _refuse_system_types(visit: Visit, key: str) -> None:
    if visit.principal.tenant_id is not None and key in ONLY_OPERATORS:
        raise BadTrigger(f"only operators may enqueue {key} jobs")


async def _new(
    visit: Visit,
    fields: dict[str, str],
    *,
    slots: Any = (),
    problem: str | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        shown = {"fields": fields, "slots": slots, "problem": problem, "previewed": bool(slots)}
        return {"row": None, "firings": (), "types": _types(visit), **shown}

    status = 422 if problem else 200
    return await visit.show("rules/trigger.html", "New trigger", values, active="triggers", status=status)
