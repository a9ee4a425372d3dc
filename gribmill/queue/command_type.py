"""The job type behind a definition with a command: its payload is checked against a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

from gribmill.queue.command import CommandSpec
from gribmill.queue.errors import BadArguments, BadDefinition
from gribmill.queue.job_type import ARGS_LIMIT_BYTES, COMMAND_LANE, Args, JobType, canonical_json

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

SCHEMA_LIMIT_BYTES = 64_000


class CommandArgs(Args):
    """Any object; the definition's own schema says more."""

    model_config = ConfigDict(extra="allow", frozen=True)


@dataclass(frozen=True, slots=True)
class CommandType(JobType):
    """A type that an operator made."""

    command: CommandSpec = field(default_factory=lambda: CommandSpec(("gribmill",)))
    schema_text: str = "{}"

    @property
    def argument_names(self) -> Sequence[str] | None:
        schema = self.schema()
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        return list(schema.get("properties", {})) if closed else None

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.schema_text)
        return found

    def check(self, args: Mapping[str, Any] | str) -> Args:
        """The payload fits the schema, and fills the command; else BadArguments."""
        payload = self._read(args) if isinstance(args, str) else dict(args)
        text = _encoded(self.key, payload)
        if problem := first_problem(self.schema_text, json.loads(text)):
            raise BadArguments(f"{self.key}: {problem}")
        try:
            self.command.fill(payload)
        except BadArguments as error:
            raise BadArguments(f"{self.key}: {error}") from None
        return CommandArgs.model_construct(**payload)

    def encode(self, args: Mapping[str, Any]) -> tuple[str, Args]:
        model = self.check(args)
        return _encoded(self.key, args), model

    def _read(self, text: str) -> dict[str, Any]:
        try:
            payload = json.loads(text) if len(text) <= ARGS_LIMIT_BYTES else None
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            raise BadArguments(f"{self.key}: arguments are a JSON object of at most {ARGS_LIMIT_BYTES} bytes")
        return payload


def make_command_type(key: str, handler: str | None, command: Any, schema_text: str, **tuned: Any) -> CommandType:
    """The type of a stored definition; BadDefinition if its command cannot be run."""
    spec = CommandSpec.of(command)
    usual: dict[str, Any] = {"description": "", "lane": COMMAND_LANE}
    return CommandType(
        key=key, args=CommandArgs, handler=handler, command=spec, schema_text=schema_text, **{**usual, **tuned}
    )


def _encoded(key: str, payload: Mapping[str, Any]) -> str:
    try:
        text = canonical_json(dict(payload))
        size = len(text.encode())
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArguments(f"{key}: arguments cannot be written as JSON: {error}") from None
    if size > ARGS_LIMIT_BYTES:
        raise BadArguments(f"{key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
    return text


def check_schema(schema: Mapping[str, Any]) -> str:
    """The schema as text, or BadDefinition."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        text = canonical_json(dict(schema))
        if len(text) > SCHEMA_LIMIT_BYTES:
            raise BadDefinition(f"the JSON Schema is larger than {SCHEMA_LIMIT_BYTES} bytes")
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        place = ".".join(map(str, error.absolute_path)) or "the schema"
        raise BadDefinition(f"not a JSON Schema: {place}: {error.message[:200]}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise BadDefinition(f"not a JSON Schema: {error}") from None
    return text


def first_problem(schema_text: str, payload: Mapping[str, Any]) -> str | None:
    """Why the payload does not fit the schema, in one sentence; None when it does."""
    from referencing.exceptions import Unresolvable

    try:
        problem = next(_validator(schema_text).iter_errors(payload), None)
    except (Unresolvable, RecursionError) as error:
        return f"the JSON Schema of this type cannot be used: {error}"
    if problem is None:
        return None
    place = ".".join(map(str, problem.absolute_path))
    return f"{place}: {problem.message[:300]}" if place else problem.message[:300]


@lru_cache(maxsize=100)
def _validator(schema_text: str) -> Validator:
    """Loaded when the first payload of a command comes: most processes meet none. References leave no document."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(json.loads(schema_text), registry=Registry())
