"""Triggers and schedules."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path, Request
from starlette.responses import Response

from gribmill.console.frame import Handle, Notice
from gribmill.console.pages.definitions import ONLY_OPERATORS
from gribmill.console.pages.triggers import (
    changes_from,
    fields_of,
    read_new_trigger,
    slots_of,
    trigger_values,
    triggers_values,
)
from gribmill.console.routes.page import Form, act, back_with, form_of, handle_of, show
from gribmill.console.wording import capital
from gribmill.queue.errors import BadTrigger, QueueError
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.change import current_change
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import problem_of
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/triggers", tag="console", in_docs=False)

REFRESH_SECONDS = 5
FIELDS = ("label", "type", "cron", "timezone", "event", "args", "priority")
TriggerId = Annotated[int, Path(gt=0, lt=2**63)]


@router.get("")
async def console_triggers(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """All triggers, sorted by their next firing."""
    values = partial(triggers_values, handle_of(server, principal))
    return await show(
        request,
        server,
        principal,
        "triggers.html",
        "Triggers",
        values,
        active="triggers",
        refresh_seconds=REFRESH_SECONDS,
    )


@router.get("/new")
async def console_new_trigger(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """The form for a new trigger."""
    return await _new(request, server, principal, {**dict.fromkeys(FIELDS, ""), "args": "{}"})


@router.post("")
async def console_add_trigger(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Add a trigger, or preview when it would fire."""
    form = await form_of(request)
    fields = _fields(form)
    triggers = handle_of(server, principal).triggers
    change = current_change(request)
    change.after = fields
    try:
        _refuse_system_types(principal, fields["type"])
        new = read_new_trigger(fields, principal.name)
        slots = slots_of(new.cron, new.timezone)
        if "preview" in form:
            return await _new(request, server, principal, fields, slots=slots)
        made = await server.run(triggers.add, new)
    except QueueError as error:
        return await _new(request, server, principal, fields, problem=capital(str(error)))
    change.object = f"trigger {made.id}"
    return back_with(f"/triggers/{made.id}", Notice("The trigger was added."))


@router.get("/{trigger_id}")
async def console_trigger(
    request: Request, server: Server, principal: CurrentPrincipal, trigger_id: TriggerId
) -> Response:
    """One trigger: its firings and its form."""

    def values() -> dict[str, Any]:
        return {**trigger_values(handle_of(server, principal), trigger_id), "types": _types(server, principal)}

    return await show(request, server, principal, "trigger.html", f"Trigger {trigger_id}", values, active="triggers")


@router.post("/{trigger_id}")
async def console_edit_trigger(
    request: Request, server: Server, principal: CurrentPrincipal, trigger_id: TriggerId
) -> Response:
    """Change a trigger, or preview the change."""
    form = await form_of(request)
    fields = _fields(form)
    handle = handle_of(server, principal)
    change = current_change(request)
    change.object, change.after = f"trigger {trigger_id}", fields
    problem, slots = None, []
    try:
        _refuse_system_types(principal, fields["type"])
        slots = slots_of(fields["cron"], fields["timezone"])
        if "preview" not in form:
            await server.run(_edit, handle, trigger_id, fields)
            return back_with(f"/triggers/{trigger_id}", Notice("The trigger was changed."))
    except QueueError as error:
        if problem_of(error).status == 404:
            raise
        problem = capital(str(error))

    def values() -> dict[str, Any]:
        shown = {"fields": fields, "problem": problem, "slots": slots, "previewed": problem is None}
        return {**trigger_values(handle, trigger_id), **shown, "types": _types(server, principal)}

    status = 422 if problem else 200
    title = f"Trigger {trigger_id}"
    return await show(request, server, principal, "trigger.html", title, values, active="triggers", status=status)


def _edit(handle: Handle, trigger_id: int, fields: dict[str, str]) -> None:
    changes = changes_from(fields, fields_of(handle.triggers.get(trigger_id)))
    if changes:
        handle.triggers.edit(trigger_id, **changes)


@router.post("/{trigger_id}/fire")
async def console_fire_trigger(
    request: Request, server: Server, principal: CurrentPrincipal, trigger_id: TriggerId
) -> Response:
    """Fire a trigger now."""
    triggers = handle_of(server, principal).triggers

    def fire() -> str:
        fired = triggers.fire_now(trigger_id)
        if fired.job is None:
            raise BadTrigger(fired.error or "the trigger created no job")
        return f"job {fired.job.id} was created" if fired.job.created else f"job {fired.job.id} already does this"

    return await act(request, server, fire, f"/triggers/{trigger_id}", f"trigger {trigger_id}")


@router.post("/{trigger_id}/enable")
async def console_enable_trigger(
    request: Request, server: Server, principal: CurrentPrincipal, trigger_id: TriggerId
) -> Response:
    """Resume a trigger."""
    return await _switch(request, server, principal, trigger_id, enabled=True)


@router.post("/{trigger_id}/disable")
async def console_disable_trigger(
    request: Request, server: Server, principal: CurrentPrincipal, trigger_id: TriggerId
) -> Response:
    """Pause a trigger."""
    return await _switch(request, server, principal, trigger_id, enabled=False)


async def _switch(
    request: Request, server: ServerContext, principal: Principal, trigger_id: int, *, enabled: bool
) -> Response:
    triggers = handle_of(server, principal).triggers

    def switch() -> str:
        triggers.set_enabled(trigger_id, enabled=enabled)
        return "it fires again" if enabled else "it is paused: firings missed while it is paused are not made up"

    return await act(request, server, switch, "/triggers", f"trigger {trigger_id}")


@router.post("/{trigger_id}/remove")
async def console_remove_trigger(
    request: Request, server: Server, principal: CurrentPrincipal, trigger_id: TriggerId
) -> Response:
    """Remove a trigger. Its jobs stay."""
    triggers = handle_of(server, principal).triggers

    def remove() -> str:
        triggers.remove(trigger_id)
        return f"trigger {trigger_id} was removed; its jobs stay"

    return await act(request, server, remove, "/triggers", f"trigger {trigger_id}")


def _fields(form: Form) -> dict[str, str]:
    return {name: form.one(name) for name in FIELDS}


def _types(server: ServerContext, principal: Principal) -> list[str]:
    keys = [one.key for one in server.store.definitions.list() if one.is_active]
    return [key for key in keys if principal.tenant_id is None or key not in ONLY_OPERATORS]


def _refuse_system_types(principal: Principal, key: str) -> None:
    if principal.tenant_id is not None and key in ONLY_OPERATORS:
        raise BadTrigger(f"only operators may enqueue {key} jobs")


async def _new(
    request: Request,
    server: ServerContext,
    principal: Principal,
    fields: dict[str, str],
    *,
    slots: Any = (),
    problem: str | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        shown = {"fields": fields, "slots": slots, "problem": problem, "previewed": bool(slots)}
        return {"row": None, "firings": (), "types": _types(server, principal), **shown}

    status = 422 if problem else 200
    return await show(
        request, server, principal, "trigger.html", "New trigger", values, active="triggers", status=status
    )
