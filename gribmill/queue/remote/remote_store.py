"""The queue operations that a worker needs, done by a server, with the same fencing."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from gribmill.queue.job_type import Registry
from gribmill.queue.model import (
    Claimed,
    ClaimRequest,
    Exchange,
    Fired,
    HeldAttempt,
    Recovered,
    Report,
    WorkerState,
)
from gribmill.queue.process_identity import this_process
from gribmill.queue.remote.messages import (
    BatchMessage,
    ClaimMessage,
    DueMessage,
    ExchangeMessage,
    FiredMessage,
    HeartbeatMessage,
    HeldMessage,
    ReportMessage,
    SiblingsMessage,
    TurnMessage,
    UpkeepMessage,
    claimed_of,
)
from gribmill.queue.remote.remote_database import RemoteDatabase
from gribmill.queue.store import Store
from gribmill.queue.store.base import KnownTypes
from gribmill.queue.store.events.events import Events
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.queue.store.jobs.attempts import Attempts, LostAttempt
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.store.maintenance import Upkeep
from gribmill.queue.store.reservations import Reservations
from gribmill.queue.store.workers import Workers
from gribmill.version import __version__


class RemoteStore(Store):
    """The part of a store that supervisors use; other operations are refused or missing."""

    database: RemoteDatabase

    def __init__(self, database: RemoteDatabase, registry: Registry) -> None:
        self.database = database
        self.registry = KnownTypes.over(database, registry)
        self.jobs = RemoteJobs(database, self.registry)
        self.attempts = RemoteAttempts(database, self.registry)
        self.triggers = RemoteTriggers(database, self.registry)
        self.events = RemoteEvents(database, self.registry, self.triggers, Webhooks(database, self.registry))
        self.reservations = RemoteReservations(database, self.registry)
        self.workers = RemoteWorkers(database, self.registry)
        self.maintenance = RemoteUpkeep(database, self.registry)
        self.registry.refresh()

    def exchange(self, worker_id: str, reports: Sequence[Report], claims: Sequence[ClaimRequest] = ()) -> Exchange:
        message = TurnMessage(
            worker_id=worker_id,
            reports=[ReportMessage.of_report(report) for report in reports],
            claims=[ClaimMessage.of(claim) for claim in claims],
        )
        return self.database.server.post("exchange", message, ExchangeMessage).to_exchange()

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        if head.group_key is None or limit < 1 or head.retry_count:
            return ()
        message = SiblingsMessage(
            worker_id=request.worker_id, claim=ClaimMessage.of(request), head=head._asdict(), limit=limit
        )
        found = self.database.server.post("siblings", message, BatchMessage)
        return tuple(map(claimed_of, found.jobs))


class RemoteWorkers(Workers):
    """Sends heartbeats to the server."""

    database: RemoteDatabase
    _draining = False

    def heartbeat(
        self, worker_id: str, lease_seconds: float, *, types: Sequence[str] = (), state: WorkerState = "active"
    ) -> Sequence[HeldAttempt]:
        message = HeartbeatMessage(
            worker_id=worker_id,
            lease_seconds=lease_seconds,
            types=tuple(types),
            state=state,
            hostname=socket.gethostname(),
            version=__version__,
            metadata=this_process(),
        )
        answer = self.database.server.post("heartbeat", message, HeldMessage)
        self._draining = answer.draining
        return answer.to_held()

    def asked_to_drain(self, worker_id: str) -> bool:
        """Taken from the response to the last heartbeat."""
        return self._draining

    def take_lease(self, name: str, holder: str, seconds: float, *, renew: bool = True) -> int | None:
        """Always None: exclusive tasks are left to workers with a database connection."""
        return None


class RemoteUpkeep(Upkeep):
    """Asks the server to look for lost jobs, expired reservations and silent workers."""

    database: RemoteDatabase

    def recover(self) -> Recovered:
        found = self.database.server.post("upkeep", None, UpkeepMessage)
        return Recovered(tuple(found.requeued), tuple(found.ended))

    def recover_dead_processes(self) -> Recovered:
        """Recovers nothing: only a worker with a database connection can take jobs back before their leases expire."""
        return Recovered()

    def shorten_waits(self) -> int:
        """Does nothing: the server's clock determines the times."""
        return 0

    def lose_silent_workers(self, silent_seconds: float) -> Sequence[str]:
        return ()


class RemoteReservations(Reservations):
    def expire(self) -> int:
        """Done by the server."""
        return 0


class RemoteAttempts(Attempts):
    def lost_without_log(self, job_id: int) -> list[LostAttempt]:
        """Always empty: a remote worker cannot record logs."""
        return []


class RemoteJobs(Jobs):
    database: RemoteDatabase

    def seconds_to_next_due(self) -> float | None:
        return self.database.server.look("due", None, DueMessage).job


class RemoteTriggers(Triggers):
    database: RemoteDatabase

    def fire_due(self) -> Sequence[Fired]:
        """The server fires triggers and dispatches events. It logs the new jobs; they are claimed like any others."""
        self.database.server.post("triggers", None, FiredMessage)
        return ()

    def seconds_to_next_slot(self) -> float | None:
        return self.database.server.look("due", None, DueMessage).slot


class RemoteEvents(Events):
    def dispatch(self) -> list[Fired]:
        """Done by the server when triggers are fired."""
        return []
