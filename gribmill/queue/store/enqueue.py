"""Jobs come in: one, many, delayed, deduplicated, waiting on others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from gribmill.database.protocol import Transaction
from gribmill.queue.errors import BadArguments, JobNotFound
from gribmill.queue.job_type import Registry
from gribmill.queue.model import FINISHED, Enqueued, NewJob
from gribmill.queue.store.base import Facet
from gribmill.queue.times import to_text

# One writer at a time: a longer transaction would keep every claim waiting.
CHUNK = 1000
PRIORITY_LIMIT = 2**31 - 1
DELAY_LIMIT_SECONDS = 10 * 366 * 86400.0


class Enqueueing(Facet):
    """Putting jobs in. Arguments are checked against their type before anything is written."""

    def enqueue(self, job: NewJob) -> Enqueued:
        """The job's id; an equal active job's id when it deduplicates."""
        prepared = prepare(self.registry, job)
        if prepared.is_plain:
            columns = (*prepared[:5], prepared.args)
            made = Enqueued(self.database.insert_alone("jobs/insert_plain", columns), created=True)
        else:
            with self.database.write() as tx:
                made = _insert(tx, prepared)
        self.database.announce()
        return made

    def enqueue_many(self, jobs: Iterable[NewJob]) -> list[Enqueued]:
        """All are checked first; then written a thousand to a transaction, in order."""
        rest = iter([prepare(self.registry, job) for job in jobs])
        results: list[Enqueued] = []
        while chunk := list(islice(rest, CHUNK)):
            with self.database.write() as tx:
                results += insert_jobs(tx, chunk)
            self.database.announce()
        return results

    def any_active(self, jobs: Iterable[NewJob]) -> bool:
        """Whether a job that equals one of these, by its dedupe key, is pending or running."""
        prepared = [prepare(self.registry, job) for job in jobs]
        with self.database.read() as tx:
            return any(_active(tx, job) is not None for job in prepared if job.dedupe_key is not None)


def prepare(registry: Registry, job: NewJob) -> PreparedJob:
    """The row to insert, or BadArguments / UnknownJobType."""
    kind = registry[job.type]
    check_job(job)
    text, args = kind.encode(job.args)
    return PreparedJob(
        job.type,
        job.priority,
        job.max_attempts or kind.max_attempts,
        job.tenant_id,
        job.source,
        job.source_ref,
        job.correlation_id,
        job.created_by,
        text,
        kind.group_by(args) if kind.group_by else None,
        job.dedupe_key or (kind.dedupe_key_of(text, job.tenant_id) if kind.dedupe else None),
        None,
        job.delay_seconds,
        job.after,
        job.on_parent_failure,
    )


class PreparedJob(NamedTuple):
    """A checked job, ready to be written in any transaction.

    The first twelve are columns, in the order of the statements that insert: eight which jobs that come together mostly
    share, then each one's own.
    """

    type: str
    priority: int
    max_attempts: int
    tenant_id: str
    source: str
    source_ref: str | None
    correlation_id: str | None
    created_by: str | None
    args: str
    group_key: str | None
    dedupe_key: str | None = None
    retry_of: int | None = None
    delay_seconds: float | None = None
    after: tuple[int, ...] = ()
    on_parent_failure: str = "cancel"

    @property
    def is_plain(self) -> bool:
        """Nothing but its first five columns and its arguments: it can run at once, whatever else is there."""
        return self[5:8] == (None, None, None) and self[9:14] == (None, None, None, None, ())

    @property
    def likeness(self) -> tuple[Any, ...]:
        """Neighbours in which this is the same can be written by one statement."""
        return (self[:8], self.dedupe_key is None, self.retry_of, self.delay_seconds, self.after)


COLUMNS = PreparedJob._fields[:12]


def insert_jobs(tx: Transaction, jobs: Iterable[PreparedJob]) -> list[Enqueued]:
    """Write prepared jobs in the caller's transaction, in their order."""
    made: list[Enqueued] = []
    for _, run in groupby(jobs, lambda job: job.likeness):
        alike = list(run)
        if len(alike) == 1 or alike[0].after:
            made += [_insert(tx, job) for job in alike]
        else:
            made += _insert_alike(tx, alike)
    return made


def _insert(tx: Transaction, job: PreparedJob) -> Enqueued:
    waiting, broken = _parents(tx, job) if job.after else ([], None)
    # Whether a parent fails just before or just after makes no difference: the job ends cancelled.
    state = ("cancelled", tx.stamp, broken) if broken else ("pending", None, None)
    job_id = tx.insert("jobs/insert", (tx.stamp, _due(tx, job), len(waiting), *state, *job[:12]))
    if job_id is None:
        return Enqueued(_duplicate(tx, job), created=False)
    for parent in waiting:
        link = {"parent_id": parent, "job_id": job_id, "on_failure": job.on_parent_failure}
        tx.change("dependencies/insert", link)
    return Enqueued(job_id, created=True)


def _insert_alike(tx: Transaction, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    """One statement for jobs without parents that differ in their own columns only."""
    first = jobs[0]
    own = json.dumps([job[8:11] for job in jobs], ensure_ascii=False)
    if "\\u0000" in own:  # SQLite's JSON functions end a text there
        return [_insert(tx, job) for job in jobs]
    params = (tx.stamp, _due(tx, first), *first[:8], first.retry_of, own)
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


def _duplicate(tx: Transaction, job: PreparedJob) -> int:
    """The active job that keeps an equal one out."""
    found = _active(tx, job)
    assert found is not None
    return found


def _active(tx: Transaction, job: PreparedJob) -> int | None:
    rows = tx.rows("jobs/find_duplicate", {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key})
    return rows[0]["id"] if rows else None


def _due(tx: Transaction, job: PreparedJob) -> str | None:
    return to_text(tx.now + job.delay_seconds) if job.delay_seconds else None


def _parents(tx: Transaction, job: PreparedJob) -> tuple[list[int], str | None]:
    """The parents still to wait for, and the reason if one has failed already."""
    wanted = sorted(set(job.after))
    states = {row["id"]: row["status"] for row in tx.rows("dependencies/parent_states", {"ids": json.dumps(wanted)})}
    for parent in wanted:
        if parent not in states:
            raise JobNotFound(f"the job would wait on job {parent}, which does not exist")
        if states[parent] in ("failed", "cancelled") and job.on_parent_failure == "cancel":
            return [], f"parent job {parent} had {states[parent]}"
    return [parent for parent in wanted if states[parent] not in FINISHED], None


def check_priority(priority: int) -> None:
    """Refuse what no database integer column should have to hold."""
    if not -PRIORITY_LIMIT <= priority <= PRIORITY_LIMIT:
        raise BadArguments(f"priority {priority} is beyond ±{PRIORITY_LIMIT}")


def check_job(job: NewJob) -> None:
    """Refuse what is out of bounds whatever the type."""
    check_priority(job.priority)
    if job.delay_seconds is not None and not 0 <= job.delay_seconds <= DELAY_LIMIT_SECONDS:
        raise BadArguments(f"a delay of {job.delay_seconds} s is not between 0 and ten years")
    if job.max_attempts is not None and not 1 <= job.max_attempts <= 1000:
        raise BadArguments(f"max_attempts {job.max_attempts} is not between 1 and 1000")
    if not job.tenant_id or len(job.tenant_id) > 200:
        raise BadArguments("tenant_id must be 1 to 200 characters")
