"""Job definitions: their effective values, and a form that enqueues a job."""

from __future__ import annotations

from typing import Any

from gribmill.console.frame import AnyStore, Visitor
from gribmill.console.schema_form import fields_of_schema
from gribmill.pipeline.job_types import TYPES
from gribmill.queue.model import Definition
from gribmill.queue.redact import redact_json
from gribmill.queue.store import Store

# Internal types. Tenants may enqueue types added by operators, and types that do not affect other tenants.
ONLY_OPERATORS = frozenset(kind.key for kind in TYPES if kind.shared or kind.for_operators)


def may_enqueue(visitor: Visitor, definition: Definition) -> bool:
    if not visitor.changes or not definition.is_active:
        return False
    return visitor.sees_all or definition.key not in ONLY_OPERATORS


def definitions_values(store: Store, handle: AnyStore, visitor: Visitor) -> dict[str, Any]:
    """All types, with the number of waiting and running jobs of each."""
    counts = handle.activity.counts()
    return {
        "rows": [
            (one, counts.get((one.key, "pending"), 0), counts.get((one.key, "processing"), 0), _state(one))
            for one in store.definitions.list()
            if visitor.sees_all or one.key not in ONLY_OPERATORS
        ]
    }


def definition_values(store: Store, key: str, visitor: Visitor) -> dict[str, Any]:
    """One type; raises UnknownJobType if there is none."""
    found = store.definitions.get(key)
    one = found.definition
    return {
        "definition": one,
        "state": _state(one),
        "effective": sorted((name, value) for name, value in one.effective.items() if name != "default_args"),
        "command": redact_json(one.command),
        "overrides": redact_json(one.overrides) if isinstance(one.overrides, dict) else {},
        "fields": fields_of_schema(one.arg_schema, redact_json(one.default_args)),
        "versions": [*reversed(found.versions)][:20],
        "may_enqueue": may_enqueue(visitor, one),
        "typed": {},
        "problem": None,
    }


def _state(one: Definition) -> str:
    if not one.is_active:
        return "inactive"
    return "paused" if one.is_paused else "active"
