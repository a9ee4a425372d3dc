"""Statistics per job type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from gribmill.queue.model import STATUSES
from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.queue.store.types.types import Throughput, TypeStats


class JobStatsView(View):
    """One type: current jobs by status; for the last hour, how many ended, and their waits and run times in seconds."""

    type: str
    counts: dict[str, int]
    paused: bool
    oldest_ready_seconds: float | None
    finished: int
    failed: int
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None
    failure_rate: float | None

    @classmethod
    def of(cls, stats: TypeStats) -> Self:
        return cls.copy_of(stats)


class ThroughputView(View):
    """Counts of what happened to jobs within a period."""

    enqueued: int
    succeeded: int
    failed: int
    cancelled: int
    dead_lettered: int
    retried: int


class QueueTotalsView(View):
    """All types together: jobs by status, the age of the oldest ready job, and the last minute and hour."""

    counts: dict[str, int]
    oldest_ready_seconds: float | None
    last_minute: ThroughputView
    last_hour: ThroughputView

    @classmethod
    def of(cls, types: Sequence[TypeStats], rates: Mapping[str, Throughput]) -> Self:
        counts: dict[str, int] = {status: sum(one.counts.get(status, 0) for one in types) for status in STATUSES}
        oldest = [one.oldest_ready_seconds for one in types if one.oldest_ready_seconds is not None]
        return cls(
            counts=counts,
            oldest_ready_seconds=max(oldest, default=None),
            last_minute=ThroughputView.copy_of(rates["minute"]),
            last_hour=ThroughputView.copy_of(rates["hour"]),
        )
