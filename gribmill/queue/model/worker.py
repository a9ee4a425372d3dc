"""Worker processes as their heartbeats describe them, and reservations that keep them from starting jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from gribmill.queue.model.job import Json

WorkerState = Literal["active", "draining", "stopped"]


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process and its last heartbeat."""

    id: str
    last_heartbeat: datetime | None
    current_job_id: int | None
    hostname: str
    version: str
    types: tuple[str, ...]
    running_count: int
    state: WorkerState
    started_at: datetime | None
    metadata: Json


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A heartbeat: who sends it, and for how long its leases are renewed."""

    worker_id: str
    lease_seconds: float
    types: tuple[str, ...]
    state: WorkerState
    hostname: str
    version: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reservation:
    """While active, no job in its scope starts. The scope is a job type, or `*` for all."""

    id: str
    scope: str
    reserved_by: str
    reserved_at: datetime | None
    expires_at: datetime | None
