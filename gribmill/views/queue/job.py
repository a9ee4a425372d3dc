"""Jobs: a single job, a page of jobs, and a job with its attempts and related jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from gribmill.queue.model import Job, JobSource, Status, shown_status
from gribmill.queue.redact import redact, redact_json
from gribmill.queue.times import to_text
from gribmill.views.queue.attempt import AttemptView
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.store.jobs.listing import History, Page, Retried


class JobView(View):
    """One job: every column, the arguments as JSON."""

    id: int
    type: str
    args: Any
    priority: int
    status: Status
    worker_id: str | None
    created_at: Time | None
    started_at: Time | None
    completed_at: Time | None
    error_message: str | None
    retry_count: int
    position: int
    next_run_at: Time | None
    deps_left: int
    attempt_no: int
    max_attempts: int
    lease_expires_at: Time | None
    cancel_requested_at: Time | None
    dead_lettered_at: Time | None
    tenant_id: str
    dedupe_key: str | None
    group_key: str | None
    batch_id: int | None
    source: JobSource
    source_ref: str | None
    correlation_id: str | None
    retry_of: int | None
    created_by: str | None
    updated_at: Time | None
    timeout_seconds: int | None
    group_id: int | None
    template_id: int | None
    trigger_id: int | None
    requested_by: str | None
    """For shared work: the tenant that requested it, whose turns and limits apply."""
    shown_status: Status | Literal["dead_letter"]

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls.copy_of(job, shown_status=shown_status(job), **_redacted(job))


def _redacted(job: Job) -> dict[str, Any]:
    """The columns that could contain secrets, redacted."""
    return {"args": redact_json(job.args), "dedupe_key": redact(job.dedupe_key) if job.dedupe_key else None}


class Placed(View):
    """A place in the queue; 1 is claimed first."""

    place: int


class QueuedJobView(JobView, Placed):
    """A pending job, its place in the queue, and why it has not started yet (null if it is ready)."""

    waits_for: str | None

    @classmethod
    def at(cls, place: int, job: Job, waits_for: str | None) -> Self:
        shown = _redacted(job)
        return cls.copy_of(job, place=place, shown_status=shown_status(job), waits_for=waits_for, **shown)


class JobPageView(View):
    """A page of jobs, newest first. `next_before` is the cursor of the next page; null on the last one."""

    jobs: tuple[JobView, ...]
    next_before: int | None

    @classmethod
    def of(cls, page: Page) -> Self:
        return cls(jobs=tuple(JobView.of(job) for job in page.jobs), next_before=page.next_before)


class RetryView(View):
    """A job in a chain of retries."""

    id: int
    status: str
    created_at: str

    @classmethod
    def of(cls, retried: Retried) -> Self:
        moment = retried.created_at
        return cls.copy_of(retried, created_at=to_text(moment.timestamp()) if moment else "")


class SiblingView(View):
    """A job of the same batch."""

    id: int
    status: str
    args: Any


class DependencyView(View):
    """A job that another one depends on, or that depends on another one."""

    id: int
    status: str
    type: str


class JobHistoryView(View):
    """One job with its attempts, its retries, the jobs of its batch, its parents and its children."""

    job: JobView
    attempts: tuple[AttemptView, ...]
    retry_chain: tuple[RetryView, ...]
    siblings: tuple[SiblingView, ...]
    parents: tuple[DependencyView, ...]
    children: tuple[DependencyView, ...]

    @classmethod
    def of(cls, history: History) -> Self:
        return cls(
            job=JobView.of(history.job),
            attempts=tuple(AttemptView.of(one, history.job) for one in history.attempts),
            retry_chain=tuple(RetryView.of(one) for one in history.chain),
            siblings=tuple(SiblingView.copy_of(one, args=redact_json(one.args)) for one in history.siblings),
            parents=tuple(DependencyView.copy_of(one) for one in history.parents),
            children=tuple(DependencyView.copy_of(one) for one in history.children),
        )
