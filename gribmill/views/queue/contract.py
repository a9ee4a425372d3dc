"""The only place that maps the queue's statuses, fields and priorities to the names of the API contract.

In the contract, the default priority is 100 and lower runs sooner; in the queue it is 0 and higher runs sooner. One is
100 minus the other.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from gribmill.queue.model import Attempt, AttemptStatus, Definition, Job, JobSource, Status, Trigger
from gribmill.queue.redact import redact, redact_json
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.views.view import Time, View

ContractStatus = Literal["queued", "running", "succeeded", "failed", "canceled", "dead_letter"]
ContractAttemptStatus = Literal[
    "running", "succeeded", "failed", "timeout", "canceled", "lost", "snoozed", "skipped"
]  # fmt: skip
TriggerType = Literal["event", "schedule", "adaptive"]

STATUSES: dict[Status, ContractStatus] = {
    "pending": "queued",
    "processing": "running",
    "completed": "succeeded",
    "failed": "failed",
    "cancelled": "canceled",
}
OUR_STATUSES: dict[ContractStatus, Status] = {theirs: ours for ours, theirs in STATUSES.items()}
DEFAULT_PRIORITY = 100


def to_priority(ours: int) -> int:
    return DEFAULT_PRIORITY - ours


def from_priority(theirs: int) -> int:
    return DEFAULT_PRIORITY - theirs


def _status_of(job: Job) -> ContractStatus:
    return "dead_letter" if job.dead_lettered_at is not None else STATUSES[job.status]


def attempt_status_of(status: AttemptStatus) -> ContractAttemptStatus:
    return "canceled" if status == "cancelled" else status


def status_filter(status: ContractStatus | None) -> dict[str, Any]:
    """The fields of a JobFilter. A dead letter is a failed job in the queue, but a separate status in the contract."""
    if status in ("failed", "dead_letter"):
        return {"dead": status == "dead_letter"}
    return {} if status is None else {"status": OUR_STATUSES[status]}


def job_filter(
    status: ContractStatus | None, definition_key: str | None, group_name: str | None, worker: str | None, **same: Any
) -> JobFilter:
    """The filter for the contract's parameters. `same` are fields with the same name on both sides."""
    mapped: dict[str, Any] = {"type": definition_key, "group_key": group_name, "worker_id": worker}
    return JobFilter(**status_filter(status), **mapped, **same)


class JobResource(View):
    """A job, with the names of the contract."""

    id: int
    tenant_id: str
    definition_key: str
    source: JobSource
    source_ref: str | None
    status: ContractStatus
    priority: int
    payload: Any
    dedupe_key: str | None
    correlation_id: str | None
    scheduled_for: Time | None
    queued_at: Time | None
    started_at: Time | None
    finished_at: Time | None
    attempt_count: int
    max_attempts: int
    lease_expires_at: Time | None
    claimed_by_worker: str | None
    last_error: str | None
    created_by: str | None
    position: int
    batching_key: str | None
    group_id: int | None
    template_id: int | None
    trigger_id: int | None
    retry_of: int | None
    timeout_seconds: int | None
    cancel_requested_at: Time | None

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls.copy_of(
            job,
            definition_key=job.type,
            status=_status_of(job),
            priority=to_priority(job.priority),
            payload=redact_json(job.args),
            dedupe_key=redact(job.dedupe_key) if job.dedupe_key else None,
            scheduled_for=job.next_run_at or job.created_at,
            queued_at=job.created_at,
            finished_at=job.completed_at,
            attempt_count=job.attempt_no,
            claimed_by_worker=job.worker_id,
            last_error=job.error_message,
            batching_key=job.group_key,
        )


class AttemptResource(View):
    """An attempt, with the names of the contract. The statuses `lost`, `snoozed` and `skipped` are extensions."""

    id: str
    job_id: int
    attempt_no: int
    worker_id: str
    pid: int | None
    started_at: Time | None
    finished_at: Time | None
    exit_code: int | None
    status: ContractAttemptStatus
    stdout_tail: str | None
    stderr_tail: str | None
    error_text: str | None
    artifacts: tuple[str, ...]

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        its_id = f"{attempt.job_id}-{attempt.attempt_no}"
        return cls.copy_of(attempt, id=its_id, status=attempt_status_of(attempt.status))


class DefinitionResource(View):
    """A job definition, with the names of the contract. Its id is its key."""

    id: str
    key: str
    description: str
    arg_schema: Any
    timeout_seconds: int
    max_attempts: int
    is_active: bool
    is_paused: bool
    created_at: Time | None
    updated_at: Time | None
    command: Any
    overrides: Any
    version: int

    @classmethod
    def of(cls, one: Definition) -> Self:
        return cls.copy_of(one, id=one.key, command=redact_json(one.command), overrides=redact_json(one.overrides))


class TriggerResource(View):
    """A trigger, with the names of the contract. `adaptive`: `gribmill run` chooses its times."""

    id: int
    tenant_id: str
    label: str
    is_enabled: bool
    trigger_type: TriggerType
    event_name: str | None
    cron_expr: str | None
    timezone: str | None
    definition_key: str
    payload_template: Any
    dedupe_window_seconds: int
    priority: int | None
    misfire: str
    template_id: int | None
    created_by: str | None
    last_fired_at: Time | None
    next_fire_at: Time | None

    @classmethod
    def of(cls, one: Trigger) -> Self:
        adaptive = one.kind == "adaptive"
        return cls.copy_of(
            one,
            trigger_type=one.kind,
            event_name=one.event,
            cron_expr=None if adaptive else one.cron,
            timezone=None if adaptive else one.timezone,
            definition_key=one.type,
            payload_template=redact_json(one.template),
            priority=None if one.priority is None else to_priority(one.priority),
        )


class JobSummary(View):
    """Counts by status, the age of the oldest ready job, and the number of running ones."""

    counts: dict[ContractStatus, int]
    oldest_queued_age_seconds: float | None
    running_count: int


class JobDetail(JobResource):
    """A job, why it has not started yet, and related jobs."""

    waits_for: str | None
    parents: tuple[int, ...]
    children: tuple[int, ...]
    retries: tuple[int, ...]


class JobPage(View):
    """Jobs, newest first. `next_cursor` is null on the last page."""

    jobs: tuple[JobResource, ...]
    next_cursor: int | None


class CanceledJob(JobResource):
    """`requested`: the job is running, and its worker was asked to stop it."""

    result: Literal["canceled", "requested"]


class RetriedJob(View):
    """The new job that retries it. `created` is false if there already was one."""

    id: int
    created: bool
    job: JobResource
