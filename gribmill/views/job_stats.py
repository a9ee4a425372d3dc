"""Statistics per job type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.queue.store.types import TypeStats


class JobStatsView(View):
    """One type: jobs by status now; and of the last hour: how many ended, their waits and run times in seconds."""

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
