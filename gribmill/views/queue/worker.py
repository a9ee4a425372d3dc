"""Workers and their heartbeats."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import Worker


class WorkerView(View):
    """One worker. It is stale when its last heartbeat is older than the lease: its jobs go back into the queue."""

    id: str
    state: Literal["active", "draining", "stopped"]
    stale: bool
    last_heartbeat: Time | None
    heartbeat_age_seconds: float | None
    current_job_id: int | None
    running: tuple[int, ...]
    hostname: str
    version: str
    types: tuple[str, ...]
    started_at: Time | None
    metadata: Any

    @classmethod
    def of(cls, worker: Worker, lease_seconds: float, running: Sequence[int] = ()) -> Self:
        heartbeat = worker.last_heartbeat
        age = None if heartbeat is None else time.time() - heartbeat.timestamp()
        return cls(
            id=worker.id,
            state=worker.state,
            stale=worker.state != "stopped" and (age is None or age > lease_seconds),
            last_heartbeat=heartbeat,
            heartbeat_age_seconds=None if age is None else round(age, 3),
            current_job_id=min(running, default=None),
            running=tuple(running),
            hostname=worker.hostname,
            version=worker.version,
            types=worker.types,
            started_at=worker.started_at,
            metadata=worker.metadata,
        )

    @property
    def shown_state(self) -> str:
        """What it reports of itself, unless it has been silent for too long."""
        return "stale" if self.stale else self.state
