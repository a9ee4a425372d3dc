"""The job list: counts by state, search, and a page of rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gribmill.console.frame import AnyStore
from gribmill.console.job_search import JobSearch
from gribmill.console.pages.bulk import bulk_actions
from gribmill.pipeline.job_text import job_text, short_error
from gribmill.queue.model import Job, shown_status
from gribmill.queue.redact import redact

ROWS = 50
DEAD_COUNTED = 1000
# Rows that a search without an index scans per page, in about 0.1 s; the next page continues from there.
SEARCHED_AT_ONCE = 500_000
LONGEST_TEXT = 300

LABELS = {
    "": "All",
    "pending": "Queued",
    "processing": "Running",
    "completed": "Completed",
    "failed": "Failed",
    "dead_letter": "Dead letter",
    "cancelled": "Cancelled",
}


@dataclass(frozen=True, slots=True)
class JobRow:
    """One line of the list."""

    id: int
    type: str
    text: str
    status: str
    tenant_id: str
    attempts: str
    created_at: datetime | None
    moment: datetime | None
    """When the job ended, started or may start, whichever is latest."""
    moment_label: str
    run_seconds: float | None
    worker_id: str | None
    error: str


@dataclass(frozen=True, slots=True)
class Pill:
    status: str
    label: str
    count: str | None


def job_row(job: Job, now: datetime) -> JobRow:
    label, moment = _moment(job)
    end = job.completed_at or (now if job.status == "processing" else None)
    seconds = (end - job.started_at).total_seconds() if end and job.started_at and job.status != "pending" else None
    return JobRow(
        job.id,
        job.type,
        job_text(job.args)[:LONGEST_TEXT],
        shown_status(job),
        job.tenant_id,
        _attempts(job),
        job.created_at,
        moment,
        label,
        seconds,
        job.worker_id,
        short_error(redact(job.error_message))[:LONGEST_TEXT] if job.error_message else "",
    )


def _attempts(job: Job) -> str:
    """`1 of 3`; without the maximum if some attempts did not count, as for snoozed jobs."""
    return f"{job.attempt_no} of {job.max_attempts}" if job.attempt_no <= job.max_attempts else str(job.attempt_no)


def _moment(job: Job) -> tuple[str, datetime | None]:
    if job.completed_at is not None:
        return "ended", job.completed_at
    if job.status == "processing":
        return "started", job.started_at
    if job.next_run_at is not None:
        return "may start", job.next_run_at
    return "queued", job.created_at


def jobs_values(handle: AnyStore, search: JobSearch, before: int | None) -> dict[str, Any]:
    """A page of the list."""
    now = datetime.now(UTC)
    found = _page(handle, search, before) if search.error is None else _Found((), None)
    return {
        "search": search,
        "filters": search.query,
        "pills": _pills(handle, search),
        "rows": [job_row(job, now) for job in found.jobs],
        "next_before": found.next_before,
        "searched_to": found.searched_to,
        "before": before,
        "actions": bulk_actions(search.status),
    }


@dataclass(frozen=True, slots=True)
class _Found:
    jobs: tuple[Job, ...]
    next_before: int | None
    searched_to: int | None = None
    """The job id at which a search without an index stopped; the next page continues there."""


def _page(handle: AnyStore, search: JobSearch, before: int | None) -> _Found:
    if search.indexed:
        page = handle.jobs.list(search.wanted, limit=ROWS, before=before)
        return _Found(page.jobs, page.next_before)
    newest = before or next((job.id + 1 for job in handle.jobs.list(limit=1).jobs), 0)
    oldest = max(0, newest - SEARCHED_AT_ONCE)
    page = handle.jobs.list(search.wanted, limit=ROWS, before=before, oldest=oldest)
    if page.next_before is not None or oldest == 0:
        return _Found(page.jobs, page.next_before)
    return _Found(page.jobs, oldest, oldest)


def _pills(handle: AnyStore, search: JobSearch) -> list[Pill]:
    if not search.countable:
        return [Pill(status, label, None) for status, label in LABELS.items()]
    kind = search.words.get("type")
    counts: dict[str, int] = {}
    for (type_key, status), n in handle.activity.counts().items():
        if kind in (None, type_key):
            counts[status] = counts.get(status, 0) + n
    dead = None if kind else handle.activity.dead_letters(DEAD_COUNTED)
    shown = {status: f"{counts.get(status, 0):,}" for status in LABELS}
    shown[""] = f"{sum(counts.values()):,}"
    if dead is None:
        shown.pop("dead_letter")
    else:
        shown["dead_letter"] = f"{dead:,}+" if dead == DEAD_COUNTED else f"{dead:,}"
    return [Pill(status, label, shown.get(status)) for status, label in LABELS.items()]
