"""Workers, their heartbeats and the leader."""

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
from gribmill.queue.store.base import Facet, retried
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
    """hostname-pid-nonce. The nonce is needed because a restarted container reuses the pid."""
    host = re.sub(r"[^A-Za-z0-9.]+", "-", socket.gethostname())[:60] or "host"
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


class Workers(Facet):
    """Registers workers. A heartbeat renews all leases of a worker together, and returns what it still holds."""

    def heartbeat(
        self, worker_id: str, lease_seconds: float, *, types: Sequence[str] = (), state: WorkerState = "active"
    ) -> Sequence[HeldAttempt]:
        """Renew every lease of this worker; returns what it still holds, with requested cancellations."""
        facts = {**this_process(), "clock_offset_seconds": round(self.clock_offset(), 1) + 0.0}
        return self.beat(
            Heartbeat(worker_id, lease_seconds, tuple(types), state, socket.gethostname(), __version__, facts)
        )

    @retried
    def beat(self, beat: Heartbeat) -> Sequence[HeldAttempt]:
        """The same for a remote worker, from its own description."""
        with self.database.write() as tx:
            tx.lasting = False  # no worker survives a power cut
            return tx.heartbeat(beat)

    def alive(self, seconds: float) -> Sequence[Worker]:
        """The workers that sent a heartbeat within the last `seconds`, by the database's clock."""
        with self.database.read() as tx:
            known = [one for one in tx.query(Worker, "workers/list") if one.state != "stopped" and one.last_heartbeat]
            since = tx.now - timedelta(seconds=seconds)
            return [one for one in known if one.last_heartbeat and one.last_heartbeat >= since]

    @retried
    def drain(self, worker_id: str) -> None:
        """Ask a worker to drain and exit. It notices at its next heartbeat."""
        with self.database.write() as tx:
            found = _found(tx, worker_id)
            if not tx.change("workers/drain", {"worker_id": worker_id}):
                already = "is draining already" if found.state == "draining" else "has stopped"
                raise NotAllowed(f"worker {worker_id} {already}")

    def asked_to_drain(self, worker_id: str) -> bool:
        """Whether a worker should exit after its running jobs."""
        with self.database.read() as tx:
            found = tx.first(_State, "workers/state", {"worker_id": worker_id})
            return found is not None and found.state == "draining"

    @retried
    def dismiss(self, worker_id: str, silent_seconds: float) -> None:
        """Deregister a worker that has been silent for `silent_seconds`. Its next heartbeat, if any, registers it
        again."""
        with self.database.write() as tx:
            heard = _found(tx, worker_id).last_heartbeat
            if heard is not None and heard > tx.now - timedelta(seconds=silent_seconds):
                raise NotAllowed(f"worker {worker_id} is alive: drain it")
            tx.change("workers/stop", {"worker_id": worker_id})

    def clock_offset(self) -> float:
        """Seconds by which this host's clock is ahead of the database's, which the queue uses."""
        with self.database.read() as tx:
            return _ahead(tx.now)

    def leader(self) -> str | None:
        """The worker that fires due schedules; others step in only if it does not."""
        with self.database.read() as tx:
            held = tx.first(_Lease, "workers/lease", {"name": LEADER})
            return held.holder if held is not None and held.expires_at > tx.now else None

    def lead(self, worker_id: str, seconds: float) -> bool:
        """Become or stay the leader for `seconds`, unless another worker is."""
        return self.leader() in (None, worker_id) and self.take_lease(LEADER, worker_id, seconds) is not None

    def resign(self, worker_id: str) -> None:
        """Give up leadership, so that another worker can take over at once."""
        if self.leader() == worker_id:
            self.take_lease(LEADER, worker_id, 0.0)

    def list(self) -> Sequence[Worker]:
        """All known workers, live ones first."""
        with self.database.read() as tx:
            return tx.query(Worker, "workers/list")

    @retried
    def take_lease(self, name: str, holder: str, seconds: float, *, renew: bool = True) -> int | None:
        """Acquire or renew the lease `name`; returns its term, or None while another holder has it.

        Without `renew`, even its holder cannot take it until it expires: for tasks that run once per period.
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
