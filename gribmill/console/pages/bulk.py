"""Bulk actions on jobs: which jobs they change, and their progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from gribmill.console.frame import AnyStore
from gribmill.console.job_search import JobSearch
from gribmill.console.wording import counted
from gribmill.queue.errors import QueueError
from gribmill.queue.model import FINISHED, Status
from gribmill.queue.store.jobs.listing import PAGE_LIMIT, JobFilter
from gribmill.server.state.bulk import MOST, BulkOperation

REFUSALS_NAMED = 5

BulkAction = Literal["cancel", "retry"]
# The statuses of jobs that an action can change.
CHANGED: dict[BulkAction, tuple[Status, ...]] = {
    "cancel": ("processing", "pending"),
    "retry": ("failed", "cancelled", "completed"),
}


@dataclass(frozen=True, slots=True)
class BulkChoice:
    """The jobs that an action would change, newest first; `whole` if these are all matching jobs."""

    action: BulkAction
    ids: tuple[int, ...]
    whole: bool = True

    @property
    def done(self) -> str:
        return "cancelled" if self.action == "cancel" else "retried"


def bulk_actions(status: str) -> tuple[BulkAction, ...]:
    """The actions that jobs in this state allow."""
    if status in CHANGED["cancel"]:
        return ("cancel",)
    return ("retry",) if status else ("cancel", "retry")


def choose_matching(handle: AnyStore, search: JobSearch, action: BulkAction, newest: int | None = None) -> BulkChoice:
    """All matching jobs, up to the limit of a bulk action; with `newest`, only jobs up to this id."""
    wanted = search.wanted
    asked = wanted.wanted_status
    statuses = [one for one in CHANGED[action] if asked in (None, one)]
    # Jobs that were already retried are not retried again.
    retried = False if action == "retry" else None
    filters = [replace(wanted, status=status, retried=retried) for status in statuses]
    found = islice((job_id for one in filters for job_id in _ids(handle, one, newest)), MOST + 1)
    ids = sorted(found, reverse=True)
    return BulkChoice(action, tuple(ids[:MOST]), len(ids) <= MOST)


def _ids(handle: AnyStore, wanted: JobFilter, newest: int | None) -> Iterator[int]:
    before = None if newest is None else newest + 1
    while True:
        page = handle.jobs.list(wanted, limit=PAGE_LIMIT, before=before)
        yield from (job.id for job in page.jobs)
        before = page.next_before
        if before is None:
            return


def choose_ids(handle: AnyStore, ids: Sequence[int], action: BulkAction) -> BulkChoice:
    """The given jobs that the action can change."""
    found = []
    for job_id in dict.fromkeys(ids):
        try:
            job = handle.jobs.get(job_id)
        except QueueError:  # pruned since the page was shown
            continue
        if (job.status in FINISHED) == (action == "retry"):
            found.append(job.id)
    return BulkChoice(action, tuple(found))


def act_on(handle: AnyStore, action: BulkAction, job_id: int, by: str) -> None:
    """Change one job."""
    if action == "cancel":
        handle.jobs.cancel(job_id, f"cancelled with others by {by}")
    else:
        handle.jobs.retry(job_id, created_by=by)


def result_of(operation: BulkOperation) -> str:
    """The result of a bulk action as a sentence."""
    verb = {"cancel": "cancelled or asked to stop", "retry": "retried"}.get(operation.action, "changed")
    text = f"{counted(operation.done, 'job')} {verb}"
    if not operation.refused:
        return f"{text}."
    some = "; ".join(reason for _, reason in operation.refusals[:REFUSALS_NAMED])
    more = " …" if operation.refused > REFUSALS_NAMED else ""
    return f"{text}, {operation.refused:,} unchanged: {some}{more}"
