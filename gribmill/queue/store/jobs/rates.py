"""Throughput of the queue over the last minute and the last hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from gribmill.database.protocol import Snapshot

PERIODS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}


@dataclass(frozen=True, slots=True)
class Throughput:
    """How many jobs were enqueued, ended by status, and retried after a failed attempt."""

    enqueued: int
    succeeded: int
    failed: int
    cancelled: int
    dead_lettered: int
    retried: int


def read_rates(tx: Snapshot, tenant_id: str | None = None) -> dict[str, Throughput]:
    """Throughput by period, for one tenant or all."""
    found = {
        name: tx.query(Throughput, "listing/rates", {"since": tx.now - span, "tenant_id": tenant_id})
        for name, span in PERIODS.items()
    }
    return {name: one for name, (one,) in found.items()}
