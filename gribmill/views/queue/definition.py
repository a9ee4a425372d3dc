"""Job definitions: the declared values, the operators' changes, and the effective values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gribmill.queue.redact import redact_json
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import Definition, DefinitionVersion
    from gribmill.queue.store.types.definitions import DefinitionHistory


class DefinitionView(View):
    """One job type. `effective` is `declared` with `overrides` applied."""

    type: str
    description: str
    command: dict[str, Any] | None
    active: bool
    paused: bool
    version: int
    declared: dict[str, Any]
    overrides: dict[str, Any]
    effective: dict[str, Any]
    arg_schema: dict[str, Any]
    updated_at: Time | None

    @classmethod
    def of(cls, one: Definition) -> Self:
        return cls(
            type=one.key,
            description=one.description,
            command=redact_json(one.command) if isinstance(one.command, dict) else None,
            active=one.is_active,
            paused=one.is_paused,
            version=one.version,
            declared=redact_json(_object(one.declared)),
            overrides=redact_json(_object(one.overrides)),
            effective=redact_json({**one.effective, "resources": list(one.resources)}),
            arg_schema=_object(one.arg_schema),
            updated_at=one.updated_at,
        )


class DefinitionVersionView(View):
    """A definition as of one change."""

    version: int
    changed_at: Time | None
    changed_by: str | None
    change: str
    definition: dict[str, Any]

    @classmethod
    def of(cls, one: DefinitionVersion) -> Self:
        kept = _object(one.definition)
        shown = {name: value if name == "arg_schema" else redact_json(value) for name, value in kept.items()}
        return cls.copy_of(one, definition=shown)


class DefinitionHistoryView(View):
    """One job type with all its versions."""

    definition: DefinitionView
    versions: tuple[DefinitionVersionView, ...]

    @classmethod
    def of(cls, found: DefinitionHistory) -> Self:
        return cls(
            definition=DefinitionView.of(found.definition),
            versions=tuple(DefinitionVersionView.of(one) for one in found.versions),
        )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
