"""Job definitions: the code's values, the operators' changes, and the effective values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.queue.command import CommandSpec, make_command_type, schema_of
from gribmill.queue.errors import BadDefinition, NotAllowed, UnknownJobType
from gribmill.queue.job_type import JobType, canonical_json
from gribmill.queue.json_schema import check_schema
from gribmill.queue.model import TUNABLE, Definition, DefinitionVersion
from gribmill.queue.store.base import Facet, retried
from gribmill.queue.tuning import check_backoff, check_tuning


class _Version(NamedTuple):
    version: int


class _TypeCount(NamedTuple):
    type: str
    n: int


class _Use(NamedTuple):
    id: int


_ALL_TENANTS = {"tenant_id": None}


class _Limit(NamedTuple):
    tag: str
    most: int


@dataclass(frozen=True, slots=True)
class DefinitionHistory:
    """One definition with all its versions."""

    definition: Definition
    versions: tuple[DefinitionVersion, ...]


@dataclass(frozen=True, slots=True)
class NewDefinition:
    """A type to add: the command that its jobs run, and their payload."""

    key: str
    command: Mapping[str, Any]
    description: str = ""
    arg_schema: Mapping[str, Any] | None = None
    """None: each placeholder takes a string or a number."""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DefinitionParts:
    """Parts of an operator's type that an edit replaces; None leaves a part unchanged."""

    description: str | None = None
    argv: Sequence[str] | None = None
    environment: Sequence[str] | None = None
    options: Sequence[str] | None = None
    arg_schema: Mapping[str, Any] | None = None


