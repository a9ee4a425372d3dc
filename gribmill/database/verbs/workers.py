"""Heartbeats, and named leases."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.database.verbs.session import Session
from gribmill.queue.model import AttemptRef, Heartbeat, HeldAttempt


@dataclass(frozen=True, slots=True)
class _Renewed:
    id: int
    attempt_no: int
    cancel_requested: bool


def heartbeat(tx: Session, beat: Heartbeat) -> list[HeldAttempt]:
    lease = {"worker_id": beat.worker_id, "lease_expires_at": tx.after(beat.lease_seconds)}
    held = tx.query(_Renewed, "leases/renew", lease)
    tx.change(
        "workers/upsert",
        {
            "id": beat.worker_id,
            "hostname": beat.hostname,
            "version": beat.version,
            "types": beat.types,
            "state": beat.state,
            "metadata": beat.metadata,
        },
    )
    return [HeldAttempt(AttemptRef(one.id, one.attempt_no), one.cancel_requested) for one in held]


def take_lease(tx: Session, name: str, holder: str, seconds: float, *, renew: bool) -> int | None:
    params = {"name": name, "holder": holder, "now": tx.stamp, "expires_at": tx.after(seconds), "renew": renew}
    rows = tx.rows("workers/take_lease", params)
    return rows[0]["term"] if rows else None
