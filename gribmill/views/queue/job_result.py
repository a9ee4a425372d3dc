"""The result of a command for each job or trigger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.queue.model import Enqueued, Job, Violation
    from gribmill.queue.store.maintenance import Pruned


class EnqueuedView(View):
    """The id of a job. `created` is false if an equal job was already active."""

    id: int
    created: bool

    @classmethod
    def of(cls, made: Enqueued) -> Self:
        return cls(id=made.id, created=made.created)


class RefusedView(View):
    """A job or trigger that was not changed, and why."""

    id: int
    ok: Literal[False] = False
    error: str


class DoneView(View):
    """A job or trigger that the command acted on."""

    id: int
    ok: Literal[True] = True


class CancelledView(DoneView):
    """`requested`: the job is running, and its worker has been asked to stop it."""

    result: Literal["cancelled", "requested"]


class ChosenJobView(View):
    """A job that matches the filter; --dry-run did not change it."""

    id: int
    type: str
    status: str

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls(id=job.id, type=job.type, status=job.status)


class RetriedView(DoneView):
    """The job that retries it. `created` is false if it was already retried, or an equal job was already active."""

    new_id: int
    created: bool


class PrunedJobsView(View):
    """How many finished jobs were removed, or would be. `completed` includes cancelled jobs."""

    completed: int
    failed: int
    dry_run: bool
    logs: int
    """Logs of attempts that are no longer in the queue."""

    @classmethod
    def of(cls, pruned: Pruned, *, logs: int, dry_run: bool) -> Self:
        return cls(completed=pruned.completed, failed=pruned.failed, dry_run=dry_run, logs=logs)


class ViolationView(View):
    """A row that breaks an invariant of the queue."""

    invariant: str
    job_id: int | None
    detail: str

    @classmethod
    def of(cls, violation: Violation) -> Self:
        return cls.copy_of(violation)
