"""A job: as it is enqueued, as it is stored, and as it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

Json = Annotated[Any, "json"]
"""A JSON value. Text that is not JSON (in a manually written row) stays a string."""
Status = Literal["pending", "processing", "completed", "failed", "cancelled"]
JobSource = Literal["manual", "event", "schedule", "system"]

STATUSES: tuple[Status, ...] = ("pending", "processing", "completed", "failed", "cancelled")
FINISHED: tuple[Status, ...] = ("completed", "failed", "cancelled")
DEFAULT_TENANT = "global"
DEAD_LETTER: Literal["dead_letter"] = "dead_letter"


@dataclass(slots=True)
class NewJob:
    """A job to enqueue. Fields that are None default to those of its type. Not frozen, which would double its cost."""

    type: str
    args: dict[str, Any] = field(default_factory=dict)
    priority: int = 0
    delay_seconds: float | None = None
    dedupe_key: str | None = None
    max_attempts: int | None = None
    tenant_id: str = DEFAULT_TENANT
    source: JobSource = "manual"
    source_ref: str | None = None
    correlation_id: str | None = None
    created_by: str | None = None
    after: tuple[int, ...] = ()
    on_parent_failure: Literal["cancel", "ignore"] = "cancel"
    run_at: datetime | None = None
    """Start no earlier than this; instead of `delay_seconds`."""
    timeout_seconds: int | None = None
    group_id: int | None = None
    """Its job group. Jobs are added to a sequential group only with `Groups.add`."""
    template_id: int | None = None
    """The template that it was created from."""
    requested_by: str | None = None
    """For shared work, which belongs to `global`: the tenant that requested it, whose turns and limits apply."""


class PreparedJob(NamedTuple):
    """A checked job, ready to be written in any transaction. `args` is JSON text, as its type encodes it."""

    type: str
    priority: int
    max_attempts: int
    tenant_id: str
    source: str
    source_ref: str | None
    correlation_id: str | None
    created_by: str | None
    args: str
    group_key: str | None
    dedupe_key: str | None = None
    retry_of: int | None = None
    delay_seconds: float | None = None
    after: tuple[int, ...] = ()
    on_parent_failure: str = "cancel"
    run_at: datetime | None = None
    timeout_seconds: int | None = None
    group_id: int | None = None
    template_id: int | None = None
    requested_by: str | None = None


class Enqueued(NamedTuple):
    """A job's id, and whether this call created it (False if an equal job was already active)."""

    id: int
    created: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A row of `jobs`: the base's eleven columns first."""

    id: int
    type: str
    args: Json
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
    source: JobSource
    source_ref: str | None
    correlation_id: str | None
    retry_of: int | None
    created_by: str | None
    updated_at: datetime | None
    timeout_seconds: int | None
    group_id: int | None
    template_id: int | None
    trigger_id: int | None
    """The trigger that created it."""
    requested_by: str | None
    claimant: str
    """The tenant whose turns it uses: `requested_by`, else its own."""


class PlacedJob(NamedTuple):
    """A pending job and its position: 0 is natural order, negative is pinned ahead, positive parked behind."""

    id: int
    position: int


def shown_status(job: Job) -> Status | Literal["dead_letter"]:
    return DEAD_LETTER if job.dead_lettered_at is not None else job.status


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated invariant, the job that violates it, and how."""

    invariant: str
    job_id: int | None
    detail: str
