"""Enqueueing: single jobs, many at once, deduplicated, with dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gribmill.database.postgres.adaptation import moment
from gribmill.database.postgres.session import NamedCall, PostgresSession
from gribmill.database.verbs.new_jobs import (
    COLUMNS,
    RARE_COLUMNS,
    SHARED,
    due_at,
    open_parents,
    rare_columns,
    runs_alike,
    share_request,
)
from gribmill.queue.errors import StoreConflict
from gribmill.queue.model import Enqueued, PreparedJob

# If the equal active job ends between the failed insert and the lookup, the insert is retried.
TRIES = 20
NEW: dict[str, Any] = {"deps_left": 0, "status": "pending", "completed_at": None, "error_message": None}


def insert_jobs(tx: PostgresSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    made: list[Enqueued] = []
    for alike in runs_alike(jobs):
        made += _insert_alike(tx, alike) if len(alike) > 1 else [_insert(tx, alike[0])]
    return made


def _insert(tx: PostgresSession, job: PreparedJob) -> Enqueued:
    waiting, broken = open_parents(tx, job) if job.after else ([], None)
    # If a parent fails just before or just after this, the job is cancelled either way.
    name, row = inserting(tx, job)
    row = {**row, "deps_left": len(waiting)}
    if broken:
        row |= {"status": "cancelled", "completed_at": tx.stamp, "error_message": broken}
    made = _insert_or_find(tx, job, (name, row))
    if made.created and waiting:
        links = [{"parent_id": parent, "job_id": made.id, "on_failure": job.on_parent_failure} for parent in waiting]
        tx.execute_many("dependencies/insert", links)
    return made


def inserting(tx: PostgresSession, job: PreparedJob) -> NamedCall:
    """The statement that inserts a job without parents, unless an equal one is active."""
    row = dict(zip(COLUMNS, job, strict=False))
    for column in RARE_COLUMNS:
        row[column] = getattr(job, column)
    due = due_at(tx, job, moment)
    return "jobs/insert", {**row, **NEW, "now": tx.stamp, "next_run_at": due}


def _insert_or_find(tx: PostgresSession, job: PreparedJob, call: NamedCall) -> Enqueued:
    for _ in range(TRIES):
        if made := tx.rows(*call):
            return Enqueued(made[0]["id"], created=True)
        key = {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key}
        with tx.across_tenants():  # shared work may have been requested by another tenant
            if found := tx.rows("jobs/find_active", key):
                share_request(tx, job, found[0])
                return Enqueued(found[0]["id"], created=False)
    raise StoreConflict(f"jobs equal to this {job.type} begin and end all the time; nothing was written")


def _insert_alike(tx: PostgresSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    """Insert jobs without parents in one statement. They differ only in their own columns."""
    first = jobs[0]
    shared = (tx.stamp, due_at(tx, first, moment), *first[:SHARED], *rare_columns(first))
    own = ([job.args for job in jobs], [job.group_key for job in jobs], [job.dedupe_key for job in jobs])
    rows = tx.rows("jobs/insert_many", (*shared, *own))
    if len(rows) == len(jobs):
        return [Enqueued(job_id, created=True) for job_id in sorted(row["id"] for row in rows)]
    new = {row["dedupe_key"]: row["id"] for row in rows}
    made = []
    for job in jobs:
        job_id = new.pop(job.dedupe_key, None)
        made.append(_insert(tx, job) if job_id is None else Enqueued(job_id, created=True))
    return made
