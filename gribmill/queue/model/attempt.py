"""An attempt: one run of a job, from its claim to its end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal, NamedTuple

from gribmill.queue.model.job import DEFAULT_TENANT

AttemptStatus = Literal["running", "succeeded", "failed", "timeout", "cancelled", "lost", "snoozed", "skipped"]


class AttemptRef(NamedTuple):
    """The right to report on one attempt: what the fence checks."""

    job_id: int
    attempt_no: int


class Claimed(NamedTuple):
    """A job that a worker holds. `args` is JSON text: only the handler reads it, in another process."""

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
    """That of the job, else the one in force for its type."""
    command: str | None = None
    """For a definition with a command: that and the schema of its payload, as JSON text."""
    claimant: str = DEFAULT_TENANT
    """The tenant whose turn it took."""

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.id, self.attempt_no)


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


@dataclass(frozen=True, slots=True)
class HeldAttempt:
    """An attempt that a worker still owns, as its heartbeat found it."""

    ref: AttemptRef
    cancel_requested: bool


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
    artifacts: tuple[str, ...]
    log_path: str | None
    downloaded_bytes: int | None = None
    written_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """The jobs that a sweep found without a living worker."""

    requeued: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.requeued) + len(self.ended)
