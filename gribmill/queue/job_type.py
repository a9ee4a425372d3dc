"""A job type, declared once: arguments, dedupe key, retries, lane and handler."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from gribmill.queue.errors import BadArguments, UnknownJobType
from gribmill.queue.model import QueueOrder, RetryAs
from gribmill.queue.retry_policy import JITTER

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

    from gribmill.queue.arguments import Args

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def dedupe_key(type_key: str, tenant_id: str, args: dict[str, Any]) -> str:
    """`<type>::<tenant>::<args as JSON with sorted keys>`."""
    return f"{type_key}::{tenant_id}::{canonical_json(args)}"


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)


COMMAND_LANE = "command"
"""Where the jobs of definitions with a command run, unless they name another lane."""

# Arguments name things; they are not a place for data.
ARGS_LIMIT_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class JobType:
    """Everything the queue knows of one type."""

    key: str
    description: str
    args: type[Args] | str
    """The model of its arguments, or its name as `module:class`, imported when the first ones are checked."""
    lane: str
    handler: str | None
    """`module:function`, imported by executors alone. None: declared, and not runnable here."""
    timeout_seconds: int = 3600
    max_attempts: int = 3
    backoff_base_s: float = 30.0
    backoff_cap_s: float = 600.0
    backoff_jitter: float = JITTER
    """The largest share by which a backoff is shortened; 0 for exact waits."""
    batch_max: int = 1
    max_running: int | None = None
    on_lost: Literal["retry", "fail"] = "retry"
    poll_limit: int | None = None
    """The most times that a job may be snoozed; None: any number."""
    retry_as: RetryAs = "same_row"
    """Whether a failed job runs again itself, or ends and is followed by a new job that names it (`retry_of`)."""
    queue_order: QueueOrder = "arrival"
    """Where a delayed or failed job queues up when its time has come: by its arrival, or behind those that wait."""
    resources: tuple[str, ...] = ()
    """Tags: all types with a tag share the limit that the settings give it."""
    default_args: Mapping[str, Any] | None = None
    """Arguments of jobs that give none of that name."""
    group_by: Callable[[Any], str] | None = None
    """The batching rule: jobs with the same key may be claimed together."""
    dedupe: bool | tuple[str, ...] = False
    """Whether equal arguments make equal jobs; or the names of those that decide."""
    shared: bool = False
    """Whether the work is done once for all tenants: its jobs belong to `global`, whichever tenant enqueued them."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", self.key):
            raise ValueError(f"{self.key!r} is not a name for a job type")

    @property
    def model(self) -> type[Args]:
        """The model of its arguments."""
        return _imported(self.args) if isinstance(self.args, str) else self.args

    def check(self, args: Mapping[str, Any] | str) -> Args:
        """The arguments as their model, or BadArguments naming the field."""
        # The model's own methods around these two take as long again.
        validator = self.model.__pydantic_validator__
        try:
            if not isinstance(args, str):
                checked: Args = validator.validate_python(args)
            elif len(args) <= ARGS_LIMIT_BYTES:
                checked = validator.validate_json(args)
            else:
                raise BadArguments(f"{self.key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
            return checked
        except ValueError as error:  # pydantic's ValidationError
            raise BadArguments(f"{self.key}: {_explain(_problems(error), self)}") from None

    def check_partly(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Check arguments that more will be added to; the names of those that are still missing."""
        try:
            self.model.__pydantic_validator__.validate_python(args)
        except ValueError as error:  # pydantic's ValidationError
            problems = _problems(error)
            if wrong := [problem for problem in problems if not _is_missing(problem)]:
                raise BadArguments(f"{self.key}: {_explain(wrong, self)}") from None
            check_size(self.key, args)
            return tuple(str(problem["loc"][0]) for problem in problems)
        self.encode(args)
        return ()

    def encode(self, args: Mapping[str, Any]) -> tuple[str, Args]:
        """The JSON text to store, and the checked model."""
        model = self.check(args)
        try:
            text = model.__pydantic_serializer__.to_json(model, exclude_none=True).decode()
            if "NaN" in text or "Infinity" in text:  # as values, or as words of some text
                json.loads(text, parse_constant=_refuse_constant)
            size = len(text) if text.isascii() else len(text.encode())
        except ValueError as error:  # not a number, or half a surrogate pair
            raise BadArguments(f"{self.key}: arguments cannot be written as JSON: {error}") from None
        if size > ARGS_LIMIT_BYTES:
            raise BadArguments(f"{self.key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
        return text, model

    @property
    def argument_names(self) -> Sequence[str] | None:
        """The names that arguments may have; None for any."""
        return list(self.model.model_fields)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return self.model.model_json_schema()

    def dedupe_key_of(self, args_text: str, tenant_id: str) -> str | None:
        """The key that equal jobs share, if this type deduplicates."""
        if not self.dedupe:
            return None
        args = json.loads(args_text)
        if isinstance(self.dedupe, tuple):
            args = {name: args[name] for name in self.dedupe if name in args}
        return dedupe_key(self.key, tenant_id, args)


class Registry:
    """The declared types. Nothing else can be enqueued or run."""

    def __init__(self, *types: JobType, command_handler: str | None = None) -> None:
        self._types = {job_type.key: job_type for job_type in types}
        self.command_handler = command_handler
        """What runs the jobs of definitions with a command: `module:function`."""

    def __getitem__(self, key: str) -> JobType:
        try:
            return self._types[key]
        except KeyError:
            known = ", ".join(sorted(self._types))
            raise UnknownJobType(f"there is no job type {key!r}; the types are: {known}") from None

    def __iter__(self) -> Iterator[JobType]:
        return iter(self._types.values())

    def __contains__(self, key: object) -> bool:
        return key in self._types

    def runnable(self) -> list[JobType]:
        """The types that have a handler."""
        return [job_type for job_type in self if job_type.handler]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def check_size(key: str, args: Mapping[str, Any]) -> str:
    """The arguments as JSON text, or BadArguments if they are too large or cannot be written so."""
    try:
        text = canonical_json(dict(args))
        size = len(text.encode())
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArguments(f"{key}: arguments cannot be written as JSON: {error}") from None
    if size > ARGS_LIMIT_BYTES:
        raise BadArguments(f"{key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
    return text


@lru_cache(maxsize=100)
def _imported(name: str) -> type[Args]:
    module, _, model = name.partition(":")
    found: type[Args] = getattr(import_module(module), model)
    return found


def _problems(error: ValueError) -> list[ErrorDetails]:
    return cast("ValidationError", error).errors(include_url=False, include_context=False)


def _is_missing(problem: ErrorDetails) -> bool:
    """Whether an argument itself is missing, not a part of one."""
    return problem["type"] == "missing" and len(problem["loc"]) == 1


def _explain(problems: Sequence[ErrorDetails], kind: JobType) -> str:
    parts = []
    for problem in problems:
        place = ".".join(str(part) for part in problem["loc"]) or "arguments"
        text = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            text = f"no such argument; there are: {', '.join(kind.model.model_fields)}"
        parts.append(f"{place}: {text[:1].lower()}{text[1:]}")
    return "; ".join(parts)