class Definitions(Facet):
    """Operators' changes are stored separately from the code's values and survive restarts."""

    @retried
    def declare(self, *, schemas: bool = True) -> None:
        """Store the types that the code declares, with the operators' changes applied.

        Without `schemas`, a type that differs only in its JSON Schema is left to the next worker: schemas need
        pydantic, whose import takes longer than a read-only command.
        """
        declared = self.registry.declared
        with self.database.read() as tx:
            rows = tx.query(Definition, "types/list")
        stored = {row.key: row for row in rows}
        stale = [kind for kind in declared if not _is_current(kind, stored.get(kind.key), schemas)]
        if stale:
            with self.database.write() as tx:
                tx.hold_edits()
                # If many workers start at once, the first one declares; the others waited for it and find it done.
                stored = {row.key: row for row in tx.query(Definition, "types/list")}
                for kind in stale:
                    if not _is_current(kind, stored.get(kind.key), schemas):
                        _declare(tx, kind, stored.get(kind.key))
                rows = tx.query(Definition, "types/list")
        self.registry.load(rows)

    @retried
    def set_resource_limits(self, limits: Mapping[str, int]) -> None:
        """Set how many batches of types with a tag run at once; other tags have no limit."""
        with self.database.read() as tx:
            if {one.tag: one.most for one in tx.query(_Limit, "types/resource_limits")} == limits:
                return
        with self.database.write() as tx:
            tx.hold_edits()  # workers that start together all set them
            tx.change("types/clear_resource_limits")
            for tag, most in limits.items():
                tx.change("types/set_resource_limit", {"tag": tag, "most": most})
        self.database.announce()

    def list(self) -> Sequence[Definition]:
        with self.database.read() as tx:
            return tx.query(Definition, "types/list")

    def get(self, key: str) -> DefinitionHistory:
        """The definition with its versions, or UnknownJobType."""
        with self.database.read() as tx:
            found = _get(tx, key)
            return DefinitionHistory(found, tuple(tx.query(DefinitionVersion, "types/versions", {"key": key})))

    @retried
    def add(self, new: NewDefinition, *, changed_by: str | None = None) -> Definition:
        """Add a type that runs a command; raises BadDefinition if its key is taken or no payload could make it run."""
        spec = CommandSpec.of(new.command)
        schema = json.loads(check_schema(schema_of(spec.places) if new.arg_schema is None else new.arg_schema))
        kind = _command_kind(new, self.registry.command_handler, schema)
        given = check_tuning(kind, new.values)
        with self.database.write() as tx:
            tx.hold_edits()
            if tx.first(Definition, "types/get", {"key": new.key}):
                raise BadDefinition(f"there is a job type {new.key} already")
            declared = _declared(kind)
            overrides = _plain(given)
            values = _merged(declared, overrides)
            check_backoff(new.key, values)
            texts = {"description": new.description, "arg_schema": schema, "command": spec.as_json()}
            parts = {**texts, **values, "declared": declared, "overrides": overrides}
            tx.change("types/upsert", {"key": new.key, **parts})
            _keep_version(tx, new.key, "add", changed_by)
            made = _get(tx, new.key)
        return self._changed(made)

    @retried
    def edit(
        self,
        key: str,
        changes: Mapping[str, Any],
        *,
        parts: DefinitionParts | None = None,
        changed_by: str | None = None,
    ) -> Definition:
        """Set values of a type. They override the code's values until they are reset.

        `parts` replace the description, command or schema of a type that an operator added. Pending jobs are validated
        against the new schema when they run.
        """
        self.registry.expect(key)
        with self.database.write() as tx:
            tx.hold_edits()
            found = _get(tx, key)
            texts = _replaced(found, parts) if parts else {}
            kind = self.registry[key]
            if texts:
                new = NewDefinition(key, texts["command"], texts["description"])
                kind = _command_kind(new, self.registry.command_handler, texts["arg_schema"])
            overrides = {**_object(found.overrides), **check_tuning(kind, changes)}
            check_tuning(kind, {name: value for name, value in overrides.items() if name == "default_args"})
            made = _store_overrides(tx, found, overrides, "edit", changed_by, texts)
        return self._changed(made)

    @retried
    def remove(self, key: str) -> None:
        """Remove an operator's type. NotAllowed while a job, a trigger or a template uses it."""
        with self.database.write() as tx:
            tx.hold_edits()
            found = _get(tx, key)
            if found.command is None:
                raise NotAllowed(f"{key} is declared by the code and cannot be removed; it can be deactivated")
            uses = {
                "job": sum(one.n for one in tx.query(_TypeCount, "listing/counts", _ALL_TENANTS) if one.type == key),
                "trigger": len(tx.query(_Use, "types/triggers_of", {"key": key})),
                "template": len(tx.query(_Use, "types/templates_of", {"key": key})),
            }
            if used := ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in uses.items() if n):
                raise NotAllowed(f"{key} has {used}: deactivate it instead, or remove those first")
            tx.change("types/delete_versions", {"key": key})
            tx.change("types/delete", {"key": key})
        self.registry.forget()
        self.registry.refresh()
        self.database.announce()

    @retried
    def reset(self, key: str, names: Sequence[str] = (), *, changed_by: str | None = None) -> Definition:
        """Undo the operators' changes to these values, or to all."""
        with self.database.write() as tx:
            tx.hold_edits()
            found = _get(tx, key)
            kept = {name: value for name, value in _object(found.overrides).items() if names and name not in names}
            made = _store_overrides(tx, found, kept, "reset", changed_by)
        return self._changed(made)

    @retried
    def set_active(self, key: str, *, active: bool, changed_by: str | None = None) -> Definition:
        """Activate or deactivate. An inactive type accepts and starts no jobs; running jobs continue."""
        with self.database.write() as tx:
            tx.hold_edits()
            _get(tx, key)
            if tx.change("types/set_active", {"key": key, "is_active": active}):
                _keep_version(tx, key, "activate" if active else "deactivate", changed_by)
            made = _get(tx, key)
        return self._changed(made)

    def _changed(self, made: Definition) -> Definition:
        self.registry.forget()
        self.registry.refresh()
        self.database.announce()
        return made


def _is_current(kind: JobType, row: Definition | None, schemas: bool) -> bool:
    if row is None:
        return False
    values = _values(kind, row) | ({"arg_schema": kind.schema()} if schemas else {})
    return all(getattr(row, name) == value for name, value in values.items())


