"""Workers and their signs of life."""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from gribmill.database.protocol import Snapshot
from gribmill.errors import quoted
from gribmill.queue.errors import NotAllowed, WorkerNotFound
from gribmill.queue.model import Heartbeat, HeldAttempt, Worker, WorkerState
from gribmill.queue.process_identity import this_process
from gribmill.queue.store.base import Facet
from gribmill.queue.store.retrying import retried
from gribmill.version import __version__

# The lease of the worker that fires schedules.
LEADER = "leader"


class _State(NamedTuple):
    state: WorkerState
    last_heartbeat: datetime | None


class _Lease(NamedTuple):
    holder: str
    expires_at: datetime


def new_worker_id() -> str:
    """hostname-pid-nonce. The nonce matters: in a restarted container the pid is the same again."""
    host = re.sub(r"[^A-Za-z0-9.]+", "-", socket.gethostname())[:60] or "host"
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


class Workers(Facet):
    """A heartbeat renews all leases of a worker at once, and reports what it still holds."""

    def heartbeat(
        self, worker_id: str, lease_seconds: float, *, types: Sequence[str] = (), state: WorkerState = "active"
    ) -> Sequence[HeldAttempt]:
        """Renew every lease of this worker; what it still holds, and what was cancelled meanwhile."""
        facts = {**this_process(), "clock_offset_seconds": round(self.clock_offset(), 1) + 0.0}
        return self.beat(
            Heartbeat(worker_id, lease_seconds, tuple(types), state, socket.gethostname(), __version__, facts)
        )

    @retried
    def beat(self, beat: Heartbeat) -> Sequence[HeldAttempt]:
        """The same for a worker elsewhere, which describes itself."""
        with self.database.write() as tx:
            tx.lasting = False  # no worker survives a power cut
            return tx.heartbeat(beat)

    def alive(self, seconds: float) -> Sequence[Worker]:
        """Those that have sent a heartbeat within that time, by the database's clock."""
        with self.database.read() as tx:
            known = [one for one in tx.query(Worker, "workers/list") if one.state != "stopped" and one.last_heartbeat]
            since = tx.now - timedelta(seconds=seconds)
            return [one for one in known if one.last_heartbeat and one.last_heartbeat >= since]

    @retried
    def drain(self, worker_id: str) -> None:
        """Ask a worker to finish what it runs, start nothing new and end. It obeys with its next heartbeat."""
        with self.database.write() as tx:
            found = _found(tx, worker_id)
            if not tx.change("workers/drain", {"worker_id": worker_id}):
                already = "is draining already" if found.state == "draining" else "has stopped"
                raise NotAllowed(f"worker {worker_id} {already}")

    def asked_to_drain(self, worker_id: str) -> bool:
        """Whether a worker should end when it has finished what it runs."""
        with self.database.read() as tx:
            found = tx.first(_State, "workers/state", {"worker_id": worker_id})
            return found is not None and found.state == "draining"

    @retried
    def dismiss(self, worker_id: str, silent_seconds: float) -> None:
        """Expect nothing more of a worker that has been silent for that long. If it lives, its heartbeat says so."""
        with self.database.write() as tx:
            heard = _found(tx, worker_id).last_heartbeat
            if heard is not None and heard > tx.now - timedelta(seconds=silent_seconds):
                raise NotAllowed(f"worker {worker_id} is alive: drain it")
            tx.change("workers/stop", {"worker_id": worker_id})

    def clock_offset(self) -> float:
        """Seconds by which this host's clock is ahead of the database's, by which everything goes."""
        with self.database.read() as tx:
            return _ahead(tx.now)

    def leader(self) -> str | None:
        """The worker that fires schedules when they are due; the others only if it does not."""
        with self.database.read() as tx:
            held = tx.first(_Lease, "workers/lease", {"name": LEADER})
            return held.holder if held is not None and held.expires_at > tx.now else None

    def lead(self, worker_id: str, seconds: float) -> bool:
        """Become or stay the leader for that long, unless another worker is."""
        return self.leader() in (None, worker_id) and self.take_lease(LEADER, worker_id, seconds) is not None

    def resign(self, worker_id: str) -> None:
        """Let another worker lead at once."""
        if self.leader() == worker_id:
            self.take_lease(LEADER, worker_id, 0.0)

    def list(self) -> Sequence[Worker]:
        """Every worker known, the living first."""
        with self.database.read() as tx:
            return tx.query(Worker, "workers/list")

    @retried
    def take_lease(self, name: str, holder: str, seconds: float, *, renew: bool = True) -> int | None:
        """Acquire or renew the lease `name`; its term, or None while another holder has it.

        Without `renew` even the holder has to wait until it expires: once per period for the whole queue.
        """
        with self.database.write() as tx:
            return tx.take_lease(name, holder, seconds, renew=renew)


def _found(tx: Snapshot, worker_id: str) -> _State:
    found = tx.first(_State, "workers/state", {"worker_id": worker_id})
    if found is None:
        raise WorkerNotFound(f"there is no worker {quoted(worker_id)}")
    return found


def _ahead(now: datetime) -> float:
    return time.time() - now.timestamp()
