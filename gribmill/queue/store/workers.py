"""Workers and their signs of life."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Sequence

from gribmill.queue.model import Heartbeat, HeldAttempt, Worker, WorkerState
from gribmill.queue.process_identity import this_process
from gribmill.queue.store.base import Facet
from gribmill.queue.store.retrying import retried
from gribmill.version import __version__


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
        process = this_process()
        return self.beat(
            Heartbeat(worker_id, lease_seconds, tuple(types), state, socket.gethostname(), __version__, process)
        )

    @retried
    def beat(self, beat: Heartbeat) -> Sequence[HeldAttempt]:
        """The same for a worker elsewhere, which describes itself."""
        with self.database.write() as tx:
            tx.lasting = False  # no worker survives a power cut
            return tx.heartbeat(beat)

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
