"""Reading jobs: lists, and one job with its history. Short reads that hold no snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from gribmill.queue.model import DEFAULT_TENANT, Attempt, Job, JobSource, Json, Status
from gribmill.queue.store.base import Facet, get_job
from gribmill.queue.store.jobs.readiness import Readiness, read_readiness

PAGE_LIMIT = 1000
NEWEST = 2**63 - 1
# Statuses other than completed have partial indexes, so these jobs are found without scanning millions of rows.
STATEMENTS: Mapping[Status | None, str] = {
    None: "listing/jobs",
    "completed": "listing/jobs",
    "pending": "listing/pending",
    "processing": "listing/processing",
    "failed": "listing/unhappy",
    "cancelled": "listing/unhappy",
}


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list; None means any. `dead` selects the dead letters among the failed."""

    status: Status | None = None
    dead: bool | None = None
    type: str | None = None
    tenant_id: str | None = None
    group_key: str | None = None
    worker_id: str | None = None
    source: JobSource | None = None
    correlation_id: str | None = None
    group_id: int | None = None
    """The job group. (`group_key` is the batching key.)"""
    template_id: int | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    retried: bool | None = None
    """For finished jobs: whether there is a retry."""

    def params(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self.__slots__}, "status": self.wanted_status}

    @property
    def statement(self) -> str:
        """The statement with the most selective index, so that no list scans millions of rows."""
        if self.template_id is not None:
            return "listing/of_template"
        if self.correlation_id is not None:
            return "listing/of_correlation"
        if self.group_id is not None:
            return "listing/in_group"
        if self.group_key is not None:
            return "listing/of_group"
        if self.tenant_id is None or self.tenant_id == DEFAULT_TENANT:
            return STATEMENTS[self.wanted_status]
        return "listing/of_tenant" if self.wanted_status in (None, "completed") else "listing/of_tenant_by_status"

    @property
    def wanted_status(self) -> Status | None:
        """The status to look for. Only a failed job can be a dead letter."""
        return "failed" if self.dead is not None else self.status


@dataclass(frozen=True, slots=True)
class Page:
    """A page of jobs, newest first, and the cursor of the next page (None at the end)."""

    jobs: tuple[Job, ...]
    next_before: int | None


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another job of the same batch."""

    id: int
    status: Status
    args: Json


@dataclass(frozen=True, slots=True)
class Retried:
    """Another job in the same chain of retries."""

    id: int
    status: Status
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Dependency:
    """A parent or a child of a job."""

    id: int
    status: Status
    type: str


@dataclass(frozen=True, slots=True)
class History:
    """One job with its attempts, retries, siblings and dependencies."""

    job: Job
    attempts: tuple[Attempt, ...]
    siblings: tuple[Sibling, ...]
    chain: tuple[Retried, ...]
    parents: tuple[Dependency, ...]
    children: tuple[Dependency, ...]


class _Due(NamedTuple):
    due: datetime | None


class _Count(NamedTuple):
    type: str
    status: Status
    n: int


class JobListing(Facet):
    """Reads jobs without blocking writers."""

    def get(self, job_id: int) -> Job:
        with self.database.read() as tx:
            return get_job(tx, job_id)

    def list(
        self, wanted: JobFilter | None = None, *, limit: int = 50, before: int | None = None, oldest: int = 0
    ) -> Page:
        """List jobs, newest first; `before` is the cursor of the previous page.

        Jobs with ids below `oldest` are not read, which bounds a search without an index.
        """
        wanted = wanted or JobFilter()
        limit = max(1, min(limit, PAGE_LIMIT))
        cursor = NEWEST if before is None else before
        params = {**wanted.params(), "before": cursor, "oldest": oldest, "limit": limit + 1}
        with self.database.read() as tx:
            found = tx.query(Job, wanted.statement, params)
        return Page(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)

    def upcoming(
        self, type_key: str | None = None, *, tenant_id: str | None = None, limit: int = 50
    ) -> tuple[Job, ...]:
        """Pending jobs in claim order: by priority, position and age, with tenants taking turns."""
        with self.database.read() as tx:
            params = {"type": type_key, "tenant_id": tenant_id, "limit": max(1, min(limit, PAGE_LIMIT))}
            return tuple(tx.query(Job, "listing/queue", params))

    def readiness(self) -> Readiness:
        """What keeps pending jobs from starting now."""
        with self.database.read() as tx:
            return read_readiness(tx)

    def history(self, job_id: int) -> History:
        """A job and its relatives, from one snapshot."""
        with self.database.read() as tx:
            job = get_job(tx, job_id)
            ids = {"job_id": job_id}
            batch = {**ids, "type": job.type, "group_key": job.group_key, "batch_id": job.batch_id}
            return History(
                job=job,
                attempts=tuple(tx.query(Attempt, "attempts/list", ids)),
                siblings=tuple(tx.query(Sibling, "listing/batch_siblings", batch)),
                chain=tuple(tx.query(Retried, "listing/retry_chain", ids)),
                parents=tuple(tx.query(Dependency, "dependencies/parents", ids)),
                children=tuple(tx.query(Dependency, "dependencies/children", ids)),
            )

    def seconds_to_next_due(self) -> float | None:
        """Seconds until the next delayed job may run; None if there is none."""
        with self.database.read() as tx:
            found = tx.first(_Due, "jobs/next_due")
            return max(0.0, (found.due - tx.now).total_seconds()) if found and found.due else None

    def progress(self, correlation_id: str, *, tenant_id: str | None = None) -> dict[tuple[str, str], int]:
        """The number of jobs with this correlation id by (type, status)."""
        params = {"correlation_id": correlation_id, "tenant_id": tenant_id}
        with self.database.read() as tx:
            counts = tx.query(_Count, "listing/count_correlated", params)
        return {(one.type, one.status): one.n for one in counts}
