"""Job types as the code declares them: arguments, dedupe key, retries, lane and handler.

A new job is validated against its type before anything is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from gribmill.database.records import storable
from gribmill.queue.errors import BadArguments, UnknownJobType
from gribmill.queue.model import BACKOFF_JITTER, DEFAULT_TENANT, NewJob, PreparedJob, QueueOrder, RetryAs

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

    from gribmill.queue.arguments import Args

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def dedupe_key(type_key: str, tenant_id: str, args: dict[str, Any]) -> str:
    """`<type>::<tenant>::<args as JSON with sorted keys>`."""
    return f"{type_key}::{tenant_id}::{canonical_json(args)}"


def canonical_json(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)


COMMAND_LANE = "command"
"""The default lane of jobs that run commands."""

# Arguments identify things; they should not carry data.
ARGS_LIMIT_BYTES = 64_000
PRIORITY_LIMIT = 2**31 - 1
DELAY_LIMIT_SECONDS = 10 * 366 * 86400.0
TIMEOUT_LIMIT_SECONDS = 7 * 86_400


@dataclass(frozen=True, slots=True)
class JobType:
    """Everything the queue knows about one job type."""

    key: str
    description: str
    args: type[Args] | str
    """The pydantic model of its arguments, or `module:class`, which is imported on first use."""
    lane: str
    handler: str | None
    """`module:function`, imported by executors only. None: declared but not runnable here."""
    timeout_seconds: int = 3600
    max_attempts: int = 3
    backoff_base_s: float = 30.0
    backoff_cap_s: float = 600.0
    backoff_jitter: float = BACKOFF_JITTER
    """The largest fraction by which a backoff is shortened; 0 for exact waits."""
    batch_max: int = 1
    max_running: int | None = None
    on_lost: Literal["retry", "fail"] = "retry"
    poll_limit: int | None = None
    """How often a job may be snoozed; None for no limit."""
    retry_as: RetryAs = "same_row"
    """Whether a failed job itself runs again, or stays failed and a new job with `retry_of` takes its place."""
    queue_order: QueueOrder = "arrival"
    """Where a delayed or failed job rejoins the queue: by its time of arrival, or behind the waiting jobs."""
    resources: tuple[str, ...] = ()
    """Tags: all types with a tag share the limit that the settings define for it."""
    default_args: Mapping[str, Any] | None = None
    """Default arguments."""
    group_by: Callable[[Any], str] | None = None
    """Computes the batching key: jobs with the same key may be claimed together."""
    dedupe: bool | tuple[str, ...] = False
    """Whether jobs with equal arguments are deduplicated, or the names of the arguments that are compared."""
    shared: bool = False
    """Whether the work is done once for all tenants. Such jobs belong to `global`, no matter who enqueued them."""
    for_operators: bool = False
    """Whether only operators may enqueue it, although its jobs may belong to a tenant."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", self.key):
            raise ValueError(f"{self.key!r} is not a name for a job type")

    @property
    def model(self) -> type[Args]:
        """The model of its arguments."""
        return _imported(self.args) if isinstance(self.args, str) else self.args

    def check(self, args: Mapping[str, Any] | str) -> Args:
        """Validate arguments; raises BadArguments, which names the field."""
        # Calling the validator directly takes half the time of the model's own methods.
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
        """Validate incomplete arguments, and return the names of those that are missing."""
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
        """Validate arguments; return the JSON text to store and the model."""
        model = self.check(args)
        try:
            text = model.__pydantic_serializer__.to_json(model, exclude_none=True).decode()
            if "NaN" in text or "Infinity" in text:  # either a constant, or harmless text inside a string
                json.loads(text, parse_constant=_refuse_constant)
            size = len(text) if text.isascii() else len(text.encode())
        except ValueError as error:  # not a number, or half a surrogate pair
            raise BadArguments(f"{self.key}: arguments cannot be written as JSON: {error}") from None
        if size > ARGS_LIMIT_BYTES:
            raise BadArguments(f"{self.key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
        return text, model

    @property
    def argument_names(self) -> Sequence[str] | None:
        """The allowed argument names; None if any is allowed."""
        return list(self.model.model_fields)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments. It is shared: do not modify it."""
        return _schema_of(self.model)

    def dedupe_key_of(self, args_text: str, tenant_id: str) -> str | None:
        """The dedupe key of a job, if this type deduplicates."""
        if not self.dedupe:
            return None
        args = json.loads(args_text)
        if isinstance(self.dedupe, tuple):
            args = {name: args[name] for name in self.dedupe if name in args}
        return dedupe_key(self.key, tenant_id, args)


@cache  # pydantic takes milliseconds, and opening a store compares all schemas
def _schema_of(model: type[Args]) -> dict[str, Any]:
    return model.model_json_schema()


class Registry:
    """The declared job types. Nothing else can be enqueued or run."""

    def __init__(self, *types: JobType, command_handler: str | None = None) -> None:
        self._types = {job_type.key: job_type for job_type in types}
        self.command_handler = command_handler
        """The handler of jobs that run commands: `module:function`."""

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

    def prepare(self, job: NewJob) -> PreparedJob:
        """Validate a job and prepare it for writing; raises BadArguments or UnknownJobType."""
        kind = self[job.type]
        check_job(job)
        if job.tenant_id != DEFAULT_TENANT or job.requested_by is not None:
            check_tenant_of_type(kind, job.tenant_id)
            _check_request(kind, job)
        text, args = kind.encode({**kind.default_args, **job.args} if kind.default_args else job.args)
        return PreparedJob(
            job.type,
            job.priority,
            job.max_attempts or kind.max_attempts,
            job.tenant_id,
            job.source,
            storable(job.source_ref),
            storable(job.correlation_id),
            storable(job.created_by),
            text,
            kind.group_by(args) if kind.group_by else None,
            storable(job.dedupe_key) or (kind.dedupe_key_of(text, job.tenant_id) if kind.dedupe else None),
            None,
            job.delay_seconds,
            job.after,
            job.on_parent_failure,
            job.run_at,
            job.timeout_seconds,
            job.group_id,
            job.template_id,
            None if job.requested_by == DEFAULT_TENANT else job.requested_by,
        )

    def dedupe_key_of(self, job: NewJob) -> str | None:
        """The dedupe key that a job will have. Its arguments must be valid; they are not checked."""
        kind = self[job.type]
        args = {name: value for name, value in {**(kind.default_args or {}), **job.args}.items() if value is not None}
        return storable(job.dedupe_key) or kind.dedupe_key_of(canonical_json(args), job.tenant_id)


def check_tenant_of_type(kind: JobType, tenant_id: str) -> None:
    """Refuse a tenant for shared work, which belongs to `global`."""
    if kind.shared and tenant_id != DEFAULT_TENANT:
        raise BadArguments(f"{kind.key} is done once for all tenants: its jobs belong to {DEFAULT_TENANT}")


def _check_request(kind: JobType, job: NewJob) -> None:
    """Refuse `requested_by` unless the work is shared."""
    if job.requested_by is not None and not kind.shared:
        raise BadArguments(f"{kind.key} is not shared work: give its jobs to the tenant (tenant_id), not requested_by")


def check_job(job: NewJob) -> None:
    """Check the limits that apply to jobs of every type."""
    check_priority(job.priority)
    if job.delay_seconds is not None and not 0 <= job.delay_seconds <= DELAY_LIMIT_SECONDS:
        raise BadArguments(f"a delay of {job.delay_seconds} s is not between 0 and ten years")
    if job.run_at is not None and (job.delay_seconds is not None or job.run_at.tzinfo is None):
        raise BadArguments("a job starts after a delay or at an aware time, not both")
    if job.timeout_seconds is not None and not 1 <= job.timeout_seconds <= TIMEOUT_LIMIT_SECONDS:
        raise BadArguments(f"a timeout of {job.timeout_seconds} s is not between 1 s and a week")
    if job.max_attempts is not None and not 1 <= job.max_attempts <= 1000:
        raise BadArguments(f"max_attempts {job.max_attempts} is not between 1 and 1000")
    if not job.tenant_id or len(job.tenant_id) > 200:
        raise BadArguments("tenant_id must be 1 to 200 characters")


def check_priority(priority: int) -> None:
    """Refuse a priority that is out of range."""
    if not -PRIORITY_LIMIT <= priority <= PRIORITY_LIMIT:
        raise BadArguments(f"priority {priority} is beyond ±{PRIORITY_LIMIT}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def check_size(key: str, args: Mapping[str, Any]) -> str:
    """The arguments as JSON text; raises BadArguments if they are too large or not serializable."""
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
    """Whether a top-level argument is missing, rather than a part of one."""
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
