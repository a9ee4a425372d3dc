"""Job groups: their progress, and the results of commands on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gribmill.queue.model import GroupMode, GroupStatus, OnGroupFailure
from gribmill.views.queue.job_result import EnqueuedView
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import GroupProgress

_DERIVED = ("status", "percent", "total", "pending", "running", "succeeded", "failed", "skipped", "cancelled")


class JobGroupView(View):
    """A group with its status and progress. Retried jobs are not counted; their retries are."""

    id: int
    name: str
    tenant_id: str
    mode: GroupMode
    on_failure: OnGroupFailure
    status: GroupStatus
    percent: float
    total: int
    pending: int
    running: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int
    stopped_at: Time | None
    created_by: str | None
    created_at: Time | None

    @classmethod
    def of(cls, progress: GroupProgress) -> Self:
        derived: dict[str, Any] = {name: getattr(progress, name) for name in _DERIVED}
        return cls.copy_of(progress.group, **derived)


class GroupCancelledView(View):
    """How many jobs had not started and were cancelled, and how many are running and were asked to stop."""

    id: int
    name: str
    cancelled: int
    requested: int


class GroupJobsView(View):
    """The jobs that were added to a group, or that retry its failed jobs."""

    id: int
    name: str
    jobs: tuple[EnqueuedView, ...]
