"""Signs of life: a worker's heartbeat renews all its leases at once and tells it what it still owns."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
from collections.abc import Sequence
from typing import Literal

from gribmill.queue.model import AttemptRef, HeldAttempt, Worker
from gribmill.queue.store.base import Facet
from gribmill.queue.times import to_datetime, to_text
from gribmill.version import __version__


def new_worker_id() -> str:
    """hostname-pid-nonce. The nonce matters: in a restarted container the pid is the same again."""
    host = re.sub(r"[^A-Za-z0-9.]+", "-", socket.gethostname())[:60] or "host"
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


class Workers(Facet):
    """Worker rows and leases."""

    def heartbeat(
        self,
        worker_id: str,
        lease_seconds: float,
        *,
        types: Sequence[str] = (),
        state: Literal["active", "draining", "stopped"] = "active",
    ) -> Sequence[HeldAttempt]:
        """Renew every lease of this worker; what it still owns, and what was cancelled meanwhile."""
        with self.database.write() as tx:
            tx.lasting = False  # nobody beats on after a power cut
            lease = {"worker_id": worker_id, "lease_expires_at": to_text(tx.now + lease_seconds)}
            rows = tx.rows("leases/renew", lease)
            tx.change(
                "workers/upsert",
                {
                    "id": worker_id,
                    "now": tx.stamp,
                    "current_job_id": min((row["id"] for row in rows), default=None),
                    "hostname": socket.gethostname(),
                    "version": __version__,
                    "types": json.dumps([*types]),
                    "running_count": len(rows),
                    "state": state,
                },
            )
        return [
            HeldAttempt(AttemptRef(row["id"], row["attempt_no"]), row["cancel_requested_at"] is not None)
            for row in rows
        ]

    def list(self) -> Sequence[Worker]:
        """Every worker known, the living first."""
        with self.database.read() as tx:
            rows = tx.rows("workers/list")
        return [
            Worker(
                id=row["id"],
                last_heartbeat=to_datetime(row["last_heartbeat"]),
                current_job_id=row["current_job_id"],
                hostname=row["hostname"],
                version=row["version"],
                types=tuple(json.loads(row["types"] or "[]")),
                running_count=row["running_count"],
                state=row["state"],
                started_at=to_datetime(row["started_at"]),
            )
            for row in rows
        ]

    def take_lease(self, name: str, holder: str, seconds: float, *, renew: bool = True) -> int | None:
        """Win, or keep, the office `name` for so long: its term, or None when somebody else has it.

        Without `renew` even the holder has to wait until it runs out: once per period for the whole queue.
        """
        with self.database.write() as tx:
            params = {
                "name": name,
                "holder": holder,
                "now": tx.stamp,
                "expires_at": to_text(tx.now + seconds),
                "renew": int(renew),
            }
            rows = tx.rows("workers/take_lease", params)
            return int(rows[0]["term"]) if rows else None
