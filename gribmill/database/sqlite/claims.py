"""Claims the next batch: the first job in order, and its siblings."""

from __future__ import annotations

import sqlite3
from typing import cast

from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.verbs.fair_claims import held_tenants, next_in_turn, room_of_tenant
from gribmill.database.verbs.settle import settle_dependents
from gribmill.queue.model import DEFAULT_TENANT, Claimed, ClaimRequest

# The first columns of `claims/parts/job` are the fields of `Claimed`.
CLAIMED_COLUMNS = len(Claimed._fields)


def claim(tx: SqliteSession, request: ClaimRequest) -> tuple[Claimed, ...]:
    """Claim the next batch, with several small statements that leave the planner no bad choices."""
    found = _next(tx, request)
    if found is None:
        return ()
    head, batch_max = _head(found), found[CLAIMED_COLUMNS]
    more = min(batch_max, request.batch_limit or batch_max) - 1
    # A job that has failed runs alone, so that another crash of its executor affects no sibling.
    joins = more > 0 and head.group_key is not None and head.retry_count == 0
    return _take(tx, request, [head, *_siblings(tx, head, more)] if joins else [head])


def claim_job(tx: SqliteSession, request: ClaimRequest, job_id: int) -> Claimed | None:
    settle_dependents(tx)
    found = tx.rows("claims/one", {"job_id": job_id, "now": tx.stamp, "worker_id": request.worker_id})
    if not found or found[0]["claimant"] in held_tenants(tx):
        return None
    tx.execute("jobs/run_now", {"job_id": job_id, "now": tx.stamp})
    (taken,) = _take(tx, request, [_head(found[0])])
    return taken


def _next(tx: SqliteSession, request: ClaimRequest) -> sqlite3.Row | None:
    """The next job. If tenants other than the default one have ready jobs, tenants take turns."""
    found = _heads(tx, request)
    rivals, due = (found or tx.rows("claims/no_head", {"now": tx.stamp}))[0][-2:]
    if due:
        settle_dependents(tx)
        tx.execute("jobs/park_due", {"now": tx.stamp})
        tx.execute("jobs/promote_due", {"now": tx.stamp})
        found = _heads(tx, request)
        rivals = (found or tx.rows("claims/no_head", {"now": tx.stamp}))[0]["has_rivals"]
    if rivals:
        return cast("sqlite3.Row | None", next_in_turn(tx, request))
    return found[0] if found else None


def _heads(tx: SqliteSession, request: ClaimRequest) -> list[sqlite3.Row]:
    if len(request.types) == 1:
        one = {"type": request.types[0], "now": tx.stamp, "worker_id": request.worker_id}
        return tx.rows("claims/head_of_type", one)
    asked = {"types": request.types_json, "now": tx.stamp, "worker_id": request.worker_id}
    return tx.rows("claims/head", asked)


def claim_siblings(tx: SqliteSession, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
    held = {"job_id": head.id, "attempt_no": head.attempt_no, "worker_id": request.worker_id}
    # Siblings belong to the running batch, so they do not count against the type's limit.
    joins = {"type": head.type, "batch_id": head.batch_id, "now": tx.stamp, "worker_id": request.worker_id}
    if not tx.rows("jobs/held", held) or not tx.rows("claims/may_join", joins):
        return ()
    return _take(tx, request, _siblings(tx, head, limit, held=True))


def _siblings(tx: SqliteSession, head: Claimed, limit: int, *, held: bool = False) -> list[Claimed]:
    """Siblings of the same claimant, up to its limit."""
    if head.claimant != DEFAULT_TENANT and (room := room_of_tenant(tx, head.claimant)) is not None:
        limit = min(limit, room - (0 if held else 1))
    group = {
        "type": head.type,
        "group_key": head.group_key,
        "claimant": head.claimant,
        "head_id": head.id,
        "batch_id": head.batch_id,
    }
    return tx.records(Claimed, "claims/siblings", {**group, "more": max(0, limit)})


def _take(tx: SqliteSession, request: ClaimRequest, jobs: list[Claimed]) -> tuple[Claimed, ...]:
    """Claim jobs. Only those whose row was changed count as claimed."""
    worker, now, until = request.worker_id, tx.stamp, tx.after(request.lease_seconds)
    if len(jobs) == 1:
        (job,) = jobs
        if not tx.execute("claims/take", (worker, now, job.batch_id, until, job.id)).rowcount:
            return ()
        tx.execute("attempts/insert", (job.id, job.attempt_no, worker, request.pid, now))
        return (job,)
    if tx.execute_many("claims/take", [(worker, now, job.batch_id, until, job.id) for job in jobs]) != len(jobs):
        jobs = [job for job in jobs if tx.rows("jobs/held", {**job.ref._asdict(), "worker_id": worker})]
    tx.execute_many("attempts/insert", [(job.id, job.attempt_no, worker, request.pid, now) for job in jobs])
    return tuple(jobs)


def _head(row: sqlite3.Row) -> Claimed:
    """The job of a row. Columns are read by position: lookups by name would take as long as a statement."""
    return Claimed._make(row[:CLAIMED_COLUMNS])
