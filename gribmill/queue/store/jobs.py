"""Jobs: put in, listed, moved, cancelled, retried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import NotAllowed
from gribmill.queue.model import Enqueued, Job, NewJob, PlacedJob
from gribmill.queue.store.base import ID_LIMIT, get_job
from gribmill.queue.store.listing import JobListing
from gribmill.queue.store.positions import GAP, ahead_of, behind, renumbered
from gribmill.queue.store.prepare import check_priority, prepare, refuse_inactive

# A longer transaction would keep claims waiting.
CHUNK = 1000
# Positions grow by 100 with each job while one is parked. Renumbering more jobs at once would keep claims waiting.
FARTHEST_POSITION = 1_000_000
MOST_RENUMBERED = 20_000


class _Found(NamedTuple):
    id: int


class _Priority(NamedTuple):
    priority: int


class _PositionRange(NamedTuple):
    first: int | None
    last: int | None


class Jobs(JobListing):
    """Arguments are checked before anything is written. Finished jobs are never rewritten: a retry is a new job."""

    def enqueue(self, job: NewJob) -> Enqueued:
        """The job's id; an equal active job's id when it deduplicates."""
        self.registry.refresh()
        prepared = prepare(self.registry, job)
        refuse_inactive(self.registry, {job.type})
        made = self.database.insert_job(prepared)
        self.database.announce()
        return made

    def enqueue_many(self, jobs: Iterable[NewJob]) -> list[Enqueued]:
        """All are checked first; then written a thousand to a transaction, in order."""
        self.registry.refresh()
        prepared = [prepare(self.registry, job) for job in jobs]
        refuse_inactive(self.registry, {job.type for job in prepared})
        rest = iter(prepared)
        results: list[Enqueued] = []
        while chunk := [*islice(rest, CHUNK)]:
            with self.database.write() as tx:
                results += tx.insert_jobs(chunk)
            self.database.announce()
        return results

    def check(self, job: NewJob) -> None:
        """Refuse what `enqueue` would refuse; nothing is written."""
        self.registry.refresh()
        prepare(self.registry, job)
        refuse_inactive(self.registry, {job.type})

    def any_active(self, jobs: Iterable[NewJob]) -> bool:
        """Whether a job that equals one of these, by its dedupe key, is pending or running."""
        prepared = [prepare(self.registry, job) for job in jobs]
        keys = [{"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key} for job in prepared if job.dedupe_key]
        with self.database.read() as tx:
            return any(tx.first(_Found, "jobs/find_active", key) for key in keys)

    def like(self, jobs: Iterable[NewJob]) -> Sequence[Job | None]:
        """For each of these, the stored job that equals it by its dedupe key: an active one, else the last to fail."""
        prepared = [prepare(self.registry, job) for job in jobs]
        with self.database.read() as tx:
            found = [
                tx.first(Job, "jobs/active_like", {"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key})
                for job in prepared
            ]
            keys = [job.dedupe_key for job, known in zip(prepared, found, strict=True) if known is None]
            rows = tx.query(Job, "jobs/failed_like", {"dedupe_keys": keys}) if keys else []
        failed = {(job.tenant_id, job.dedupe_key): job for job in rows}
        return [
            known or failed.get((job.tenant_id, job.dedupe_key)) for job, known in zip(prepared, found, strict=True)
        ]

    # What an operator does

    def cancel(self, job_id: int, reason: str = "cancelled") -> Literal["cancelled", "requested"]:
        """A pending job is cancelled at once; a running one is asked to stop, and its worker stops it."""
        with self.database.write() as tx:
            done = tx.cancel(job_id, reason) if 0 < job_id < ID_LIMIT else None
            if done is None:
                raise NotAllowed(f"job {job_id} has ended already ({get_job(tx, job_id).status})")
        self.database.announce()
        return done

    def retry(self, job_id: int, *, created_by: str | None = None) -> Enqueued:
        """A new job like the finished one. Its earlier retry, or an equal job that is active, is returned instead."""
        with self.database.write() as tx:
            job = get_job(tx, job_id)
            _ = self.registry[job.type]  # a row of a type that is not declared would wait for ever
            made = tx.retry(job_id, created_by)
            if made is None:
                raise NotAllowed(f"job {job_id} is {job.status}: only a finished job can be retried")
        self.database.announce()
        return made

    def run_now(self, job_id: int) -> None:
        """A delayed job becomes eligible at once."""
        with self.database.write() as tx:
            job = get_job(tx, job_id)
            if not tx.change("jobs/run_now", {"job_id": job_id}):
                raise NotAllowed(f"job {job_id} is {job.status}: only a pending job can be run now")
        self.database.announce()

    # Order

    def move_to_front(self, job_id: int) -> None:
        """Ahead of every pending job of its priority."""
        self._move_to_end(job_id, front=True)

    def move_to_back(self, job_id: int) -> None:
        """Behind every pending job of its priority."""
        self._move_to_end(job_id, front=False)

    def move_before(self, job_id: int, other_id: int) -> None:
        """Directly ahead of another pending job, taking over its priority."""
        self._move_beside(job_id, other_id, ahead_of, "go ahead of")

    def move_after(self, job_id: int, other_id: int) -> None:
        """Directly behind another pending job, taking over its priority."""
        self._move_beside(job_id, other_id, behind, "go behind")

    def set_priority(self, job_id: int, priority: int) -> None:
        """Higher runs first. The job goes to its natural place among the new priority."""
        check_priority(priority)
        with self.database.write() as tx:
            get_job(tx, job_id)
            if not tx.change("order/set", {"job_id": job_id, "position": 0, "priority": priority}):
                raise _not_pending(tx, job_id)

    def renumber(self, priority: int) -> int:
        """Number the moved jobs of a priority evenly again, order unchanged. How many were renumbered."""
        with self.database.write() as tx:
            return tx.rearrange(priority, renumbered, moved_only=True)

    def renumber_far(self) -> int:
        """Number the priorities evenly again whose positions have grown beyond a million. How many jobs it was."""
        with self.database.read() as tx:
            far = tx.query(_Priority, "order/far", {"farthest": FARTHEST_POSITION, "most": MOST_RENUMBERED})
        return sum(self.renumber(one.priority) for one in far)

    def _move_beside(
        self, job_id: int, other_id: int, arrange: Callable[[int, int, Sequence[PlacedJob]], dict[int, int]], verb: str
    ) -> None:
        if job_id == other_id:
            raise NotAllowed(f"job {job_id} cannot {verb} itself")
        with self.database.write() as tx:
            if get_job(tx, job_id).status != "pending":
                raise _not_pending(tx, job_id)
            priority = get_job(tx, other_id).priority
            if not tx.rearrange(priority, lambda queue: arrange(other_id, job_id, queue)):
                raise _not_pending(tx, other_id)

    def _move_to_end(self, job_id: int, *, front: bool) -> None:
        with self.database.write() as tx:
            job = get_job(tx, job_id)
            position = _front(tx, job) if front else _back(tx, job)
            if not tx.change("order/set", {"job_id": job_id, "position": position, "priority": job.priority}):
                raise _not_pending(tx, job_id)


def _front(tx: Snapshot, job: Job) -> int:
    return min(_range(tx, job).first or 0, 0) - GAP


def _back(tx: Snapshot, job: Job) -> int:
    return max(_range(tx, job).last or 0, 0) + GAP


def _range(tx: Snapshot, job: Job) -> _PositionRange:
    found = tx.first(_PositionRange, "order/range", {"priority": job.priority, "job_id": job.id})
    return found or _PositionRange(None, None)


def _not_pending(tx: Snapshot, job_id: int) -> NotAllowed:
    status = get_job(tx, job_id).status
    return NotAllowed(f"job {job_id} is {status}: only pending jobs have a place in the queue")
