"""An attempt, one run of a job: its claim, its outcome, and the worker's exchange with the store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal, NamedTuple

from gribmill.queue.model.job import DEFAULT_TENANT, NewJob

AttemptStatus = Literal["running", "succeeded", "failed", "timeout", "cancelled", "lost", "snoozed", "skipped"]


class AttemptRef(NamedTuple):
    """Identifies one attempt. A report is accepted only if its ref is current (the fence)."""

    job_id: int
    attempt_no: int


class Claimed(NamedTuple):
    """A job that a worker holds. `args` stays JSON text, because only the handler, in another process, reads it."""

    id: int
    type: str
    args: str
    tenant_id: str
    group_key: str | None
    batch_id: int
    attempt_no: int
    retry_count: int
    max_attempts: int
    timeout_seconds: int = 3600
    """The job's own timeout, else that of its type."""
    command: str | None = None
    """For a definition with a command: the command and the payload's schema, as JSON text."""
    claimant: str = DEFAULT_TENANT
    """The tenant whose turn was used."""

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.id, self.attempt_no)


@cache
def _json_list(words: tuple[str, ...]) -> str:
    """Cached, because workers request the same few types thousands of times a second."""
    return json.dumps(words)


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A worker's request for a batch: types, limits and the lease."""

    worker_id: str
    types: tuple[str, ...]
    lease_seconds: float
    pid: int | None = None
    batch_limit: int | None = None

    @property
    def types_json(self) -> str:
        return _json_list(self.types)


@dataclass(frozen=True, slots=True)
class HeldAttempt:
    """An attempt that a worker still holds at its heartbeat."""

    ref: AttemptRef
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a job. It does not change once it has ended."""

    job_id: int
    attempt_no: int
    worker_id: str
    pid: int | None
    started_at: datetime | None
    finished_at: datetime | None
    status: AttemptStatus
    exit_code: int | None
    stdout_tail: str | None
    stderr_tail: str | None
    error_text: str | None
    artifacts: tuple[str, ...]
    log_path: str | None
    downloaded_bytes: int | None = None
    written_bytes: int | None = None
    ready_at: datetime | None = None
    """When the attempt could have started."""

    @property
    def wait_seconds(self) -> float | None:
        """Seconds from when it could have started until it did; None if unknown."""
        if self.ready_at is None or self.started_at is None or self.started_at < self.ready_at:
            return None
        return (self.started_at - self.ready_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Recovered:
    """The jobs that a sweep recovered from dead workers."""

    requeued: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.requeued) + len(self.ended)


@dataclass(frozen=True, slots=True)
class Effect:
    """One change to the application's own records: its kind, and its payload as JSON text."""

    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes that an attempt downloaded and wrote; None if unknown."""

    downloaded: int | None = None
    written: int | None = None


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The work is done. The jobs in `then` and effects in `also` are committed together with the completion."""

    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    artifacts: tuple[str, ...] = ()
    skipped: str | None = None
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed. Unless permanent, it is retried after `retry_in` seconds or the type's backoff."""

    error: str
    permanent: bool = False
    timeout: bool = False
    also: tuple[Effect, ...] = ()
    exit_code: int | None = None
    retry_in: float | None = None
    """Seconds until the next attempt."""
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Snoozed:
    """Run again later, without using an attempt. `then` and `also` are committed together with it."""

    seconds: float
    reason: str = ""
    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The attempt was stopped because its job was cancelled."""

    error: str = "cancelled while running"


Outcome = Succeeded | Failed | Snoozed | Stopped


def exit_code_of(outcome: Outcome) -> int:
    """The exit code of an outcome: 0, the handler's own code, or 1."""
    if not isinstance(outcome, Failed):
        return 0
    return 1 if outcome.exit_code is None else outcome.exit_code


class Report(NamedTuple):
    """How one attempt ended, with its output."""

    ref: AttemptRef
    outcome: Outcome
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    log_path: str | None = None
    """The path of its full output, relative to the worker's data root."""


class Exchange(NamedTuple):
    """The results of a worker's reports, and one batch per claim (head first)."""

    accepted: tuple[AttemptRef, ...] = ()
    fenced: tuple[AttemptRef, ...] = ()
    batches: tuple[tuple[Claimed, ...], ...] = ()
