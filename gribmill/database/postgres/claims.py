"""Claims the next batch: locks first, then one statement that selects, claims and records it."""

from __future__ import annotations

from typing import Any, NamedTuple

from gribmill.database.postgres.adaptation import array
from gribmill.database.postgres.handle import raw_rows
from gribmill.database.postgres.session import NamedCall, PostgresSession
from gribmill.database.records import RawRows
from gribmill.database.verbs.completion import settle_dependents
from gribmill.database.verbs.fair_claims import held_tenants, next_in_turn, room_of_tenant
from gribmill.queue.model import DEFAULT_TENANT, Claimed, ClaimRequest

# Before it is locked, an operator may move the selected job, or another worker may claim its group.
CHOICES = 3
NONE = array(())


class ClaimFacts(NamedTuple):
    """Reasons why one statement was not enough: jobs to settle or promote first, or other tenants with ready jobs."""

    unsettled: bool
    due: bool
    has_rivals: bool


def claim(tx: PostgresSession, request: ClaimRequest) -> tuple[Claimed, ...]:
    facts, batch = _claim(tx, request, settled=False)
    if facts.unsettled:
        settle_dependents(tx)
    if facts.due:
        tx.execute("claims/promote", {"now": tx.stamp})
    # There may still be a batch, if another transaction settled or promoted them in between.
    if (facts.unsettled or facts.due) and not batch:
        facts, batch = _claim(tx, request, settled=True)
    if facts.has_rivals and not batch:
        return _claim_in_turn(tx, request)
    return tuple(batch)


def _claim(tx: PostgresSession, request: ClaimRequest, *, settled: bool) -> tuple[ClaimFacts, list[Claimed]]:
    prepared, taken = tx.together(*claiming(tx, request, settled=settled))
    return read_claim(raw_rows(prepared), raw_rows(taken))


def claiming(
    tx: PostgresSession, request: ClaimRequest, *, settled: bool, ended: str = NONE
) -> tuple[NamedCall, NamedCall]:
    """The statements of a claim, after those that completed the jobs `ended`, an array."""
    asked = {**_asked(tx, request), "settled": settled, "ended": ended}
    return ("claims/prepare", asked), ("claims/take_next", asked)


def read_claim(prepared: RawRows, taken: RawRows) -> tuple[ClaimFacts, list[Claimed]]:
    """Read the results of these statements."""
    (facts,) = prepared.records(ClaimFacts)
    return facts, taken.records(Claimed)


def _claim_in_turn(tx: PostgresSession, request: ClaimRequest) -> tuple[Claimed, ...]:
    """Claim one batch after the other, each on a fresh snapshot, counting tenants' limits and recording turns."""
    tx.rows("claims/lock_turns")
    for _ in range(CHOICES):
        found = next_in_turn(tx, request)
        if found is None:
            return ()
        more = min(found["batch_max"], request.batch_limit or found["batch_max"]) - 1
        if found["group_key"] is None or found["retry_count"]:
            more = 0
        elif (room := _room(tx, found["tenant_id"])) is not None:
            more = min(more, room - 1)
        if batch := _take(tx, "claims/take_chosen", request, {"job_id": found["id"], "more": max(0, more)}):
            return batch
    return ()


def claim_job(tx: PostgresSession, request: ClaimRequest, job_id: int) -> Claimed | None:
    settle_dependents(tx)
    kinds = [row["type"] for row in tx.rows("claims/type_of", {"job_id": job_id})]
    alone = ClaimRequest(request.worker_id, tuple(kinds), request.lease_seconds, request.pid, 1)
    tx.rows("claims/lock_types", _asked(tx, alone))
    tx.rows("claims/lock_turns")
    found = tx.rows("claims/one", {**_asked(tx, alone), "job_id": job_id})
    if not found or found[0]["claimant"] in held_tenants(tx):
        return None
    tx.execute("jobs/run_now", {"job_id": job_id, "now": tx.stamp})
    taken = _take(tx, "claims/take_chosen", alone, {"job_id": job_id, "more": 0})
    return taken[0] if taken else None


def claim_siblings(tx: PostgresSession, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
    kind = ClaimRequest(request.worker_id, (head.type,), request.lease_seconds, request.pid)
    tx.rows("claims/lock_types", _asked(tx, kind))
    if head.claimant != DEFAULT_TENANT:
        tx.rows("claims/lock_turns")
        room = room_of_tenant(tx, head.claimant)
        limit = limit if room is None else min(limit, room)
    # Siblings belong to the running batch, so they do not count against the type's limit.
    joins = {"type": head.type, "batch_id": head.batch_id, "now": tx.stamp, "worker_id": request.worker_id}
    if limit < 1 or not tx.rows("claims/may_join", joins):
        return ()
    held = {"job_id": head.id, "attempt_no": head.attempt_no, "more": limit}
    return _take(tx, "claims/take_siblings", request, held)


def _room(tx: PostgresSession, tenant_id: str) -> int | None:
    return None if tenant_id == DEFAULT_TENANT else room_of_tenant(tx, tenant_id)


def _take(tx: PostgresSession, name: str, request: ClaimRequest, what: dict[str, Any]) -> tuple[Claimed, ...]:
    return tuple(tx.records(Claimed, name, {**_asked(tx, request), **what}))


def _asked(tx: PostgresSession, request: ClaimRequest) -> dict[str, Any]:
    return {
        "types": request.types_json,
        "keys": array(request.types),
        "worker_id": request.worker_id,
        "pid": request.pid,
        "batch_limit": request.batch_limit,
        "lease_expires_at": tx.after(request.lease_seconds),
        "now": tx.stamp,
    }
