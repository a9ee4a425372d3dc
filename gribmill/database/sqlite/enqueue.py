"""Enqueueing: single jobs, many at once, deduplicated, with dependencies."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.verbs.new_jobs import (
    COLUMNS,
    SHARED,
    due_at,
    open_parents,
    rare_columns,
    runs_alike,
    share_request,
)
from gribmill.queue.model import Enqueued, PreparedJob
from gribmill.queue.times import to_text

# The fields around `args` in a plain job.
_PLAIN = PreparedJob("", 0, 1, "", "manual", None, None, None, "", None, None, None)
NO_ORIGIN, NOTHING_SPECIAL = _PLAIN[5:8], _PLAIN[9:]


def insert_jobs(tx: SqliteSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    made: list[Enqueued] = []
    for alike in runs_alike(jobs):
        made += _insert_alike(tx, alike) if len(alike) > 1 else [_insert(tx, alike[0])]
    return made


def plain_row(job: PreparedJob) -> tuple[Any, ...] | None:
    """The parameters of `jobs/insert_plain` except the first; None if the job needs other columns or checks."""
    return (*job[:5], job.args) if job[5:8] == NO_ORIGIN and job[9:] == NOTHING_SPECIAL else None


def _insert(tx: SqliteSession, job: PreparedJob) -> Enqueued:
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


def _insert_alike(tx: SqliteSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
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


def _duplicate(tx: SqliteSession, job: PreparedJob) -> int:
    """The active job with the same dedupe key."""
    key = {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key}
    found = tx.rows("jobs/find_active", key)[0]
    share_request(tx, job, found)
    job_id: int = found["id"]
    return job_id