def _declare(tx: Transaction, kind: JobType, before: Definition | None) -> None:
    row = {**_values(kind, before), "arg_schema": kind.schema()}
    tx.change("types/upsert", row)
    if before is not None and _object(before.declared) not in ({}, row["declared"]):
        _keep_version(tx, kind.key, "changed by the code", None)


def _values(kind: JobType, before: Definition | None) -> dict[str, Any]:
    declared = _declared(kind)
    overrides = _object(before.overrides) if before else {}
    return {
        "key": kind.key,
        "description": kind.description,
        **_merged(declared, overrides),
        "command": None,
        "declared": declared,
        "overrides": overrides,
    }


def _declared(kind: JobType) -> dict[str, Any]:
    """The declared values after a JSON round trip."""
    values = {name: getattr(kind, name) for name in TUNABLE}
    return {**values, "resources": list(kind.resources), "default_args": dict(kind.default_args or {})}


def _merged(declared: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The effective values. Unknown names, stored by a newer version, are ignored."""
    merged = {name: overrides.get(name, declared[name]) for name in TUNABLE}
    return {**merged, "resources": tuple(merged["resources"])}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values after a JSON round trip."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _command_kind(new: NewDefinition, handler: str | None, schema: dict[str, Any]) -> JobType:
    try:
        return make_command_type(new.key, handler, new.command, canonical_json(schema), description=new.description)
    except ValueError as error:
        raise BadDefinition(str(error)) from None


def _replaced(found: Definition, parts: DefinitionParts) -> dict[str, Any]:
    """The columns that change."""
    if found.command is None:
        raise BadDefinition(f"{found.key} is declared by the code: only its values can be changed")
    old = CommandSpec.of(found.command)
    words = {name: getattr(parts, name) for name in ("argv", "environment", "options")}
    given = {name: list(value) for name, value in words.items() if value is not None}
    spec = CommandSpec.of({**old.as_json(), **given})
    schema = parts.arg_schema
    if schema is None:
        # A schema that was derived from the placeholders is derived again.
        derived = found.arg_schema == schema_of(old.places)
        schema = schema_of(spec.places) if derived else _object(found.arg_schema)
    texts = {"arg_schema": json.loads(check_schema(schema)), "command": spec.as_json()}
    description = found.description if parts.description is None else parts.description
    return {**texts, "description": description}


def _store_overrides(
    tx: Transaction,
    found: Definition,
    overrides: dict[str, Any],
    change: str,
    changed_by: str | None,
    texts: Mapping[str, Any] | None = None,
) -> Definition:
    overrides = _plain(overrides)
    texts = texts or {}
    if overrides == _object(found.overrides) and all(getattr(found, name) == texts[name] for name in texts):
        return found
    values = _merged(_object(found.declared), overrides)
    check_backoff(found.key, values)
    tx.change("types/upsert", {**asdict(found), **texts, **values, "overrides": overrides})
    _keep_version(tx, found.key, change, changed_by)
    return _get(tx, found.key)


def _keep_version(tx: Transaction, key: str, change: str, changed_by: str | None) -> None:
    number = tx.first(_Version, "types/set_version", {"key": key})
    row = _get(tx, key)
    definition = {
        "description": row.description,
        "command": row.command,
        "arg_schema": row.arg_schema if row.command else None,
        "declared": row.declared,
        "overrides": row.overrides,
        "active": row.is_active,
    }
    params = {"key": key, "changed_by": changed_by, "change": change, "definition": definition}
    tx.change("types/add_version", {**params, "version": number.version if number else 0})


def _get(tx: Snapshot, key: str) -> Definition:
    found = tx.first(Definition, "types/get", {"key": key})
    if found is None:
        raise UnknownJobType(f"there is no job type {key!r}; `gribmill definitions list` shows them")
    return found


def _object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one: a manually written row may hold anything."""
    return value if isinstance(value, dict) else {}
