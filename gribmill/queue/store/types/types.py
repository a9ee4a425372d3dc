"""Pausing job types, and their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import UnknownJobType
from gribmill.queue.model import Status
from gribmill.queue.store.base import Facet, retried
from gribmill.queue.store.jobs.readiness import inactive_types

RECENT = timedelta(hours=1)
MOST_COUNTED = 1_000_000
PERIODS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}


@dataclass(frozen=True, slots=True)
class TypeStats:
    """One type: jobs by status, and statistics of the last hour."""

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
        """The failure rate of the jobs that ended in the last hour."""
        return self.failed / self.finished if self.finished else None


@dataclass(frozen=True, slots=True)
class Throughput:
    """How many jobs were enqueued, ended by status, and retried after a failed attempt."""

    enqueued: int
    succeeded: int
    failed: int
    cancelled: int
    dead_lettered: int
    retried: int


class _Pause(NamedTuple):
    key: str
    is_paused: bool


class _Count(NamedTuple):
    type: str
    status: Status
    n: int


class _Total(NamedTuple):
    n: int


class _Oldest(NamedTuple):
    type: str
    oldest: datetime


class _Run(NamedTuple):
    type: str
    status: Status
    wait_seconds: float | None
    run_seconds: float | None


class Types(Facet):
    """Pausing, and statistics by type."""

    def pause(self, type_key: str) -> None:
        """Start no job of this type until it is resumed. Running jobs continue."""
        self._set_paused(type_key, paused=True)

    def resume(self, type_key: str) -> None:
        self._set_paused(type_key, paused=False)
        self.database.announce()

    def paused(self) -> frozenset[str]:
        """The paused types."""
        with self.database.read() as tx:
            return frozenset(one.key for one in tx.query(_Pause, "types/list") if one.is_paused)

    def inactive(self) -> frozenset[str]:
        """The inactive types: their jobs are neither accepted nor started."""
        with self.database.read() as tx:
            return inactive_types(tx)

    def stats(self, tenant_id: str | None = None) -> list[TypeStats]:
        """Per type: current depth, and waits, run times and failures of the last hour; for one tenant or all."""
        of = {"tenant_id": tenant_id}
        with self.database.read() as tx:
            counts: dict[str, dict[str, int]] = {}
            for count in tx.query(_Count, "listing/counts", of):
                counts.setdefault(count.type, {})[count.status] = count.n
            paused = {one.key: one.is_paused for one in tx.query(_Pause, "types/list")}
            recent = tx.query(_Run, "listing/recent_runs", {**of, "since": tx.now - RECENT})
            kinds = sorted({*counts, *paused})
            oldest = read_oldest_ready(tx, tenant_id)
        return [
            _type_stats(
                kind,
                counts.get(kind, {}),
                paused.get(kind, False),
                oldest.get(kind),
                [run for run in recent if run.type == kind],
            )
            for kind in kinds
        ]

    def oldest_ready(self, tenant_id: str | None = None) -> float | None:
        """The age in seconds of the oldest ready job, of one tenant or of all."""
        with self.database.read() as tx:
            return max(read_oldest_ready(tx, tenant_id).values(), default=None)

    def dead_letters(self, tenant_id: str | None = None) -> int:
        """The number of failed jobs that used up their attempts."""
        with self.database.read() as tx:
            found = tx.first(_Total, "listing/count_dead", {"tenant_id": tenant_id, "most": MOST_COUNTED})
        return found.n if found else 0

    def rates(self, tenant_id: str | None = None) -> dict[str, Throughput]:
        """Throughput of the last minute and the last hour, all types together."""
        with self.database.read() as tx:
            found = {
                name: tx.query(Throughput, "listing/rates", {"since": tx.now - span, "tenant_id": tenant_id})
                for name, span in PERIODS.items()
            }
        return {name: one for name, (one,) in found.items()}

    @retried
    def _set_paused(self, type_key: str, *, paused: bool) -> None:
        with self.database.write() as tx:
            if not tx.change("types/pause", {"key": type_key, "paused_at": tx.now if paused else None}):
                raise UnknownJobType(f"there is no job type {type_key!r}")


def read_oldest_ready(tx: Snapshot, tenant_id: str | None = None) -> dict[str, float]:
    """Maps each type with ready jobs to the age in seconds of the oldest."""
    found = tx.query(_Oldest, "listing/oldest_ready", {"tenant_id": tenant_id})
    return {one.type: max(0.0, (tx.now - one.oldest).total_seconds()) for one in found}


def _type_stats(kind: str, counts: dict[str, int], paused: bool, oldest: float | None, recent: list[_Run]) -> TypeStats:
    ended = [run for run in recent if run.status in ("completed", "failed")]
    waits = sorted(run.wait_seconds for run in ended if run.wait_seconds is not None)
    runs = sorted(run.run_seconds for run in ended if run.run_seconds is not None)
    return TypeStats(
        type=kind,
        counts=counts,
        paused=paused,
        oldest_ready_seconds=oldest,
        finished=len(ended),
        failed=sum(run.status == "failed" for run in ended),
        wait_p50=_quantile(waits, 0.50),
        wait_p95=_quantile(waits, 0.95),
        run_p50=_quantile(runs, 0.50),
        run_p95=_quantile(runs, 0.95),
    )


def _quantile(ascending: Sequence[float], share: float) -> float | None:
    return ascending[min(len(ascending) - 1, int(share * len(ascending)))] if ascending else None
