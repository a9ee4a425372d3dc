"""SQLite's transaction: named statements, the common verbs, and its own for enqueueing and claiming."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, cast

from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.verbs import completion, events, reservations
from gribmill.database.verbs.common_verbs import CommonVerbs
from gribmill.database.verbs.fair_claims import held_tenants, next_in_turn, room_of_tenant
from gribmill.database.verbs.new_jobs import (
    COLUMNS,
    SHARED,
    due_at,
    open_parents,
    rare_columns,
    runs_alike,
    share_request,
)
from gribmill.queue.model import DEFAULT_TENANT, Claimed, ClaimRequest, Enqueued, PreparedJob
from gribmill.queue.times import to_text

# The fields around `args` in a plain job.
_PLAIN = PreparedJob("", 0, 1, "", "manual", None, None, None, "", None, None, None)
NO_ORIGIN, NOTHING_SPECIAL = _PLAIN[5:8], _PLAIN[9:]
# The first columns of `claims/parts/job` are the fields of `Claimed`.
CLAIMED_COLUMNS = len(Claimed._fields)


class SqliteTransaction(CommonVerbs, SqliteSession):
    """Each verb is documented in the protocol."""

    __slots__ = ()

    complete = completion.complete
    reserve = reservations.reserve
    any_trigger_due = events.any_trigger_due

    def insert_jobs(self, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
        made: list[Enqueued] = []
        for alike in runs_alike(jobs):
            made += _insert_alike(self, alike) if len(alike) > 1 else [_insert(self, alike[0])]
        return made

    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """With several small statements, which leave the planner no bad choices."""
        found = _next(self, request)
        if found is None:
            return ()
        head, batch_max = _head(found), found[CLAIMED_COLUMNS]
        more = min(batch_max, request.batch_limit or batch_max) - 1
        # A job that has failed runs alone, so that another crash of its executor affects no sibling.
        joins = more > 0 and head.group_key is not None and head.retry_count == 0
        return _take(self, request, [head, *_siblings(self, head, more)] if joins else [head])

    def claim_job(self, request: ClaimRequest, job_id: int) -> Claimed | None:
        self.settle()
        found = self.rows("claims/one", {"job_id": job_id, "now": self.stamp, "worker_id": request.worker_id})
        if not found or found[0]["claimant"] in held_tenants(self):
            return None
        self.execute("jobs/run_now", {"job_id": job_id, "now": self.stamp})
        (taken,) = _take(self, request, [_head(found[0])])
        return taken

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        held = {"job_id": head.id, "attempt_no": head.attempt_no, "worker_id": request.worker_id}
        # Siblings belong to the running batch, so they do not count against the type's limit.
        joins = {"type": head.type, "batch_id": head.batch_id, "now": self.stamp, "worker_id": request.worker_id}
        if not self.rows("jobs/held", held) or not self.rows("claims/may_join", joins):
            return ()
        return _take(self, request, _siblings(self, head, limit, held=True))


def plain_row(job: PreparedJob) -> tuple[Any, ...] | None:
    """The parameters of `jobs/insert_plain` except the first; None if the job needs other columns or checks."""
    return (*job[:5], job.args) if job[5:8] == NO_ORIGIN and job[9:] == NOTHING_SPECIAL else None


def _insert(tx: SqliteTransaction, job: PreparedJob) -> Enqueued:
    waiting, broken = open_parents(tx, job) if job.after else ([], None)
    # If a parent fails just before or just after this, the job is cancelled either way.
    state = ("cancelled", tx.stamp, broken) if broken else ("pending", None, None)
    row = (tx.stamp, due_at(tx, job, to_text), len(waiting), *state, *job[: len(COLUMNS) - 1], *rare_columns(job))
    cursor = tx.execute("jobs/insert", row)
    if not cursor.rowcount:
        return Enqueued(_duplicate(tx, job), created=False)
    job_id = cursor.lastrowid or 0
    links = [{"parent_id": parent, "job_id": job_id, "on_failure": job.on_parent_failure} for parent in waiting]
    if links:
        tx.execute_many("dependencies/insert", links)
    return Enqueued(job_id, created=True)


def _insert_alike(tx: SqliteTransaction, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    """Insert jobs without parents in one statement. They differ only in their own columns."""
    first = jobs[0]
    shared = (tx.stamp, due_at(tx, first, to_text), *first[:SHARED], *rare_columns(first))
    if first.dedupe_key is None and all(job.group_key is None for job in jobs):
        # Validated arguments are compact JSON, which SQLite returns unchanged.
        cursor = tx.execute("jobs/insert_many_plain", (*shared, f"[{','.join([job.args for job in jobs])}]"))
        return _in_a_row(cursor, len(jobs))
    own = json.dumps([(job.args, job.group_key, job.dedupe_key) for job in jobs], ensure_ascii=False)
    if "\\u0000" in own:  # where SQLite's JSON functions truncate a string
        return [_insert(tx, job) for job in jobs]
    newest = tx.rows("metrics/newest_job")[0]["id"]
    cursor = tx.execute("jobs/insert_many", (*shared, own))
    if cursor.rowcount == len(jobs):
        return _in_a_row(cursor, len(jobs))
    made: list[Enqueued] = []
    for job in jobs:
        job_id = _duplicate(tx, job)
        made.append(Enqueued(job_id, created=job_id > newest))
        newest = max(newest, job_id)
    return made


def _in_a_row(cursor: sqlite3.Cursor, count: int) -> list[Enqueued]:
    """The jobs that a statement has just inserted; their ids are consecutive."""
    last = cursor.lastrowid or 0
    return [Enqueued(job_id, True) for job_id in range(last - count + 1, last + 1)]


def _duplicate(tx: SqliteTransaction, job: PreparedJob) -> int:
    """The active job with the same dedupe key."""
    key = {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key}
    found = tx.rows("jobs/find_active", key)[0]
    share_request(tx, job, found)
    job_id: int = found["id"]
    return job_id


def _next(tx: SqliteTransaction, request: ClaimRequest) -> sqlite3.Row | None:
    """The next job. If tenants other than the default one have ready jobs, tenants take turns."""
    found = _heads(tx, request)
    rivals, due = (found or tx.rows("claims/no_head", {"now": tx.stamp}))[0][-2:]
    if due:
        tx.settle()
        tx.execute("jobs/park_due", {"now": tx.stamp})
        tx.execute("jobs/promote_due", {"now": tx.stamp})
        found = _heads(tx, request)
        rivals = (found or tx.rows("claims/no_head", {"now": tx.stamp}))[0]["has_rivals"]
    if rivals:
        return cast("sqlite3.Row | None", next_in_turn(tx, request))
    return found[0] if found else None


def _heads(tx: SqliteTransaction, request: ClaimRequest) -> list[sqlite3.Row]:
    if len(request.types) == 1:
        one = {"type": request.types[0], "now": tx.stamp, "worker_id": request.worker_id}
        return tx.rows("claims/head_of_type", one)
    asked = {"types": request.types_json, "now": tx.stamp, "worker_id": request.worker_id}
    return tx.rows("claims/head", asked)


def _siblings(tx: SqliteTransaction, head: Claimed, limit: int, *, held: bool = False) -> list[Claimed]:
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


def _take(tx: SqliteTransaction, request: ClaimRequest, jobs: list[Claimed]) -> tuple[Claimed, ...]:
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
