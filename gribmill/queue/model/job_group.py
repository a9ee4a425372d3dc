"""A job group: jobs with a common name that are followed, cancelled and retried as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

GroupMode = Literal["parallel", "sequential"]
OnGroupFailure = Literal["stop", "continue", "skip"]
GroupStatus = Literal["empty", "pending", "running", "succeeded", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class JobGroup:
    """A row of `job_groups`. Status and progress are derived from its jobs."""

    id: int
    tenant_id: str
    name: str
    mode: GroupMode
    on_failure: OnGroupFailure
    stopped_at: datetime | None
    created_by: str | None
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """The progress of a group. For retried jobs, only the retry counts."""

    group: JobGroup
    pending: int
    running: int
    succeeded: int
    failed: int
    skipped: int
    """Failed jobs, in a group that skips failures."""
    cancelled: int

    @classmethod
    def of(cls, group: JobGroup, counts: Mapping[str, int]) -> GroupProgress:
        failed = counts.get("failed", 0)
        skips = group.on_failure == "skip"
        return cls(
            group,
            counts.get("pending", 0),
            counts.get("processing", 0),
            counts.get("completed", 0),
            0 if skips else failed,
            failed if skips else 0,
            counts.get("cancelled", 0),
        )

    @property
    def total(self) -> int:
        return self.pending + self.running + self.ended

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed + self.skipped + self.cancelled

    @property
    def percent(self) -> float:
        """The share of jobs that have ended, in any way. Below 100 until the last one has."""
        return int(1000 * self.ended / self.total) / 10 if self.total else 0.0

    @property
    def status(self) -> GroupStatus:
        if not self.total:
            return "empty"
        if self.pending or self.running:
            return "running" if self.running or self.ended else "pending"
        if self.failed:
            return "failed"
        return "cancelled" if self.cancelled else "succeeded"
