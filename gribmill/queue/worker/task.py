"""A job as its handler sees it, and running handlers: every result or exception becomes one outcome per job."""

from __future__ import annotations

import builtins
import importlib
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from gribmill.errors import GribmillError
from gribmill.logs import job_context
from gribmill.queue.command import make_command_type
from gribmill.queue.errors import BadArguments, BadDefinition, UnknownJobType
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import DEFAULT_TENANT, AttemptRef, Claimed, Failed, Outcome, Snoozed, Stopped, Succeeded

if TYPE_CHECKING:
    from gribmill.queue.arguments import Args

ArgsT = TypeVar("ArgsT", bound="Args")
SENTENCE_LIMIT = 4_000
TRACE_LIMIT = 15_000


class PermanentFailure(GribmillError):
    """Raised by a handler if retrying would not help."""


@dataclass(frozen=True, slots=True)
class Task:
    """One job, as passed to a handler."""

    job_id: int
    type: str
    args: str
    attempt_no: int
    tenant_id: str
    worker_id: str
    environment: dict[str, Any] = field(default_factory=dict)
    """The worker's settings, as plain data."""
    definition: str | None = None
    """For a definition with a command: the command and the payload's schema, as JSON text."""
    claimant: str = DEFAULT_TENANT
    """The tenant whose turn it used; for shared work, the one that requested it."""

    @classmethod
    def of(cls, job: Claimed, worker_id: str, environment: dict[str, Any]) -> Task:
        return cls(
            job.id, job.type, job.args, job.attempt_no, job.tenant_id, worker_id, environment, job.command, job.claimant
        )

    @property
    def requested_by(self) -> str | None:
        """The tenant that requested shared work; None if the job belongs to that tenant."""
        return None if self.claimant == self.tenant_id else self.claimant

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.job_id, self.attempt_no)

    def args_as(self, model: builtins.type[ArgsT]) -> ArgsT:
        """The arguments, validated again because the row may have been written manually."""
        return model.model_validate_json(self.args)

    def log_fields(self) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "type": self.type,
            "attempt_no": self.attempt_no,
            "worker_id": self.worker_id,
            "tenant_id": self.tenant_id,
        }


class Batch:
    """Sibling jobs for one handler call. Each is reported on its own, as soon as it is done."""

    def __init__(
        self,
        tasks: Sequence[Task],
        report: Callable[[Task, Outcome], None],
        top_up: Callable[[int], list[Task]],
    ) -> None:
        self.tasks = list(tasks)
        self._open = {task.ref: task for task in tasks}
        self._report = report
        self._top_up = top_up

    @property
    def unreported(self) -> list[Task]:
        return list(self._open.values())

    def done(self, task: Task, outcome: Outcome | None = None) -> None:
        """Report one task; the others continue."""
        if task.ref not in self._open:
            raise ValueError(f"job {task.job_id} was reported before")
        # Raises if the outcome cannot be sent; the task can then still be failed.
        self._report(task, outcome or Succeeded())
        del self._open[task.ref]

    def fail(self, task: Task, error: str, *, permanent: bool = False) -> None:
        self.done(task, Failed(error, permanent=permanent))

    def top_up(self, limit: int = 100) -> list[Task]:
        """Claim siblings that arrived since the batch was claimed, and add them to it."""
        more = self._top_up(limit)
        self.tasks += more
        self._open |= {task.ref: task for task in more}
        return more


def run_batch(types: Registry, batch: Batch) -> None:
    """Run one claimed batch. Every task gets exactly one outcome, whatever the handler does."""
    head = batch.tasks[0]
    with job_context(**head.log_fields()):
        try:
            kind = types[head.type] if head.definition is None else _claimed_command_type(types, head)
            _refuse_bad_arguments(kind, batch)
            if batch.unreported:
                _call(kind, batch)
        except (Exception, SystemExit) as error:  # noqa: BLE001 — whatever a handler raises is its job's outcome
            outcome = failure_of(error)
            for task in batch.unreported:
                batch.done(task, outcome)
    for task in batch.unreported:
        batch.fail(task, f"the handler of {task.type} returned without reporting this job")


def _claimed_command_type(types: Registry, head: Task) -> JobType:
    """The type of a job that runs a command, as of the claim."""
    claimed = json.loads(head.definition or "{}")
    return make_command_type(head.type, types.command_handler, claimed["command"], json.dumps(claimed["schema"]))


def _load_handler(kind: JobType) -> Callable[[Any], Any]:
    """Import a type's handler."""
    if kind.handler is None:
        raise UnknownJobType(f"{kind.key} is declared, but this gribmill has no handler for it")
    module, _, name = kind.handler.partition(":")
    handler: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    return handler


def failure_of(error: BaseException) -> Failed:
    """An exception as an outcome: the message first, then the end of the traceback."""
    sentence = f"{type(error).__name__}: {error}"[:SENTENCE_LIMIT]
    trace = "".join(traceback.format_exception(error))[-TRACE_LIMIT:]
    permanent = isinstance(error, PermanentFailure | BadArguments | BadDefinition | UnknownJobType)
    return Failed(f"{sentence}\n{trace}", permanent=permanent, exit_code=_exit_code(error))


def _exit_code(error: BaseException) -> int:
    """The exit code of a SystemExit."""
    code = error.code if isinstance(error, SystemExit) else 1
    return code & 0xFF if isinstance(code, int) else 0 if code is None else 1


def _refuse_bad_arguments(kind: JobType, batch: Batch) -> None:
    """Validate arguments again, because rows may have been written manually; each task fails on its own."""
    for task in batch.unreported:
        try:
            kind.check(task.args)
        except BadArguments as error:
            batch.done(task, Failed(str(error), permanent=True))


def _call(kind: JobType, batch: Batch) -> None:
    handler = _load_handler(kind)
    if kind.group_by is not None:  # an operator may have set batch_max to 1
        handler(batch)
        return
    for task in batch.unreported:
        batch.done(task, _outcome(kind, handler(task)))


def _outcome(kind: JobType, value: object) -> Outcome:
    if value is None:
        return Succeeded()
    if isinstance(value, Succeeded | Failed | Snoozed | Stopped):
        return value
    raise TypeError(f"the handler of {kind.key} returned {type(value).__name__}, which is not an outcome")
