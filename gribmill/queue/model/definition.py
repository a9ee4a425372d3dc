"""Job types as stored: definitions, when their jobs are retried, and templates of jobs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gribmill.queue.model.attempt import AttemptRef
from gribmill.queue.model.job import DEFAULT_TENANT, Json

RetryAs = Literal["same_row", "new_job"]
QueueOrder = Literal["arrival", "due"]
TUNABLE = (
    "timeout_seconds", "max_attempts", "backoff_base_s", "backoff_cap_s", "backoff_jitter", "batch_max", "max_running",
    "lane", "resources", "on_lost", "retry_as", "poll_limit", "queue_order", "default_args",
)  # fmt: skip
"""The values that operators can change for any type, without changing what its jobs do."""
# Enough to spread a burst of failures, little enough to stay predictable.
BACKOFF_JITTER = 0.10


@dataclass(frozen=True, slots=True)
class Definition:
    """A row of `job_definitions`. The columns hold the effective values: `declared`, changed by `overrides`."""

    key: str
    description: str
    arg_schema: Json
    default_args: Json
    timeout_seconds: int
    max_attempts: int
    backoff_base_s: float
    backoff_cap_s: float
    backoff_jitter: float
    batch_max: int
    max_running: int | None
    lane: str
    resources: tuple[str, ...]
    on_lost: Literal["retry", "fail"]
    retry_as: RetryAs
    poll_limit: int | None
    queue_order: QueueOrder
    command: Json
    """The command, for a type that an operator added; None for a type declared in code."""
    declared: Json
    overrides: Json
    version: int
    is_paused: bool
    is_active: bool
    created_at: datetime | None
    updated_at: datetime | None

    @property
    def effective(self) -> dict[str, Any]:
        """The effective tunable values."""
        return {name: getattr(self, name) for name in TUNABLE}


@dataclass(frozen=True, slots=True)
class DefinitionVersion:
    """A definition as of one change."""

    version: int
    changed_at: datetime | None
    changed_by: str | None
    change: str
    definition: Json


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The retry settings of a job type."""

    backoff_base_s: float = 30.0
    backoff_cap_s: float = 600.0
    on_lost: Literal["retry", "fail"] = "retry"
    backoff_jitter: float = BACKOFF_JITTER
    poll_limit: int | None = None
    retry_as: RetryAs = "same_row"

    def wait_seconds(self, retry: int, ref: AttemptRef) -> float:
        """The wait before retry number `retry` (1 is the first): the backoff, shortened by at most the jitter.

        The jitter is a hash of (job, attempt), so jobs that fail together are spread out and waits are reproducible in
        tests. Without jitter, the wait is exactly the backoff.
        """
        digest = hashlib.blake2b(f"{ref.job_id}/{ref.attempt_no}".encode(), digest_size=8).digest()
        unit = int.from_bytes(digest, "big") / 2**64
        return backoff_seconds(retry, self.backoff_base_s, self.backoff_cap_s) * (1 - self.backoff_jitter * unit)


def backoff_seconds(attempts: int, base: float = 1.0, cap: float = 60.0) -> float:
    """min(cap, base·2^(attempts-1)) after `attempts` failed attempts; `base` before the first."""
    exponent = min(max(attempts, 1) - 1, 62)
    return min(cap, base * 2.0**exponent)


@dataclass(frozen=True, slots=True)
class NewTemplate:
    """A template to add. Fields that are None default to those of the type; each job supplies missing arguments."""

    name: str
    type: str
    args: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    priority: int = 0
    timeout_seconds: int | None = None
    max_attempts: int | None = None
    dedupe_key: str | None = None
    tenant_id: str = DEFAULT_TENANT
    created_by: str | None = None


@dataclass(frozen=True, slots=True)
class JobTemplate:
    """A stored template."""

    id: int
    name: str
    type: str
    args: Json
    """A dict, unless the row was written manually."""
    description: str
    priority: int
    timeout_seconds: int | None
    max_attempts: int | None
    dedupe_key: str | None
    tenant_id: str
    created_by: str | None
    created_at: datetime | None
    updated_at: datetime | None
