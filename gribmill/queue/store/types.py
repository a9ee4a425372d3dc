"""The job types as the database knows them: declared by the code, paused by an operator, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gribmill.database.protocol import Row
from gribmill.queue.errors import UnknownJobType
from gribmill.queue.job_type import JobType
from gribmill.queue.store.base import Facet
from gribmill.queue.times import to_datetime, to_text

RECENT_SECONDS = 3600.0


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


class Types(Facet):
    """Pausing, and statistics by type."""

    def declare(self) -> None:
        """Make `job_definitions` say what the code says. Pausing is the operator's and stays."""
        with self.database.read() as tx:
            stored = {row["key"]: row for row in tx.rows("types/list")}
        stale = [kind for kind in self.registry if _differs(stored.get(kind.key), _definition(kind))]
        if stale:
            with self.database.write() as tx:
                for kind in stale:
                    tx.change("types/upsert", {**_definition(kind), "now": tx.stamp})

    def pause(self, type_key: str) -> None:
        """No job of this type starts until it is resumed. Running ones go on."""
        self._set_paused(type_key, paused=True)

    def resume(self, type_key: str) -> None:
        self._set_paused(type_key, paused=False)
        self.database.announce()

    def _set_paused(self, type_key: str, *, paused: bool) -> None:
        with self.database.write() as tx:
            now = tx.stamp
            if not tx.change("types/pause", {"key": type_key, "paused_at": now if paused else None, "now": now}):
                raise UnknownJobType(f"there is no job type {type_key!r}")

    def paused(self) -> frozenset[str]:
        """The types that an operator has paused."""
        with self.database.read() as tx:
            return frozenset(row["key"] for row in tx.rows("types/list") if row["paused_at"] is not None)

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


def _definition(kind: JobType) -> dict[str, Any]:
    return {
        "key": kind.key,
        "description": kind.description,
        "arg_schema": kind.schema_text(),
        "timeout_seconds": kind.timeout_seconds,
        "max_attempts": kind.max_attempts,
        "backoff_base_s": kind.backoff_base_s,
        "backoff_cap_s": kind.backoff_cap_s,
        "batch_max": kind.batch_max,
        "max_running": kind.max_running,
        "on_lost": kind.on_lost,
    }


def _differs(stored: Row | None, wanted: dict[str, Any]) -> bool:
    return stored is None or any(stored[key] != value for key, value in wanted.items())
