"""The job type of a definition with a command. Its payload is validated against a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gribmill.queue.command import CommandSpec
from gribmill.queue.errors import BadArguments, BadDefinition
from gribmill.queue.job_type import ARGS_LIMIT_BYTES, COMMAND_LANE, JobType, canonical_json, check_size

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

    from gribmill.queue.arguments import Args

SCHEMA_LIMIT_BYTES = 64_000
COMMAND_ARGS = "gribmill.queue.arguments:CommandArgs"


@dataclass(frozen=True, slots=True)
class CommandType(JobType):
    """A job type that an operator added."""

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
        """Raise BadArguments unless the payload matches the schema and fills the command."""
        payload = self._read(args) if isinstance(args, str) else dict(args)
        text = check_size(self.key, payload)
        if problem := first_problem(self.schema_text, json.loads(text)):
            raise BadArguments(f"{self.key}: {problem}")
        try:
            self.command.fill(payload)
        except BadArguments as error:
            raise BadArguments(f"{self.key}: {error}") from None
        return self.model.model_construct(**payload)

    def encode(self, args: Mapping[str, Any]) -> tuple[str, Args]:
        model = self.check(args)
        return check_size(self.key, args), model

    def check_partly(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        required = self.schema().get("required", [])
        missing = tuple(name for name in required if name not in args) if isinstance(required, list) else ()
        payload = json.loads(check_size(self.key, args))
        if not missing:
            self.check(args)
        elif problem := first_problem(self.schema_text, payload, partly=True):
            raise BadArguments(f"{self.key}: {problem}")
        return missing

    def _read(self, text: str) -> dict[str, Any]:
        try:
            payload = json.loads(text) if len(text) <= ARGS_LIMIT_BYTES else None
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            raise BadArguments(f"{self.key}: arguments are a JSON object of at most {ARGS_LIMIT_BYTES} bytes")
        return payload


def make_command_type(key: str, handler: str | None, command: Any, schema_text: str, **tuned: Any) -> CommandType:
    """Build the job type of a stored definition; raises BadDefinition if its command cannot be run."""
    spec = CommandSpec.of(command)
    usual: dict[str, Any] = {"description": "", "lane": COMMAND_LANE}
    return CommandType(
        key=key, args=COMMAND_ARGS, handler=handler, command=spec, schema_text=schema_text, **{**usual, **tuned}
    )


def check_schema(schema: Mapping[str, Any]) -> str:
    """Validate a JSON Schema and return it as text; raises BadDefinition."""
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


def first_problem(schema_text: str, payload: Mapping[str, Any], *, partly: bool = False) -> str | None:
    """Why the payload does not match the schema, or None if it does. With `partly`, keys may be missing."""
    from referencing.exceptions import Unresolvable

    try:
        problems = _validator(schema_text).iter_errors(payload)
        problem = next((one for one in problems if not (partly and _is_missing(one))), None)
    except (Unresolvable, RecursionError) as error:
        return f"the JSON Schema of this type cannot be used: {error}"
    if problem is None:
        return None
    place = ".".join(map(str, problem.absolute_path))
    return f"{place}: {problem.message[:300]}" if place else problem.message[:300]


def _is_missing(problem: ValidationError) -> bool:
    """Whether a key of the payload is missing, or an alternative cannot be chosen because one is."""
    if problem.validator in ("anyOf", "oneOf"):
        return any(_is_missing(one) for one in problem.context or ())
    return problem.validator == "required" and not problem.absolute_path


@lru_cache(maxsize=100)
def _validator(schema_text: str) -> Validator:
    """Imports jsonschema on first use: most processes run no commands. References to other documents are not
    resolved."""
    from jsonschema import Draft202012Validator, FormatChecker
    from referencing import Registry

    formats = FormatChecker()
    # jsonschema checks this format only if an optional package is installed.
    formats.checks("date-time", ValueError)(_is_date_time)
    return Draft202012Validator(json.loads(schema_text), registry=Registry(), format_checker=formats)


def _is_date_time(value: object) -> bool:
    """Whether a string is a date and time with a UTC offset. Values of other types pass."""
    if not isinstance(value, str):
        return True
    return "T" in value.upper() and datetime.fromisoformat(value).tzinfo is not None
