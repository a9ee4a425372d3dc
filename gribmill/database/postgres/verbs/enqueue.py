"""Jobs come in: one, many, deduplicated, waiting on others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from gribmill.database.postgres.adaptation import moment
from gribmill.database.postgres.session import PostgresSession
from gribmill.database.verbs.copies import COLUMNS
from gribmill.queue.errors import JobNotFound, StoreConflict
from gribmill.queue.model import FINISHED, Enqueued, PreparedJob

# Of the columns that are inserted, those which jobs that come together mostly share are the first.
SHARED = 8
# An equal job can end between the insert that it keeps out and the look for it: then the insert is tried again.
TRIES = 20


def insert_jobs(tx: PostgresSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    made: list[Enqueued] = []
    for _, run in groupby(jobs, _likeness):
        alike = list(run)
        if len(alike) == 1 or alike[0].after:
            made += [_insert(tx, job) for job in alike]
        else:
            made += _insert_alike(tx, alike)
    return made


def _likeness(job: PreparedJob) -> tuple[Any, ...]:
    """Neighbours for which this is the same can be written by one statement."""
    shared = (job.delay_seconds, job.after, job.run_at)
    return (job[:SHARED], job.dedupe_key is None, *_rare(job), *shared)


def _rare(job: PreparedJob) -> tuple[int | None, ...]:
    """Columns that most jobs leave empty."""
    return (job.retry_of, job.timeout_seconds, job.group_id, job.template_id)


def _insert(tx: PostgresSession, job: PreparedJob) -> Enqueued:
    waiting, broken = _parents(tx, job) if job.after else ([], None)
    # Whether a parent fails just before or just after makes no difference: the job ends cancelled.
    state = ("cancelled", tx.stamp, broken) if broken else ("pending", None, None)
    row = (tx.stamp, _due(tx, job), len(waiting), *state, *job[: len(COLUMNS) - 1], *_rare(job))
    made = _insert_or_find(tx, job, row)
    if made.created and waiting:
        links = [{"parent_id": parent, "job_id": made.id, "on_failure": job.on_parent_failure} for parent in waiting]
        tx.execute_many("dependencies/insert", links)
    return made


def _insert_or_find(tx: PostgresSession, job: PreparedJob, row: tuple[Any, ...]) -> Enqueued:
    for _ in range(TRIES):
        if made := tx.rows("jobs/insert", row):
            return Enqueued(made[0]["id"], created=True)
        key = {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key}
        if found := tx.rows("jobs/find_active", key):
            return Enqueued(found[0]["id"], created=False)
    raise StoreConflict(f"jobs equal to this {job.type} begin and end all the time; nothing was written")


def _insert_alike(tx: PostgresSession, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    """One statement for jobs without parents that differ in their own columns only."""
    first = jobs[0]
    shared = (tx.stamp, _due(tx, first), *first[:SHARED], *_rare(first))
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


def _due(tx: PostgresSession, job: PreparedJob) -> str | None:
    if job.run_at is not None:
        due = moment(job.run_at.timestamp())
        return due if due > tx.stamp else None
    return tx.after(job.delay_seconds) if job.delay_seconds else None


def _parents(tx: PostgresSession, job: PreparedJob) -> tuple[list[int], str | None]:
    """The parents still to wait for, locked until the job is there, and the reason if one has failed already."""
    wanted = sorted(set(job.after))
    rows = tx.rows("dependencies/parent_states", {"ids": json.dumps(wanted)})
    states = {row["id"]: row["status"] for row in rows}
    for parent in wanted:
        if parent not in states:
            raise JobNotFound(f"the job would wait on job {parent}, which does not exist")
        if states[parent] in ("failed", "cancelled") and job.on_parent_failure == "cancel":
            return [], f"parent job {parent} had {states[parent]}"
    return [parent for parent in wanted if states[parent] not in FINISHED], None
