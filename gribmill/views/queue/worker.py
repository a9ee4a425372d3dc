"""Workers and their heartbeats."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import Worker
    from gribmill.queue.store import Store


class WorkerView(View):
    """One worker. It is stale if its last heartbeat is older than the lease; its jobs go back into the queue."""

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
    leader: bool = False
    clock_offset_seconds: float | None = None

    @classmethod
    def of(
        cls,
        worker: Worker,
        lease_seconds: float,
        running: Sequence[int] = (),
        *,
        clock_offset: float = 0.0,
        leader: str | None = None,
    ) -> Self:
        """`clock_offset` is how far this host's clock is ahead of the database's, which the times refer to."""
        heartbeat = worker.last_heartbeat
        age = None if heartbeat is None else time.time() - clock_offset - heartbeat.timestamp()
        facts = worker.metadata if isinstance(worker.metadata, dict) else {}
        offset = facts.get("clock_offset_seconds")
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
            leader=worker.id == leader,
            clock_offset_seconds=offset if isinstance(offset, int | float) else None,
        )

    @property
    def shown_state(self) -> str:
        """The state that the worker reported, unless it has been silent for too long."""
        return "stale" if self.stale else self.state


class WorkerDrainedView(View):
    """The worker finishes its running jobs, starts no new ones, and stops."""

    id: str
    state: Literal["draining"] = "draining"


class WorkerDismissedView(View):
    """The worker was marked as stopped. `requeued` are the jobs whose lease had expired, now back in the queue."""

    id: str
    state: Literal["stopped"] = "stopped"
    requeued: tuple[int, ...]


def worker_views(store: Store, lease_seconds: float) -> list[WorkerView]:
    """Every known worker, with its running jobs."""
    running, leader, offset = store.attempts.running(), store.workers.leader(), store.workers.clock_offset()
    return [
        WorkerView.of(one, lease_seconds, running.get(one.id, ()), clock_offset=offset, leader=leader)
        for one in store.workers.list()
    ]
