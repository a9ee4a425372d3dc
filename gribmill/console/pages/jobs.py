"""The job list: counts by state, search, a page of rows; and bulk actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from gribmill.console.frame import Handle
from gribmill.console.job_search import JobSearch
from gribmill.pipeline.job_text import job_text, short_error
from gribmill.queue.errors import QueueError
from gribmill.queue.model import FINISHED, Job, shown_status
from gribmill.queue.redact import redact
from gribmill.queue.store.jobs.listing import PAGE_LIMIT

ROWS = 50
DEAD_COUNTED = 1000
# Each job is its own transaction; larger changes take several requests.
MOST_AT_ONCE = 2000
ERRORS_NAMED = 5
# Takes about a tenth of a second; the next page continues from there.
SEARCHED_AT_ONCE = 500_000
LONGEST_TEXT = 300

BulkAction = Literal["cancel", "retry"]
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
    """When it ended, started or may start, whichever is latest."""
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
        f"{job.attempt_no}/{job.max_attempts}",
        job.created_at,
        moment,
        label,
        seconds,
        job.worker_id,
        short_error(redact(job.error_message))[:LONGEST_TEXT] if job.error_message else "",
    )


def _moment(job: Job) -> tuple[str, datetime | None]:
    if job.completed_at is not None:
        return "ended", job.completed_at
    if job.status == "processing":
        return "started", job.started_at
    if job.next_run_at is not None:
        return "may start", job.next_run_at
    return "queued", job.created_at


def jobs_values(handle: Handle, search: JobSearch, before: int | None) -> dict[str, Any]:
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
    """The job id where a search without an index stopped for now."""


def _page(handle: Handle, search: JobSearch, before: int | None) -> _Found:
    if search.indexed:
        page = handle.jobs.list(search.wanted, limit=ROWS, before=before)
        return _Found(page.jobs, page.next_before)
    newest = before or next((job.id + 1 for job in handle.jobs.list(limit=1).jobs), 0)
    oldest = max(0, newest - SEARCHED_AT_ONCE)
    page = handle.jobs.list(search.wanted, limit=ROWS, before=before, oldest=oldest)
    if page.next_before is not None or oldest == 0:
        return _Found(page.jobs, page.next_before)
    return _Found(page.jobs, oldest, oldest)


def bulk_actions(status: str) -> tuple[BulkAction, ...]:
    """The actions that jobs in this state allow."""
    if status in ("pending", "processing"):
        return ("cancel",)
    if status in ("failed", "dead_letter", "cancelled", "completed"):
        return ("retry",)
    return ("cancel", "retry")


def _pills(handle: Handle, search: JobSearch) -> list[Pill]:
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


@dataclass(frozen=True, slots=True)
class BulkChoice:
    """The jobs that an action would change; `whole` if these are all of them."""

    action: BulkAction
    ids: tuple[int, ...]
    whole: bool


def choose_matching(handle: Handle, search: JobSearch, action: BulkAction, newest: int | None = None) -> BulkChoice:
    """All matching jobs up to the limit of one request; with `newest`, none that is newer than this one."""
    ids: list[int] = []
    before = None if newest is None else newest + 1
    while True:
        page = handle.jobs.list(search.wanted, limit=PAGE_LIMIT, before=before)
        ids += [job.id for job in page.jobs if allows(job, action)]
        before = page.next_before
        if before is None or len(ids) >= MOST_AT_ONCE:
            return BulkChoice(action, tuple(ids[:MOST_AT_ONCE]), before is None and len(ids) <= MOST_AT_ONCE)


def choose_ids(handle: Handle, ids: Sequence[int], action: BulkAction) -> BulkChoice:
    """The given jobs that the action can change."""
    found = []
    for job_id in dict.fromkeys(ids[:MOST_AT_ONCE]):
        try:
            job = handle.jobs.get(job_id)
        except QueueError:  # pruned since the page was shown
            continue
        if allows(job, action):
            found.append(job.id)
    return BulkChoice(action, tuple(found), len(ids) <= MOST_AT_ONCE)


def allows(job: Job, action: BulkAction) -> bool:
    return job.status in FINISHED if action == "retry" else job.status not in FINISHED


@dataclass(frozen=True, slots=True)
class BulkResult:
    changed: tuple[int, ...]
    refused: tuple[str, ...]

    @property
    def text(self) -> str:
        done = f"{len(self.changed):,} {'job' if len(self.changed) == 1 else 'jobs'} done"
        if not self.refused:
            return f"{done}."
        some = "; ".join(self.refused[:ERRORS_NAMED])
        return f"{done}, {len(self.refused):,} not: {some}{' …' if len(self.refused) > ERRORS_NAMED else ''}"


def apply_bulk(handle: Handle, action: BulkAction, ids: Sequence[int], by: str) -> BulkResult:
    """Change each job. Jobs that no longer allow it are reported; the others are changed."""
    changed: list[int] = []
    refused: list[str] = []
    for job_id in ids:
        try:
            if action == "cancel":
                handle.jobs.cancel(job_id, f"cancelled by {by}")
            else:
                handle.jobs.retry(job_id, created_by=by)
        except QueueError as error:
            refused.append(str(error))
        else:
            changed.append(job_id)
    return BulkResult(tuple(changed), tuple(refused))
