"""Jobs come in: one, many, deduplicated, waiting on others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.verbs.copies import COLUMNS
from gribmill.queue.errors import JobNotFound
from gribmill.queue.model import FINISHED, Enqueued, PreparedJob
from gribmill.queue.times import to_text

# Of the columns that are inserted, those which jobs that come together mostly share are the first.
SHARED = 8
# What the fields around `args` are in a plain job.
_PLAIN = PreparedJob("", 0, 1, "", "manual", None, None, None, "", None, None, None)
NO_ORIGIN, NOTHING_SPECIAL = _PLAIN[5:8], _PLAIN[9:]


def insert_jobs(tx: SqliteSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    made: list[Enqueued] = []
    for _, run in groupby(jobs, _likeness):
        alike = list(run)
        if len(alike) == 1 or alike[0].after:
            made += [_insert(tx, job) for job in alike]
        else:
            made += _insert_alike(tx, alike)
    return made


def plain_row(job: PreparedJob) -> tuple[Any, ...] | None:
    """The columns of `jobs/insert_plain` but the first; None for a job that needs more of them, or a look at others."""
    return (*job[:5], job.args) if job[5:8] == NO_ORIGIN and job[9:] == NOTHING_SPECIAL else None


def _likeness(job: PreparedJob) -> tuple[Any, ...]:
    """Neighbours for which this is the same can be written by one statement."""
    shared = (job.delay_seconds, job.after, job.run_at)
    return (job[:SHARED], job.dedupe_key is None, *_rare(job), *shared)


def _rare(job: PreparedJob) -> tuple[int | None, ...]:
    """Columns that most jobs leave empty."""
    return (job.retry_of, job.timeout_seconds, job.group_id, job.template_id)


def _insert(tx: SqliteSession, job: PreparedJob) -> Enqueued:
    waiting, broken = _parents(tx, job) if job.after else ([], None)
    # Whether a parent fails just before or just after makes no difference: the job ends cancelled.
    state = ("cancelled", tx.stamp, broken) if broken else ("pending", None, None)
    row = (tx.stamp, _due(tx, job), len(waiting), *state, *job[: len(COLUMNS) - 1], *_rare(job))
    cursor = tx.execute("jobs/insert", row)
    if not cursor.rowcount:
        return Enqueued(_duplicate(tx, job), created=False)
    job_id = cursor.lastrowid or 0
    links = [{"parent_id": parent, "job_id": job_id, "on_failure": job.on_parent_failure} for parent in waiting]
    if links:
        tx.execute_many("dependencies/insert", links)
    return Enqueued(job_id, created=True)


def _insert_alike(tx: SqliteSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    """One statement for jobs without parents that differ in their own columns only."""
    first = jobs[0]
    own = json.dumps([(job.args, job.group_key, job.dedupe_key) for job in jobs], ensure_ascii=False)
    if "\\u0000" in own:  # SQLite's JSON functions end a text there
        return [_insert(tx, job) for job in jobs]
    params = (tx.stamp, _due(tx, first), *first[:SHARED], *_rare(first), own)
    new_ids = sorted(row["id"] for row in tx.rows("jobs/insert_many", params))
    if len(new_ids) == len(jobs):
        return [Enqueued(job_id, created=True) for job_id in new_ids]
    unseen = set(new_ids)
    made = []
    for job in jobs:
        job_id = _duplicate(tx, job)
        made.append(Enqueued(job_id, created=job_id in unseen))
        unseen.discard(job_id)
    return made


def _duplicate(tx: SqliteSession, job: PreparedJob) -> int:
    """The active job that keeps an equal one out."""
    key = {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key}
    job_id: int = tx.rows("jobs/find_active", key)[0]["id"]
    return job_id


def _due(tx: SqliteSession, job: PreparedJob) -> str | None:
    if job.run_at is not None:
        due = to_text(job.run_at.timestamp())
        return due if due > tx.stamp else None
    return tx.after(job.delay_seconds) if job.delay_seconds else None


def _parents(tx: SqliteSession, job: PreparedJob) -> tuple[list[int], str | None]:
    """The parents still to wait for, and the reason if one has failed already."""
    wanted = sorted(set(job.after))
    rows = tx.rows("dependencies/parent_states", {"ids": json.dumps(wanted)})
    states = {row["id"]: row["status"] for row in rows}
    for parent in wanted:
        if parent not in states:
            raise JobNotFound(f"the job would wait on job {parent}, which does not exist")
        if states[parent] in ("failed", "cancelled") and job.on_parent_failure == "cancel":
            return [], f"parent job {parent} had {states[parent]}"
    return [parent for parent in wanted if states[parent] not in FINISHED], None
