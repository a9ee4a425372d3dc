"""A worker's operations, one call each."""

from __future__ import annotations

from typing import Any

from gribmill.queue.model import (
    Claimed,
    ClaimRequest,
    Exchange,
    Failed,
    NewJob,
    Outcome,
    Report,
    Snoozed,
    Stopped,
    Succeeded,
)
from gribmill.queue.store import Store
from tests.queue.store.sample_types import ALL

LEASE = 60.0


def add(store: Store, kind: str = "plain", args: dict[str, Any] | None = None, **fields: Any) -> int:
    """Enqueue one job; returns its id."""
    return store.jobs.enqueue(NewJob(kind, args or {}, **fields)).id


def asks(
    worker: str = "w1", types: tuple[str, ...] = ALL, lease: float = LEASE, limit: int | None = None
) -> ClaimRequest:
    return ClaimRequest(worker, types, lease, batch_limit=limit)


def claim(store: Store, worker: str = "w1", types: tuple[str, ...] = ALL, **fields: Any) -> tuple[Claimed, ...]:
    return store.claim(asks(worker, types, **fields))


def take(store: Store, worker: str = "w1", types: tuple[str, ...] = ALL, **fields: Any) -> Claimed:
    """Claim exactly one job."""
    batch = claim(store, worker, types, **fields)
    assert len(batch) == 1, f"one job expected, got {[job.id for job in batch]}"
    return batch[0]


def drain(store: Store, worker: str = "w1", types: tuple[str, ...] = ALL) -> list[int]:
    """Claim until nothing is left; returns the ids in order."""
    order: list[int] = []
    while batch := claim(store, worker, types):
        order += [job.id for job in batch]
    return order


def report(store: Store, job: Claimed, outcome: Outcome, worker: str = "w1") -> Exchange:
    return store.exchange(worker, [Report(job.ref, outcome)])


def succeed(store: Store, job: Claimed, worker: str = "w1", **fields: Any) -> Exchange:
    return report(store, job, Succeeded(**fields), worker)


def fail(store: Store, job: Claimed, worker: str = "w1", error: str = "it broke", **fields: Any) -> Exchange:
    return report(store, job, Failed(error, **fields), worker)


def snooze(store: Store, job: Claimed, seconds: float, worker: str = "w1") -> Exchange:
    return report(store, job, Snoozed(seconds, "not there yet"), worker)


def stop(store: Store, job: Claimed, worker: str = "w1") -> Exchange:
    return report(store, job, Stopped(), worker)


def attempts(store: Store, job_id: int) -> list[str]:
    """How each attempt of a job ended."""
    return [attempt.status for attempt in store.jobs.history(job_id).attempts]
