"""Reads for metrics: the number of jobs, and what was enqueued and ended since the last read.

No read scans finished jobs: totals come from counters, and new rows from the ends of indexes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gribmill.queue.model import AttemptStatus, Json, Status
from gribmill.queue.store.base import Facet
from gribmill.queue.store.types.types import read_oldest_ready

# The most rows per read; the next read continues.
MOST_ROWS = 200_000


class JobDepth(NamedTuple):
    """The number of jobs of a tenant and type with this status."""

    tenant_id: str
    type: str
    status: Status
    n: int


class RetryingJobs(NamedTuple):
    """The number of jobs waiting for another attempt after a failed one."""

    tenant_id: str
    type: str
    n: int


class EnqueuedJob(NamedTuple):
    """A job that was enqueued."""

    id: int
    tenant_id: str
    type: str


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An ended attempt, or a job that ended without one."""

    job_id: int
    tenant_id: str
    type: str
    status: Status
    completed_at: datetime
    dead_lettered: bool
    args: Json
    """Only for `build_tile` jobs."""
    attempt_no: int | None
    attempt_status: AttemptStatus | None
    retried: bool
    """Whether it failed and another attempt followed, in the same row or as a new job."""
    downloaded_bytes: int | None
    written_bytes: int | None
    wait_seconds: float | None
    """The time from when this attempt could have started until it did."""
    run_seconds: float | None


class _Id(NamedTuple):
    id: int


class MetricReads(Facet):
    """Reads for metrics; each is one statement."""

    def now(self) -> datetime:
        """The database's clock, by which jobs end."""
        with self.database.read() as tx:
            return tx.now

    def depth(self) -> Sequence[JobDepth]:
        with self.database.read() as tx:
            return tx.query(JobDepth, "metrics/depth")

    def retrying(self) -> Sequence[RetryingJobs]:
        with self.database.read() as tx:
            return tx.query(RetryingJobs, "metrics/retrying")

    def oldest_ready(self) -> dict[str, float]:
        """Maps a type to the age in seconds of its oldest ready job."""
        with self.database.read() as tx:
            return read_oldest_ready(tx)

    def newest_job_id(self) -> int:
        with self.database.read() as tx:
            return tx.query(_Id, "metrics/newest_job")[0].id

    def enqueued_after(self, job_id: int, limit: int = MOST_ROWS) -> Sequence[EnqueuedJob]:
        """Jobs in order of their ids."""
        with self.database.read() as tx:
            return tx.query(EnqueuedJob, "metrics/enqueued", {"after_id": job_id, "limit": limit})

    def ended_since(self, since: datetime, limit: int = MOST_ROWS) -> Sequence[EndedAttempt]:
        """Attempts in the order in which their jobs ended."""
        with self.database.read() as tx:
            return tx.query(EndedAttempt, "metrics/ended", {"since": since, "limit": limit})
