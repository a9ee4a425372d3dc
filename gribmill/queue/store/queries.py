"""Looking: lists, one job with its history, statistics. Short reads that hold no snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gribmill.database.protocol import Row
from gribmill.queue.model import Attempt, Job, Status
from gribmill.queue.store.base import Facet, job_row
from gribmill.queue.times import to_datetime, to_text

PAGE_LIMIT = 1000
_TIMES = frozenset({
    "created_at", "started_at", "completed_at", "finished_at", "next_run_at", "lease_expires_at",
    "cancel_requested_at", "dead_lettered_at",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list; None means any. `dead` is the dead letters among the failed."""

    status: Status | None = None
    dead: bool | None = None
    type: str | None = None
    tenant_id: str | None = None
    group_key: str | None = None
    worker_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of jobs, newest first, and the cursor of the next (None at the end)."""

    jobs: tuple[Job, ...]
    next_before: int | None


@dataclass(frozen=True, slots=True)
class Relative:
    """Another job that one is bound to: a sibling of its batch, a retry, a parent or child."""

    id: int
    status: str
    detail: str


@dataclass(frozen=True, slots=True)
class History:
    """One job with everything that belongs to it."""

    job: Job
    attempts: tuple[Attempt, ...]
    siblings: tuple[Relative, ...]
    chain: tuple[Relative, ...]
    parents: tuple[Relative, ...]
    children: tuple[Relative, ...]


class Listing(Facet):
    """Reading without being in anybody's way."""

    def get(self, job_id: int) -> Job:
        with self.database.read() as tx:
            return _job(job_row(tx, job_id))

    def list(self, wanted: JobFilter | None = None, *, limit: int = 50, before: int | None = None) -> Page:
        """Newest first; `before` is the cursor of the page before."""
        wanted = wanted or JobFilter()
        # Only a failed job can be a dead letter.
        status: Status | None = "failed" if wanted.dead is not None else wanted.status
        limit = max(1, min(limit, PAGE_LIMIT))
        params = {
            "before": before,
            "limit": limit + 1,
            "status": status,
            "dead": None if wanted.dead is None else int(wanted.dead),
            "type": wanted.type,
            "tenant_id": wanted.tenant_id,
            "group_key": wanted.group_key,
            "worker_id": wanted.worker_id,
            "created_after": _text(wanted.created_after),
            "created_before": _text(wanted.created_before),
        }
        # Each of the few that are not completed is in an index of its own: none is looked for among millions.
        listing = {"pending": "listing/pending", "processing": "listing/processing", "completed": "listing/jobs"}
        with self.database.read() as tx:
            rows = tx.rows(listing.get(status, "listing/unhappy") if status else "listing/jobs", params)
        found = tuple(_job(row) for row in rows[:limit])
        return Page(found, found[-1].id if len(rows) > limit else None)

    def upcoming(self, type_key: str | None = None, *, limit: int = 50) -> tuple[Job, ...]:
        """The pending jobs in the order in which they would be claimed."""
        with self.database.read() as tx:
            rows = tx.rows("listing/queue", {"type": type_key, "limit": max(1, min(limit, PAGE_LIMIT))})
        return tuple(_job(row) for row in rows)

    def history(self, job_id: int) -> History:
        """One consistent look at a job and its relatives."""
        with self.database.read() as tx:
            row = job_row(tx, job_id)
            ids = {"job_id": job_id}
            batch = {**ids, "type": row["type"], "group_key": row["group_key"], "batch_id": row["batch_id"]}
            return History(
                job=_job(row),
                attempts=tuple(_attempt(attempt) for attempt in tx.rows("attempts/list", ids)),
                siblings=_relatives(tx.rows("listing/batch_siblings", batch), "args"),
                chain=_relatives(tx.rows("listing/retry_chain", ids), "created_at"),
                parents=_relatives(tx.rows("dependencies/parents", ids), "type"),
                children=_relatives(tx.rows("dependencies/children", ids), "type"),
            )

    def seconds_to_next_due(self) -> float | None:
        """How long until a delayed job may run; None when there is none."""
        with self.database.read() as tx:
            due = to_datetime(tx.rows("jobs/next_due")[0]["due"])
            return None if due is None else max(0.0, due.timestamp() - tx.now)

    def progress(self, correlation_id: str) -> dict[tuple[str, str], int]:
        """How many jobs of a chain there are by (type, status)."""
        with self.database.read() as tx:
            rows = tx.rows("listing/count_correlated", {"correlation_id": correlation_id})
        return {(row["type"], row["status"]): row["n"] for row in rows}


def _relatives(rows: Sequence[Row], detail: str) -> tuple[Relative, ...]:
    return tuple(Relative(row["id"], row["status"], str(row[detail])) for row in rows)


def _job(row: Row) -> Job:
    return Job(**_with_times(row))


def _attempt(row: Row) -> Attempt:
    return Attempt(**_with_times(row))


def _with_times(row: Row) -> dict[str, Any]:
    return {key: to_datetime(row[key]) if key in _TIMES else row[key] for key in row.keys()}  # noqa: SIM118


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment.timestamp())
