"""The operations of `gribmill work --server`. Claims, leases and fencing are the same as for other workers.

As everywhere in the API, a worker's id contains the id of its token, so that a token cannot act for another's workers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gribmill.queue.errors import NotAllowed
from gribmill.queue.model import Exchange
from gribmill.queue.remote.messages import (
    BatchMessage,
    DueMessage,
    ExchangeMessage,
    FiredMessage,
    HeartbeatMessage,
    HeldMessage,
    ReadMessage,
    SiblingsMessage,
    TableMessage,
    TurnMessage,
    UpkeepMessage,
    claimed_of,
)
from gribmill.queue.remote.reads import params_from_json
from gribmill.queue.store import Store
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.access.worker_id import worker_id_of
from gribmill.server.context import Server
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/api/v1/worker", tag="worker")

# Enough for any catalogue.
MOST_ROWS = 200_000


@router.post("/read")
async def remote_read(server: Server, message: ReadMessage, principal: CurrentPrincipal) -> TableMessage:
    """The rows of a named statement, as stored in the database."""
    params = params_from_json(message.statement, message.params)
    if "worker_id" in params:
        params["worker_id"] = worker_id_of(principal, params["worker_id"])
    return await server.run(_read, server.store, message.statement, params)


@router.post("/exchange")
async def remote_exchange(server: Server, message: TurnMessage, principal: CurrentPrincipal) -> ExchangeMessage:
    """Accept reports of attempts and return a batch for each claim, in one transaction."""
    worker_id = worker_id_of(principal, message.worker_id)
    return ExchangeMessage.of(await server.run(_exchange, server.store, worker_id, message))


@router.post("/siblings")
async def remote_siblings(server: Server, message: SiblingsMessage, principal: CurrentPrincipal) -> BatchMessage:
    """Claim more jobs with the batching key of a job that the worker is running."""
    claim = message.claim.to_request(worker_id_of(principal, message.worker_id))
    head = claimed_of(message.head)
    found = await server.run(server.store.claim_siblings, claim, head, message.limit)
    return BatchMessage(jobs=[job._asdict() for job in found])


@router.post("/heartbeat")
async def remote_heartbeat(server: Server, message: HeartbeatMessage, principal: CurrentPrincipal) -> HeldMessage:
    """Renew all leases of a worker; returns what it still holds, and whether it should drain."""
    workers, worker_id = server.store.workers, worker_id_of(principal, message.worker_id)
    held = await server.run(workers.beat, replace(message.to_heartbeat(), worker_id=worker_id))
    return HeldMessage.of([*held], draining=await server.run(workers.asked_to_drain, worker_id))


@router.post("/upkeep")
async def remote_upkeep(server: Server) -> UpkeepMessage:
    """Handle expired leases, silent workers and expired reservations."""
    return await server.run(_upkeep, server.store, server.settings.queue.lease_seconds)


@router.post("/triggers")
async def remote_triggers(server: Server) -> FiredMessage:
    """Fire the schedules that are due, and dispatch events."""
    return FiredMessage(jobs=await server.run(_fire, server.store))


@router.post("/due")
async def remote_due(server: Server) -> DueMessage:
    """When the next delayed job may run, and when the next schedule fires."""
    return await server.run(_due, server.store)


def _read(store: Store, statement: str, params: dict[str, Any]) -> TableMessage:
    with store.database.read() as tx:
        found = tx.table(statement, params)
        if len(found.rows) > MOST_ROWS:
            raise NotAllowed(f"{statement} gives {len(found.rows)} rows, more than {MOST_ROWS}")
        return TableMessage(now=tx.now.timestamp(), columns=found.columns, rows=[[*row] for row in found.rows])


def _exchange(store: Store, worker_id: str, message: TurnMessage) -> Exchange:
    reports = [report.to_report() for report in message.reports]
    return store.exchange(worker_id, reports, [one.to_request(worker_id) for one in message.claims])


def _upkeep(store: Store, lease_seconds: float) -> UpkeepMessage:
    store.reservations.expire()
    found = store.maintenance.recover()
    store.maintenance.lose_silent_workers(lease_seconds)
    return UpkeepMessage(requeued=[*found.requeued], ended=[*found.ended])


def _fire(store: Store) -> int:
    fired = [*store.triggers.fire_due(), *store.events.dispatch()]
    return sum(one.job is not None for one in fired)


def _due(store: Store) -> DueMessage:
    return DueMessage(job=store.jobs.seconds_to_next_due(), slot=store.triggers.seconds_to_next_slot())
