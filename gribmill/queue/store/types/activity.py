"""Activity of the queue, cheap enough for pages that refresh every few seconds: uses counters and short indexes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gribmill.database.protocol import Database
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Status
from gribmill.queue.store.base import Facet

MINUTE = timedelta(minutes=1)
# Longer than any transaction that ends a job.
SETTLED = timedelta(minutes=2)


class _Count(NamedTuple):
    type: str
    status: Status
    n: int


class _Number(NamedTuple):
    n: int


class _Ended(NamedTuple):
    minute: str
    succeeded: int
    failed: int
    wait_seconds: float | None
    run_seconds: float | None


@dataclass(frozen=True, slots=True)
class MinuteOfJobs:
    """The jobs that ended within one minute, with mean wait and run times."""

    begins: datetime
    succeeded: int = 0
    failed: int = 0
    wait_seconds: float | None = None
    run_seconds: float | None = None


class Activity(Facet):
    """Activity of one tenant, or of all."""

    def __init__(self, database: Database, registry: Registry, tenant_id: str | None = None) -> None:
        super().__init__(database, registry)
        self._of = {"tenant_id": tenant_id}
        # Settled minutes: no further job can end in them.
        self._over: dict[datetime, MinuteOfJobs] = {}

    def counts(self) -> dict[tuple[str, Status], int]:
        """The number of jobs by (type, status)."""
        with self.database.read() as tx:
            return {(one.type, one.status): one.n for one in tx.query(_Count, "listing/counts", self._of)}

    def dead_letters(self, most: int = 1000) -> int:
        """The number of dead letters, counted up to `most`."""
        with self.database.read() as tx:
            found = tx.first(_Number, "listing/count_dead", {**self._of, "most": most})
        return found.n if found else 0

    def unretried_dead_letters(self, most: int = 1000) -> int:
        """How many of the newest `most` dead letters have not been retried."""
        with self.database.read() as tx:
            found = tx.first(_Number, "listing/count_dead_unretried", {**self._of, "most": most})
        return found.n if found else 0

    def last_hour(self) -> list[MinuteOfJobs]:
        """The last sixty minutes, oldest first, including the current one.

        Settled minutes are cached, so repeated calls read only the newest rows.
        """
        known = self._over
        with self.database.read() as tx:
            newest = tx.now.astimezone(UTC).replace(second=0, microsecond=0)
            minutes = [newest - MINUTE * (59 - place) for place in range(60)]
            since = next((begins for begins in minutes if begins not in known), newest)
            rows = tx.query(_Ended, "listing/ended_by_minute", {**self._of, "since": since})
        found = {row.minute: row for row in rows}
        hour = [known.get(begins) or _minute(begins, found.get(f"{begins:%Y-%m-%d %H:%M}")) for begins in minutes]
        self._over = {one.begins: one for one in hour if one.begins < newest - SETTLED}
        return hour


def _minute(begins: datetime, row: _Ended | None) -> MinuteOfJobs:
    if row is None:
        return MinuteOfJobs(begins)
    return MinuteOfJobs(begins, row.succeeded, row.failed, row.wait_seconds, row.run_seconds)
