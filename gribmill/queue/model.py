"""The nouns of the queue as plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple

Status = Literal["pending", "processing", "completed", "failed", "cancelled"]
AttemptStatus = Literal["running", "succeeded", "failed", "timeout", "cancelled", "lost", "snoozed", "skipped"]
Source = Literal["manual", "event", "schedule", "system"]

STATUSES: tuple[Status, ...] = ("pending", "processing", "completed", "failed", "cancelled")
FINISHED: tuple[Status, ...] = ("completed", "failed", "cancelled")
DEFAULT_TENANT = "global"


@dataclass(slots=True)
class NewJob:
    """A job to enqueue. What is None is decided by its type. (Not frozen: that would double the time to make one.)"""

    type: str
    args: dict[str, Any] = field(default_factory=dict)
    priority: int = 0
    delay_seconds: float | None = None
    dedupe_key: str | None = None
    max_attempts: int | None = None
    tenant_id: str = DEFAULT_TENANT
    source: Source = "manual"
    source_ref: str | None = None
    correlation_id: str | None = None
    created_by: str | None = None
    after: tuple[int, ...] = ()
    on_parent_failure: Literal["cancel", "ignore"] = "cancel"


class Enqueued(NamedTuple):
    """The id of a job, and whether this call made it (False: an equal one was active already)."""

    id: int
    created: bool


class Ticket(NamedTuple):
    """The right to report on one attempt: what the fence checks."""

    job_id: int
    attempt_no: int


class Claimed(NamedTuple):
    """A job in a worker's hands."""

    id: int
    type: str
    args: str
    tenant_id: str
    group_key: str | None
    batch_id: int
    attempt_no: int
    retry_count: int
    max_attempts: int

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.id, self.attempt_no)


@dataclass(frozen=True, slots=True)
class Effect:
    """A change to the application's records, made with the end of an attempt: its kind, and its payload as JSON."""

    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The work is done. `then` and `also` become real with the completion, or not at all."""

    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    artifacts: tuple[str, ...] = ()
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed. A permanent failure is not tried again."""

    error: str
    permanent: bool = False
    timeout: bool = False
    also: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Snoozed:
    """Not yet: come back later. Costs no attempt. `then` and `also` become real with it, or not at all."""

    seconds: float
    reason: str = ""
    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Stopped:
    """The attempt was stopped because the job is to be cancelled."""

    error: str = "cancelled while running"


Outcome = Succeeded | Failed | Snoozed | Stopped


class Report(NamedTuple):
    """How one attempt ended, with what its process left behind."""

    ticket: Ticket
    outcome: Outcome
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None


@cache
def _json_list(words: tuple[str, ...]) -> str:
    """Workers ask for the same few types thousands of times a second."""
    return json.dumps(words)


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a worker would run next."""

    worker_id: str
    types: tuple[str, ...]
    lease_seconds: float
    pid: int | None = None
    batch_limit: int | None = None

    @property
    def types_json(self) -> str:
        return _json_list(self.types)


class Turn(NamedTuple):
    """What became of a worker's reports, and the batches it was given next, one per claim (heads first)."""

    accepted: tuple[Ticket, ...] = ()
    fenced: tuple[Ticket, ...] = ()
    batches: tuple[tuple[Claimed, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """An attempt that a worker still owns, as its heartbeat found it."""

    ticket: Ticket
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A row of `jobs`: the base's eleven columns first."""

    id: int
    type: str
    args: str
    priority: int
    status: Status
    worker_id: str | None
    created_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    error_message: str | None
    retry_count: int
    position: int
    next_run_at: datetime | None
    deps_left: int
    attempt_no: int
    max_attempts: int
    lease_expires_at: datetime | None
    cancel_requested_at: datetime | None
    dead_lettered_at: datetime | None
    tenant_id: str
    dedupe_key: str | None
    group_key: str | None
    batch_id: int | None
    source: Source
    source_ref: str | None
    correlation_id: str | None
    retry_of: int | None
    created_by: str | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a job, never changed once it has ended."""

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
    artifacts: str | None
    log_path: str | None


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process and its last sign of life."""

    id: str
    last_heartbeat: datetime | None
    current_job_id: int | None
    hostname: str
    version: str
    types: tuple[str, ...]
    running_count: int
    state: Literal["active", "draining", "stopped"]
    started_at: datetime | None


@dataclass(frozen=True, slots=True)
class Reservation:
    """While it is active, no covered job starts. Scope is a job type, or `*` for all."""

    id: str
    scope: str
    reserved_by: str
    reserved_at: datetime | None
    expires_at: datetime | None
