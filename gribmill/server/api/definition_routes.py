"""Job definitions: readable by all roles, changed by super admins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from gribmill.queue.command import check_program
from gribmill.queue.model import TUNABLE, Definition
from gribmill.queue.redact import unredacted
from gribmill.queue.store import Store
from gribmill.queue.store.types.definitions import DefinitionParts, NewDefinition
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.api.values import (
    EditBody,
    JsonObject,
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
from gribmill.settings.schema import Settings
from gribmill.views.queue.contract import DefinitionResource

router = SecuredRouter("/api/v1/admin/jobs/definitions", tag="definitions")

Words = Annotated[tuple[Annotated[str, Field(max_length=32_000)], ...], Field(max_length=200)]


class CommandBody(RequestBody):
    """A program and its arguments; `{{name}}` is replaced by that value of the payload. No shell is involved."""

    argv: Annotated[Words, Field(min_length=1)]
    environment: Words = ()
    options: Words = ()


class EditCommandBody(EditBody):
    """The parts of a command to change."""

    argv: Annotated[Words, Field(min_length=1)]
    environment: Words = ()
    options: Words = ()


class NewDefinitionBody(RequestBody):
    """A job type to add. Without `command`, it runs the program in [commands] allow with the same name, with an option
    (`--provider-id VALUE`) for each property that `arg_schema` requires."""

    key: Name
    description: Text = ""
    arg_schema: JsonObject | None = None
    timeout_seconds: TimeoutSeconds = 3600
    max_attempts: MaxAttempts = 3
    is_active: bool = True
    command: CommandBody | None = None
    values: JsonObject = Field(default_factory=dict)


class EditDefinitionBody(EditBody):
    """The fields to change. `values` takes the same settings as `gribmill definitions edit`."""

    description: Text | None = None
    arg_schema: JsonObject | None = None
    timeout_seconds: TimeoutSeconds | None = None
    max_attempts: MaxAttempts | None = None
    is_active: bool | None = None
    is_paused: bool | None = None
    command: EditCommandBody | None = None
    values: JsonObject | None = None


def shown(definition: Definition) -> dict[str, Any]:
    return DefinitionResource.of(definition).model_dump(warnings=False)


@router.get("")
async def list_definitions(server: Server) -> tuple[DefinitionResource, ...]:
    """List job definitions, both built-in and added ones."""
    return tuple(map(DefinitionResource.of, await server.run(server.store.definitions.list)))


@router.get("/{definition_id}")
async def show_definition(definition_id: PathName, server: Server) -> DefinitionResource:
    """Show one definition; its id is its key."""
    return DefinitionResource.of(await server.run(_get, server.store, definition_id))


@router.post("", status_code=201)
async def create_definition(
    body: NewDefinitionBody, server: Server, principal: CurrentPrincipal, change: CurrentChange, response: Response
) -> DefinitionResource:
    """Add a definition whose jobs run a program allowed by [commands]."""
    made = await server.run(_add, server.store, server.settings, body, principal.name)
    change.tenant_id, change.object, change.after = None, f"definition {made.key}", shown(made)
    response.headers["Location"] = f"/api/v1/admin/jobs/definitions/{made.key}"
    return DefinitionResource.of(made)


@router.patch("/{definition_id}")
async def edit_definition(
    definition_id: PathName,
    body: EditDefinitionBody,
    server: Server,
    principal: CurrentPrincipal,
    change: CurrentChange,
) -> DefinitionResource:
    """Change, pause or deactivate a definition. Of built-in types, only the values can be changed."""
    if not body.given():
        raise HttpProblem(422, "nothing to change: give at least one field")
    change.tenant_id, change.object = None, f"definition {definition_id}"
    before, after = await server.run(_edit, server.store, server.settings, definition_id, body, principal.name)
    change.before, change.after = shown(before), shown(after)
    return DefinitionResource.of(after)


def _get(store: Store, key: str) -> Definition:
    found = next((one for one in store.definitions.list() if one.key == key), None)
    if found is None:
        raise HttpProblem(404, "there is no such job definition")
    return found


def _add(store: Store, settings: Settings, body: NewDefinitionBody, by: str) -> Definition:
    command = body.command.model_dump() if body.command else _command_of(body.key, body.arg_schema or {})
    check_program(command["argv"][0], _allowed(settings))
    values = {"timeout_seconds": body.timeout_seconds, "max_attempts": body.max_attempts, **_tunable(body.values)}
    if any(one.key == body.key for one in store.definitions.list()):
        raise HttpProblem(409, f"the job definition {body.key} already exists")
    new = NewDefinition(body.key, command, body.description, body.arg_schema, values)
    made = store.definitions.add(new, changed_by=by)
    return made if body.is_active else store.definitions.set_active(body.key, active=False, changed_by=by)


def _command_of(key: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    words = [word for name in names for word in (f"--{name.replace('_', '-')}", f"{{{{{name}}}}}")]
    return {"argv": [key, *words]}


def _edit(
    store: Store, settings: Settings, key: str, body: EditDefinitionBody, by: str
) -> tuple[Definition, Definition]:
    before = _get(store, key)
    stored = before.command if isinstance(before.command, dict) else {}
    given = {"timeout_seconds": body.timeout_seconds, "max_attempts": body.max_attempts}
    values = {name: value for name, value in given.items() if value is not None} | _tunable(body.values or {})
    values = unredacted(values, before.effective)
    changed = body.command.given() if body.command else {}
    words = {name: unredacted(list(value), stored.get(name)) for name, value in changed.items()}
    if body.command:
        check_program(body.command.argv[0], _allowed(settings))
    parts: dict[str, Any] = {"description": body.description, "arg_schema": body.arg_schema, **words}
    replaced = DefinitionParts(**parts) if any(value is not None for value in parts.values()) else None
    if values or replaced:
        store.definitions.edit(key, values, parts=replaced, changed_by=by)
    if body.is_active is not None:
        store.definitions.set_active(key, active=body.is_active, changed_by=by)
    if body.is_paused is not None:
        (store.types.pause if body.is_paused else store.types.resume)(key)
    return before, _get(store, key)


def _tunable(values: Mapping[str, Any]) -> dict[str, Any]:
    if strange := sorted(set(values) - set(TUNABLE)):
        raise HttpProblem(422, f"there is no value {strange[0]!r}; there are {', '.join(TUNABLE)}")
    return dict(values)


def _allowed(settings: Settings) -> dict[str, str]:
    return {name: str(path) for name, path in settings.commands.allow.items()}
