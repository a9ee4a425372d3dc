"""The requests of the clients, by method name. The server's OpenAPI document describes the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from gribmill.client.call import Call, change, get, given, part
from gribmill.queue.model import JobSource
from gribmill.views.chain.status import ModelStatusView
from gribmill.views.data.point import PointAnswerView
from gribmill.views.data.run import LatestRunView
from gribmill.views.queue.contract import (
    AttemptResource,
    CanceledJob,
    ContractStatus,
    DefinitionResource,
    JobDetail,
    JobPage,
    JobResource,
    JobSummary,
    RetriedJob,
    TriggerResource,
)
from gribmill.views.queue.event import EventView
from gribmill.views.queue.job_group import JobGroupView
from gribmill.views.queue.trigger import FiredView
from gribmill.views.queue.worker import WorkerDismissedView, WorkerDrainedView, WorkerView

JOBS, TRIGGERS, EVENTS = "/api/v1/jobs", "/api/v1/jobs/triggers", "/api/v1/events"
WORKERS = "/api/v1/workers"
Payload = Mapping[str, Any]


def create_job(
    definition_key: str,
    payload: Payload | None = None,
    *,
    priority: int | None = None,
    scheduled_for: datetime | None = None,
    dedupe_key: str | None = None,
    correlation_id: str | None = None,
    after: tuple[int, ...] | None = None,
    group_id: int | None = None,
    tenant_id: str | None = None,
    idempotency_key: str | None = None,
) -> Call[JobResource]:
    """Enqueue a job; returns the existing one if an equal job is queued or running."""
    options = {
        "priority": priority,
        "scheduled_for": scheduled_for.isoformat() if scheduled_for else None,
        "dedupe_key": dedupe_key,
        "correlation_id": correlation_id,
        "after": after,
        "group_id": group_id,
    }
    body = {"definition_key": definition_key, "payload": dict(payload or {}), **given(options)}
    return change("POST", JobResource, JOBS, body, idempotency_key, tenant_id=tenant_id)


def list_jobs(
    *,
    status: ContractStatus | None = None,
    source: JobSource | None = None,
    definition_key: str | None = None,
    correlation_id: str | None = None,
    group_id: int | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    limit: int = 50,
    offset: int | None = None,
    cursor: int | None = None,
    tenant_id: str | None = None,
) -> Call[JobPage]:
    """One page of jobs, newest first."""
    return get(
        JobPage,
        JOBS,
        status=status,
        source=source,
        definition_key=definition_key,
        correlation_id=correlation_id,
        group_id=group_id,
        created_after=created_after.isoformat() if created_after else None,
        created_before=created_before.isoformat() if created_before else None,
        limit=limit,
        offset=offset,
        cursor=cursor,
        tenant_id=tenant_id,
    )


def show_job(job_id: int) -> Call[JobDetail]:
    """One job, and why it has not started yet."""
    return get(JobDetail, f"{JOBS}/{part(job_id)}")


def list_attempts(job_id: int) -> Call[tuple[AttemptResource, ...]]:
    """The attempts of a job, with the end of their output."""
    return get(tuple[AttemptResource, ...], f"{JOBS}/{part(job_id)}/attempts")


def summarize_jobs(tenant_id: str | None = None) -> Call[JobSummary]:
    """Counts by status, the age of the oldest queued job, and the number of running ones."""
    return get(JobSummary, f"{JOBS}/summary", tenant_id=tenant_id)


def cancel_job(job_id: int, reason: str | None = None, *, idempotency_key: str | None = None) -> Call[CanceledJob]:
    """Cancel a queued job, or ask a running one to stop."""
    body = given({"reason": reason})
    return change("POST", CanceledJob, f"{JOBS}/{part(job_id)}/cancel", body, idempotency_key)


def retry_job(job_id: int, *, idempotency_key: str | None = None) -> Call[RetriedJob]:
    """Run a finished job again, as a new one."""
    return change("POST", RetriedJob, f"{JOBS}/{part(job_id)}/retry", None, idempotency_key)


def run_job_now(job_id: int, *, idempotency_key: str | None = None) -> Call[JobResource]:
    """Let a delayed job start now."""
    return change("POST", JobResource, f"{JOBS}/{part(job_id)}/run-now", None, idempotency_key)


def move_job(
    job_id: int,
    *,
    to: Literal["front", "back"] | None = None,
    before: int | None = None,
    behind: int | None = None,
    priority: int | None = None,
    idempotency_key: str | None = None,
) -> Call[JobResource]:
    """Move a queued job. Give exactly one of the destinations."""
    body = given({"to": to, "before": before, "behind": behind, "priority": priority})
    return change("POST", JobResource, f"{JOBS}/{part(job_id)}/move", body, idempotency_key)


def list_definitions() -> Call[tuple[DefinitionResource, ...]]:
    """Job definitions."""
    return get(tuple[DefinitionResource, ...], "/api/v1/admin/jobs/definitions")


def list_triggers(tenant_id: str | None = None) -> Call[tuple[TriggerResource, ...]]:
    """Triggers: schedules and event triggers."""
    return get(tuple[TriggerResource, ...], TRIGGERS, tenant_id=tenant_id)


def create_trigger(
    label: str,
    definition_key: str,
    payload_template: Payload | None = None,
    *,
    event_name: str | None = None,
    cron_expr: str | None = None,
    timezone: str | None = None,
    dedupe_window_seconds: int | None = None,
    tenant_id: str | None = None,
    idempotency_key: str | None = None,
) -> Call[TriggerResource]:
    """Add a trigger: with `event_name` for an event, with `cron_expr` for a schedule."""
    options = {"event_name": event_name, "cron_expr": cron_expr, "timezone": timezone}
    body = {
        "label": label,
        "trigger_type": "event" if event_name is not None else "schedule",
        "definition_key": definition_key,
        "payload_template": dict(payload_template or {}),
        **given({**options, "dedupe_window_seconds": dedupe_window_seconds}),
    }
    return change("POST", TriggerResource, TRIGGERS, body, idempotency_key, tenant_id=tenant_id)


def delete_trigger(trigger_id: int, *, idempotency_key: str | None = None) -> Call[None]:
    """Remove a trigger. Its jobs stay."""
    made = change("DELETE", object, f"{TRIGGERS}/{part(trigger_id)}", None, idempotency_key)
    return Call(made.method, made.path, lambda _: None, key=made.key)


def list_groups(limit: int = 50, cursor: int | None = None) -> Call[tuple[JobGroupView, ...]]:
    """Job groups with their progress, newest first."""
    return get(tuple[JobGroupView, ...], "/api/v1/groups", limit=limit, cursor=cursor)


def emit_event(
    name: str, payload: Payload | None = None, *, event_id: str | None = None, tenant_id: str | None = None,
    idempotency_key: str | None = None,
) -> Call[tuple[FiredView, ...]]:  # fmt: skip
    """Report an event; returns what its triggers created. With an id, it is recorded only once."""
    body = {"name": name, "payload": dict(payload or {}), **given({"id": event_id})}
    return change("POST", tuple[FiredView, ...], EVENTS, body, idempotency_key, tenant_id=tenant_id)


def list_events(name: str | None = None, *, limit: int = 50, cursor: int | None = None) -> Call[tuple[EventView, ...]]:
    """Events, newest first."""
    return get(tuple[EventView, ...], EVENTS, name=name, limit=limit, cursor=cursor)


def list_workers() -> Call[tuple[WorkerView, ...]]:
    """Workers and their last heartbeats."""
    return get(tuple[WorkerView, ...], WORKERS)


def drain_worker(worker: str, *, idempotency_key: str | None = None) -> Call[WorkerDrainedView]:
    """Let a worker finish its running jobs, start no new ones, and stop."""
    return change("POST", WorkerDrainedView, f"{WORKERS}/{part(worker)}/drain", None, idempotency_key)


def dismiss_worker(worker: str, *, idempotency_key: str | None = None) -> Call[WorkerDismissedView]:
    """Mark a silent worker as stopped and requeue its jobs."""
    return change("POST", WorkerDismissedView, f"{WORKERS}/{part(worker)}/dismiss", None, idempotency_key)


def status(model: str | None = None) -> Call[tuple[ModelStatusView, ...]]:
    """Which models are up to date, and what is missing."""
    return get(tuple[ModelStatusView, ...], "/api/v1/status", model=model)


def latest_runs(
    model: str, *, region: str | None = None, complete: bool | None = None
) -> Call[tuple[LatestRunView, ...]]:
    """The newest complete run of a model for each region; with `complete=False`, the newest that has any tile."""
    return get(tuple[LatestRunView, ...], "/api/v1/runs/latest", model=model, region=region, complete=complete)


def point(
    lat: float, lon: float, *, model: str | None = None, variables: str | None = None, run: str | None = None
) -> Call[PointAnswerView]:
    """The forecast at a place. `variables` are names separated by commas."""
    params = {"lat": lat, "lon": lon, "model": model, "vars": variables, "run": run}
    return get(PointAnswerView, "/api/v1/point", **params)


def tile(model: str, run: str, region: str, hour: int) -> Call[bytes]:
    """The NPZ file of a tile."""
    path = f"/api/v1/tiles/{part(model)}/{part(run)}/{part(region)}/{hour:03d}.npz"
    return Call("GET", path, lambda content: content)
