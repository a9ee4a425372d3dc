"""Runs handlers, and turns every result or exception into one outcome per job."""

from __future__ import annotations

import importlib
import json
import traceback
from collections.abc import Callable
from typing import Any

from gribmill.logs import job_context
from gribmill.queue.command_type import make_command_type
from gribmill.queue.errors import BadArguments, BadDefinition, UnknownJobType
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import Failed, Outcome, Snoozed, Stopped, Succeeded
from gribmill.queue.worker.task import Batch, PermanentFailure, Task

SENTENCE_LIMIT = 4_000
TRACE_LIMIT = 15_000


def run_batch(types: Registry, batch: Batch) -> None:
    """Run one claimed batch. Every task gets exactly one outcome, whatever the handler does."""
    head = batch.tasks[0]
    with job_context(**head.log_fields()):
        try:
            kind = types[head.type] if head.definition is None else claimed_command_type(types, head)
            _refuse_bad_arguments(kind, batch)
            if batch.unreported:
                _call(kind, batch)
        except (Exception, SystemExit) as error:  # noqa: BLE001 — whatever a handler raises is its job's outcome
            outcome = failure_of(error)
            for task in batch.unreported:
                batch.done(task, outcome)
    for task in batch.unreported:
        batch.fail(task, f"the handler of {task.type} returned without reporting this job")


def claimed_command_type(types: Registry, head: Task) -> JobType:
    """The type of a job that runs a command, as of the claim."""
    claimed = json.loads(head.definition or "{}")
    return make_command_type(head.type, types.command_handler, claimed["command"], json.dumps(claimed["schema"]))


def load_handler(kind: JobType) -> Callable[[Any], Any]:
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
    handler = load_handler(kind)
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
