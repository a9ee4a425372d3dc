"""Job templates: named payloads and options."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Response
from pydantic import Field

from gribmill.queue.model import Job, JobTemplate, NewTemplate
from gribmill.queue.redact import redact, redact_json, unredacted
from gribmill.server.api.job_routes import Priority
from gribmill.server.api.scope import Scope
from gribmill.server.api.values import (
    EditBody,
    JsonObject,
    Key,
    MaxAttempts,
    Name,
    PathName,
    RequestBody,
    Text,
    TimeoutSeconds,
)
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.contract import DEFAULT_PRIORITY, JobResource, from_priority, to_priority
from gribmill.views.view import Time, View

router = SecuredRouter("/api/v1/templates", tag="templates")

OUR_NAMES = {"definition_key": "type", "payload": "args"}


class NewTemplateBody(RequestBody):
    """A template to add. Null fields default to the definition's values."""

    name: Name
    definition_key: Name
    payload: JsonObject = Field(default_factory=dict)
    description: Text = ""
    priority: Priority = DEFAULT_PRIORITY
    timeout_seconds: TimeoutSeconds | None = None
    max_attempts: MaxAttempts | None = None
    dedupe_key: Key | None = None


class EditTemplateBody(EditBody):
    """The fields to change; others keep their value."""

    name: Name = ""
    payload: JsonObject = Field(default_factory=dict)
    description: Text = ""
    priority: Priority = DEFAULT_PRIORITY
    timeout_seconds: TimeoutSeconds | None = None
    max_attempts: MaxAttempts | None = None
    dedupe_key: Key | None = None


class RunTemplateBody(RequestBody):
    """Values that override the template's."""

    payload: JsonObject = Field(default_factory=dict)


class TemplateResource(View):
    """A template, with the names of the API contract."""

    id: int
    tenant_id: str
    name: str
    definition_key: str
    payload: Any
    description: str
    priority: int
    timeout_seconds: int | None
    max_attempts: int | None
    dedupe_key: str | None
    created_by: str | None
    created_at: Time | None
    updated_at: Time | None

    @classmethod
    def of(cls, one: JobTemplate) -> TemplateResource:
        return cls.copy_of(
            one,
            definition_key=one.type,
            payload=redact_json(one.args),
            priority=to_priority(one.priority),
            dedupe_key=redact(one.dedupe_key) if one.dedupe_key else None,
        )


def shown(template: JobTemplate) -> dict[str, Any]:
    return TemplateResource.of(template).model_dump(warnings=False)


@router.get("")
async def list_templates(server: Server, scope: Scope) -> tuple[TemplateResource, ...]:
    """List templates."""
    return tuple(map(TemplateResource.of, await server.run(server.store.templates.list, scope.tenant_id)))


@router.post("", status_code=201)
async def create_template(
    body: NewTemplateBody, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> TemplateResource:
    """Add a template."""

    def add() -> JobTemplate:
        acting = scope.acting()
        if any(one.name == body.name for one in server.store.templates.list(scope.new_tenant_id)):
            raise HttpProblem(409, f"the template {body.name} already exists")
        fields = {OUR_NAMES.get(name, name): getattr(body, name) for name in NewTemplateBody.model_fields}
        fields |= {"priority": from_priority(body.priority), "tenant_id": scope.new_tenant_id, "created_by": scope.by}
        return acting.templates.add(NewTemplate(**fields))

    made = await server.run(add)
    change.tenant_id, change.object, change.after = made.tenant_id, f"template {made.name}", shown(made)
    response.headers["Location"] = f"/api/v1/templates/{made.name}"
    return TemplateResource.of(made)


@router.get("/{name}")
async def show_template(name: PathName, server: Server, scope: Scope) -> TemplateResource:
    """Show one template."""
    return TemplateResource.of(await server.run(lambda: scope.acting().templates.get(name)))


@router.patch("/{name}")
async def edit_template(
    name: PathName, body: EditTemplateBody, server: Server, scope: Scope, change: CurrentChange
) -> TemplateResource:
    """Change a template. Values sent back as `[redacted]` stay as they are."""
    changes = {OUR_NAMES.get(field, field): value for field, value in body.given().items()}
    if not changes:
        raise HttpProblem(422, "nothing to change: give at least one field")
    if "priority" in changes:
        changes["priority"] = from_priority(changes["priority"])

    def edit() -> tuple[JobTemplate, JobTemplate]:
        templates = scope.acting().templates
        before = templates.get(name)
        if "args" in changes:
            changes["args"] = unredacted(changes["args"], before.args)
        return before, templates.edit(name, **changes)

    change.object = f"template {name}"
    before, after = await server.run(edit)
    change.tenant_id, change.before, change.after = before.tenant_id, shown(before), shown(after)
    return TemplateResource.of(after)


@router.delete("/{name}", status_code=204)
async def delete_template(name: PathName, server: Server, scope: Scope, change: CurrentChange) -> None:
    """Remove a template. 409 while a trigger uses it."""

    def remove() -> JobTemplate:
        templates = scope.acting().templates
        before = templates.get(name)
        templates.remove(name)
        return before

    change.object = f"template {name}"
    before = await server.run(remove)
    change.tenant_id, change.before = before.tenant_id, shown(before)


@router.post("/{name}/jobs", status_code=201)
async def run_template(
    name: PathName,
    server: Server,
    scope: Scope,
    change: CurrentChange,
    response: Response,
    body: RunTemplateBody | None = None,
) -> JobResource:
    """Enqueue a job from a template."""

    def enqueue() -> Job:
        acting = scope.acting()
        job = acting.templates.job(name, args=(body or RunTemplateBody()).payload)
        made = acting.jobs.enqueue(replace(job, created_by=scope.by))
        return acting.jobs.get(made.id)

    change.object = f"template {name}"
    job = await server.run(enqueue)
    change.tenant_id, change.after = job.tenant_id, {"job": job.id}
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return JobResource.of(job)
