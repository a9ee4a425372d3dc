"""Triggers: schedules and event triggers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import Field, model_validator

from gribmill.queue.model import Fired, Misfire, NewTrigger, Trigger
from gribmill.queue.redact import unredacted
from gribmill.server.api.job_routes import Priority
from gribmill.server.api.scope import Scope
from gribmill.server.api.values import EditBody, JsonObject, Name, ObjectId, PathId, RequestBody, WholeNumber
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.contract import TriggerResource, from_priority
from gribmill.views.queue.trigger import FiredView

router = SecuredRouter("/api/v1/jobs/triggers", tag="triggers")

WindowSeconds = Annotated[WholeNumber, Field(ge=0, le=31 * 86_400)]


class NewTriggerBody(RequestBody):
    """An event trigger has `event_name`; a schedule has `cron_expr`, and `timezone` unless it is the tenant's."""

    label: Name
    trigger_type: Literal["event", "schedule"]
    definition_key: Name
    event_name: Name | None = None
    cron_expr: Name | None = None
    timezone: Name | None = None
    payload_template: JsonObject = Field(default_factory=dict)
    dedupe_window_seconds: WindowSeconds | None = None
    priority: Priority | None = None
    misfire: Misfire | None = None
    template_id: ObjectId | None = None
    is_enabled: bool = True

    @model_validator(mode="after")
    def _check_kind(self) -> NewTriggerBody:
        wanted, other = ("event_name", "cron_expr") if self.trigger_type == "event" else ("cron_expr", "event_name")
        if getattr(self, wanted) is None or getattr(self, other) is not None:
            raise ValueError(f"a trigger of the type {self.trigger_type} needs {wanted} and takes no {other}")
        return self


class EditTriggerBody(EditBody):
    """The fields to change; others keep their value."""

    label: Name = ""
    event_name: Name = ""
    cron_expr: Name = ""
    timezone: Name = ""
    definition_key: Name = ""
    payload_template: JsonObject = Field(default_factory=dict)
    dedupe_window_seconds: WindowSeconds = 0
    priority: Priority = 0
    misfire: Misfire = "latest"
    is_enabled: bool = True


class FireBody(RequestBody):
    """The payload for an event trigger."""

    payload: JsonObject = Field(default_factory=dict)


OUR_NAMES = {
    "event_name": "event",
    "cron_expr": "cron",
    "definition_key": "type",
    "payload_template": "args",
}


def shown(trigger: Trigger) -> dict[str, Any]:
    return TriggerResource.of(trigger).model_dump(warnings=False)


@router.get("")
async def list_triggers(server: Server, scope: Scope) -> tuple[TriggerResource, ...]:
    """List triggers."""

    def look() -> tuple[TriggerResource, ...]:
        return tuple(map(TriggerResource.of, server.store.triggers.list(scope.tenant_id)))

    return await server.run(look)


@router.post("", status_code=201)
async def create_trigger(
    body: NewTriggerBody, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> TriggerResource:
    """Add a trigger."""

    def add() -> Trigger:
        acting = scope.acting()
        new = NewTrigger(
            body.label,
            body.definition_key,
            body.payload_template,
            cron=body.cron_expr,
            timezone=body.timezone,
            event=body.event_name,
            priority=None if body.priority is None else from_priority(body.priority),
            tenant_id=scope.new_tenant_id,
            dedupe_window_seconds=body.dedupe_window_seconds,
            misfire=body.misfire,
            created_by=scope.by,
            template_id=body.template_id,
        )
        made = acting.triggers.add(new)
        return made if body.is_enabled else acting.triggers.set_enabled(made.id, enabled=False)

    made = await server.run(add)
    change.tenant_id, change.object, change.after = made.tenant_id, f"trigger {made.id}", shown(made)
    response.headers["Location"] = f"/api/v1/jobs/triggers/{made.id}"
    return TriggerResource.of(made)


@router.get("/{trigger_id}")
async def show_trigger(trigger_id: PathId, server: Server, scope: Scope) -> TriggerResource:
    """Show one trigger."""
    return TriggerResource.of(await server.run(lambda: scope.acting().triggers.get(trigger_id)))


@router.patch("/{trigger_id}")
async def edit_trigger(
    trigger_id: PathId, body: EditTriggerBody, server: Server, scope: Scope, change: CurrentChange
) -> TriggerResource:
    """Change a trigger; `is_enabled` enables or disables it. Values sent back as `[redacted]` stay as they are."""
    changes = {OUR_NAMES.get(name, name): value for name, value in body.given().items()}
    enabled = changes.pop("is_enabled", None)
    if "priority" in changes:
        changes["priority"] = from_priority(changes["priority"])
    if not changes and enabled is None:
        raise HttpProblem(422, "nothing to change: give at least one field")

    def edit() -> tuple[Trigger, Trigger]:
        triggers = scope.acting().triggers
        before = after = triggers.get(trigger_id)
        if "args" in changes:
            changes["args"] = unredacted(changes["args"], before.template)
        if changes:
            after = triggers.edit(trigger_id, **changes)
        if enabled is not None:
            after = triggers.set_enabled(trigger_id, enabled=enabled)
        return before, after

    change.object = f"trigger {trigger_id}"
    before, after = await server.run(edit)
    change.tenant_id, change.before, change.after = before.tenant_id, shown(before), shown(after)
    return TriggerResource.of(after)


@router.delete("/{trigger_id}", status_code=204)
async def delete_trigger(trigger_id: PathId, server: Server, scope: Scope, change: CurrentChange) -> None:
    """Remove a trigger. Its jobs stay."""

    def remove() -> Trigger:
        triggers = scope.acting().triggers
        before = triggers.get(trigger_id)
        triggers.remove(trigger_id)
        return before

    change.object = f"trigger {trigger_id}"
    before = await server.run(remove)
    change.tenant_id, change.before = before.tenant_id, shown(before)


@router.post("/{trigger_id}/fire", status_code=201)
async def fire_trigger(
    trigger_id: PathId, server: Server, scope: Scope, change: CurrentChange, body: FireBody | None = None
) -> FiredView:
    """Create a trigger's job now. Its schedule continues."""

    def fire() -> tuple[Trigger, Fired]:
        triggers = scope.acting().triggers
        return triggers.get(trigger_id), triggers.fire_now(trigger_id, (body or FireBody()).payload or None)

    change.object = f"trigger {trigger_id}"
    trigger, fired = await server.run(fire)
    if fired.error:
        raise HttpProblem(422, fired.error)
    view = FiredView.of(fired)
    change.tenant_id, change.after = trigger.tenant_id, view.model_dump()
    return view
