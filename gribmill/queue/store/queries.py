"""Looking: lists, one job with its history, statistics. Short reads that hold no snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gribmill.database.protocol import Row
from gribmill.queue.model import Attempt, Job, Status
from gribmill.queue.store.base import StoreBase, job_row
from gribmill.queue.times import to_datetime, to_text

PAGE_LIMIT = 1000
RECENT_SECONDS = 3600.0
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


@dataclass(frozen=True, slots=True)
class TypeStats:
    """One type: depth by status, and how the last hour went."""

    type: str
    counts: dict[str, int]
    paused: bool
    oldest_ready_seconds: float | None
    finished: int
    failed: int
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None

    @property
    def failure_rate(self) -> float | None:
        """Of the jobs that ended in the last hour."""
        return self.failed / self.finished if self.finished else None


class Insights(StoreBase):
    """Reading without being in anybody's way."""

    def job(self, job_id: int) -> Job:
        with self.database.read() as tx:
            return _job(job_row(tx, job_id))

    def jobs(self, wanted: JobFilter | None = None, *, limit: int = 50, before: int | None = None) -> Page:
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

    def queue(self, type_key: str | None = None, *, limit: int = 50) -> tuple[Job, ...]:
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

    def paused_types(self) -> frozenset[str]:
        """The types that an operator has paused."""
        with self.database.read() as tx:
            return frozenset(row["key"] for row in tx.rows("types/list") if row["paused_at"] is not None)

    def running(self) -> dict[str, list[int]]:
        """What each worker runs at this moment; its own row only says so at each heartbeat."""
        found: dict[str, list[int]] = {}
        with self.database.read() as tx:
            for row in tx.rows("listing/running"):
                found.setdefault(row["worker_id"], []).append(row["id"])
        return found

    def progress(self, correlation_id: str) -> dict[tuple[str, str], int]:
        """How many jobs of a chain there are by (type, status)."""
        with self.database.read() as tx:
            rows = tx.rows("listing/count_correlated", {"correlation_id": correlation_id})
        return {(row["type"], row["status"]): row["n"] for row in rows}

    def stats(self) -> list[TypeStats]:
        """Per type: depth now, waits, run times and failures of the last hour."""
        with self.database.read() as tx:
            counts: dict[str, dict[str, int]] = {}
            for row in tx.rows("listing/counts"):
                counts.setdefault(row["type"], {})[row["status"]] = row["n"]
            paused = {row["key"]: row["paused_at"] is not None for row in tx.rows("types/list")}
            recent = tx.rows("listing/recent_runs", {"since": to_text(tx.now - RECENT_SECONDS)})
            kinds = sorted({*counts, *paused})
            oldest = {kind: to_datetime(tx.rows("listing/oldest_ready", {"type": kind})[0]["oldest"]) for kind in kinds}
            now = tx.now
        return [
            _type_stats(
                kind,
                counts.get(kind, {}),
                paused.get(kind, False),
                None if (since := oldest[kind]) is None else max(0.0, now - since.timestamp()),
                [row for row in recent if row["type"] == kind],
            )
            for kind in kinds
        ]


def _type_stats(kind: str, counts: dict[str, int], paused: bool, oldest: float | None, recent: list[Row]) -> TypeStats:
    ended = [row for row in recent if row["status"] in ("completed", "failed")]
    waits = sorted(row["wait_seconds"] for row in ended if row["wait_seconds"] is not None)
    runs = sorted(row["run_seconds"] for row in ended if row["run_seconds"] is not None)
    return TypeStats(
        type=kind,
        counts=counts,
        paused=paused,
        oldest_ready_seconds=oldest,
        finished=len(ended),
        failed=sum(row["status"] == "failed" for row in ended),
        wait_p50=_quantile(waits, 0.50),
        wait_p95=_quantile(waits, 0.95),
        run_p50=_quantile(runs, 0.50),
        run_p95=_quantile(runs, 0.95),
    )


def _quantile(ascending: Sequence[float], share: float) -> float | None:
    return ascending[min(len(ascending) - 1, int(share * len(ascending)))] if ascending else None


def _relatives(rows: list[Row], detail: str) -> tuple[Relative, ...]:
    return tuple(Relative(row["id"], row["status"], str(row[detail])) for row in rows)


def _job(row: Row) -> Job:
    return Job(**_with_times(row))


def _attempt(row: Row) -> Attempt:
    return Attempt(**_with_times(row))


def _with_times(row: Row) -> dict[str, Any]:
    return {key: to_datetime(row[key]) if key in _TIMES else row[key] for key in row.keys()}  # noqa: SIM118


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment.timestamp())
