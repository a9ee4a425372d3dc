"""Jobs: enqueueing, listing, moving, cancelling, retrying."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.queue.errors import NotAllowed
from gribmill.queue.job_type import check_priority
from gribmill.queue.model import DEFAULT_TENANT, Enqueued, Job, NewJob, PlacedJob, PreparedJob
from gribmill.queue.store.base import ID_LIMIT, get_job, retried
from gribmill.queue.store.jobs.listing import JobListing
from gribmill.queue.store.jobs.positions import GAP, ahead_of, behind, renumbered
from gribmill.queue.store.tenants import refuse_disabled

# A longer transaction would delay claims.
CHUNK = 1000
ACTIVITY_SECONDS = 1.0
# While a job is parked, positions grow by 100 with each new job. Renumbering more jobs in one go would delay claims.
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
    """Arguments are validated before anything is written. Finished jobs never change: a retry is a new job."""

    _accepted: frozenset[str] | set[str] = frozenset({DEFAULT_TENANT})
    _tenants_looked_up = -math.inf

    @retried
    def enqueue(self, job: NewJob) -> Enqueued:
        """Enqueue a job. Returns the id of an equal active job instead, if the job deduplicates."""
        self.registry.refresh()
        prepared = self.registry.prepare(job)
        self.registry.refuse_inactive({job.type})
        if prepared.tenant_id == DEFAULT_TENANT and prepared.requested_by is None:
            made = self.database.insert_job(prepared)
        else:
            self._refuse_tenants(_tenants([prepared]))
            with self.database.write() as tx:
                (made,) = self._insert(tx, [prepared])
        self.database.announce()
        return made

    def enqueue_many(self, jobs: Iterable[NewJob]) -> list[Enqueued]:
        """Enqueue jobs in order. Validates all of them first, then writes a thousand per transaction."""
        self.registry.refresh()
        prepared = [self.registry.prepare(job) for job in jobs]
        self.registry.refuse_inactive({job.type for job in prepared})
        self._refuse_tenants(_tenants(prepared))
        rest = iter(prepared)
        results: list[Enqueued] = []
        while chunk := [*islice(rest, CHUNK)]:
            results += self._insert_chunk(chunk)
            self.database.announce()
        return results

    @retried
    def _insert_chunk(self, jobs: Sequence[PreparedJob]) -> Sequence[Enqueued]:
        with self.database.write() as tx:
            return self._insert(tx, jobs)

    def check(self, job: NewJob) -> None:
        """Raise the errors that `enqueue` would raise, without writing anything."""
        self.registry.refresh()
        prepared = self.registry.prepare(job)
        self.registry.refuse_inactive({job.type})
        self._refuse_tenants(_tenants([prepared]))

    def _insert(self, tx: Transaction, jobs: Sequence[PreparedJob]) -> Sequence[Enqueued]:
        """Insert all of them, or none if they would exceed a tenant's limits."""
        made = tx.insert_jobs(jobs)
        if _tenants(jobs) != {DEFAULT_TENANT}:
            created = _tenants([job for job, new in zip(jobs, made, strict=True) if new.created])
            for tenant_id in created - {DEFAULT_TENANT}:
                tx.check_tenant_limits(tenant_id)
        return made

    def any_active(self, jobs: Iterable[NewJob]) -> bool:
        """Whether a job with the dedupe key of one of these is pending or running."""
        prepared = [self.registry.prepare(job) for job in jobs]
        keys = [{"tenant_id": job.tenant_id, "dedupe_key": job.dedupe_key} for job in prepared if job.dedupe_key]
        with self.database.read() as tx:
            return any(tx.first(_Found, "jobs/find_active", key) for key in keys)

    def like(self, jobs: Iterable[NewJob]) -> Sequence[Job | None]:
        """For each of these, the stored job with the same dedupe key: an active one, else the last that failed.

        Only the last 5000 failures are searched.
        """
        keys = [(job.tenant_id, self.registry.dedupe_key_of(job)) for job in jobs]
        of_tenants: dict[str, list[str]] = {}
        for tenant_id, key in keys:
            if key is not None:
                of_tenants.setdefault(tenant_id, []).append(key)
        with self.database.read() as tx:
            rows = [
                job
                for tenant_id, wanted in of_tenants.items()
                for job in tx.query(Job, "jobs/active_like", {"tenant_id": tenant_id, "dedupe_keys": wanted})
            ]
            found = {(job.tenant_id, job.dedupe_key): job for job in rows}
            lost = [key for tenant_id, key in keys if key is not None and (tenant_id, key) not in found]
            rows = tx.query(Job, "jobs/failed_like", {"dedupe_keys": lost}) if lost else []
        failed = {(job.tenant_id, job.dedupe_key): job for job in rows}
        return [found.get(key) or failed.get(key) for key in keys]

    def _refuse_tenants(self, names: set[str]) -> None:
        """Refuse unknown and disabled tenants. They are read at most once a second, and again for an unknown name."""
        now = time.monotonic()
        if now >= self._tenants_looked_up + ACTIVITY_SECONDS:
            self._accepted = {DEFAULT_TENANT}
            self._tenants_looked_up = now
        if unseen := sorted(names - self._accepted):
            with self.database.read() as tx:
                self._accepted |= {refuse_disabled(tx, name).name for name in unseen}

    # Operator actions

    @retried
    def cancel(self, job_id: int, reason: str = "cancelled") -> Literal["cancelled", "requested"]:
        """Cancel a pending job at once, or ask the worker of a running one to stop it."""
        with self.database.write() as tx:
            done = tx.cancel(job_id, reason) if 0 < job_id < ID_LIMIT else None
            if done is None:
                raise NotAllowed(f"job {job_id} has ended already ({get_job(tx, job_id).status})")
        self.database.announce()
        return done

    @retried
    def retry(self, job_id: int, *, created_by: str | None = None) -> Enqueued:
        """Enqueue a copy of a finished job, or return its existing retry or an equal active job."""
        self.registry.refresh()
        with self.database.write() as tx:
            job = get_job(tx, job_id)
            refuse_disabled(tx, job.claimant)
            self.registry.refuse_inactive({job.type})
            made = tx.retry(job_id, created_by)
            if made is not None and made.created and job.claimant != DEFAULT_TENANT:
                tx.check_tenant_limits(job.claimant)
            if made is None:
                raise NotAllowed(f"job {job_id} is {job.status}: only a finished job can be retried")
        self.database.announce()
        return made

    @retried
    def run_now(self, job_id: int) -> None:
        """Make a delayed job eligible now."""
        with self.database.write() as tx:
            job = get_job(tx, job_id)
            if not tx.change("jobs/run_now", {"job_id": job_id}):
                raise NotAllowed(f"job {job_id} is {job.status}: only a pending job can be run now")
        self.database.announce()

    @retried
    def change_args(self, job_id: int, change: Callable[[dict[str, Any]], Mapping[str, Any] | None]) -> bool:
        """Change the arguments of a job that has not started.

        Returns False if it has started or `change` returns None, and True even if the arguments stay the same.
        """
        with self.database.write() as tx:
            job = tx.first(Job, "jobs/lock", {"job_id": job_id})
            if job is None or not isinstance(job.args, dict):
                return False
            args = change(dict(job.args))
            if args is None or args == job.args:
                return args is not None
            kind = self.registry[job.type]
            text, model = kind.encode(args)
            if kind.dedupe and kind.dedupe_key_of(text, job.tenant_id) != job.dedupe_key:
                raise NotAllowed(f"the arguments of job {job_id} are part of its dedupe key")
            if kind.group_by and kind.group_by(model) != job.group_key:
                raise NotAllowed(f"the arguments of job {job_id} are part of its group key")
            return tx.change("jobs/replace_args", {"job_id": job_id, "args": text}) > 0

    # Order

    def move_to_front(self, job_id: int) -> None:
        """Move a job ahead of every pending job of its priority."""
        self._move_to_end(job_id, front=True)

    def move_to_back(self, job_id: int) -> None:
        """Move a job behind every pending job of its priority."""
        self._move_to_end(job_id, front=False)

    def move_before(self, job_id: int, other_id: int) -> None:
        """Move a job directly ahead of another pending job, with that job's priority."""
        self._move_beside(job_id, other_id, ahead_of, "go ahead of")

    def move_after(self, job_id: int, other_id: int) -> None:
        """Move a job directly behind another pending job, with that job's priority."""
        self._move_beside(job_id, other_id, behind, "go behind")

    @retried
    def set_priority(self, job_id: int, priority: int) -> None:
        """Set the priority; higher runs first. The job takes its natural place within the new priority."""
        check_priority(priority)
        with self.database.write() as tx:
            get_job(tx, job_id)
            if not tx.change("order/set", {"job_id": job_id, "position": 0, "priority": priority}):
                raise _not_pending(tx, job_id)

    @retried
    def renumber(self, priority: int) -> int:
        """Renumber the moved jobs of a priority evenly, keeping their order; returns how many."""
        with self.database.write() as tx:
            return tx.rearrange(priority, renumbered, moved_only=True)

    def renumber_far(self) -> int:
        """Renumber priorities whose positions have grown beyond a million; returns the number of jobs."""
        with self.database.read() as tx:
            far = tx.query(_Priority, "order/far", {"farthest": FARTHEST_POSITION, "most": MOST_RENUMBERED})
        return sum(self.renumber(one.priority) for one in far)

    @retried
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

    @retried
    def _move_to_end(self, job_id: int, *, front: bool) -> None:
        with self.database.write() as tx:
            job = get_job(tx, job_id)
            position = _front(tx, job) if front else _back(tx, job)
            if not tx.change("order/set", {"job_id": job_id, "position": position, "priority": job.priority}):
                raise _not_pending(tx, job_id)


def _front(tx: Transaction, job: Job) -> int:
    return min(_range(tx, job).first or 0, 0) - GAP


def _back(tx: Transaction, job: Job) -> int:
    return max(_range(tx, job).last or 0, 0) + GAP


def _range(tx: Transaction, job: Job) -> _PositionRange:
    with tx.across_tenants():
        found = tx.first(_PositionRange, "order/range", {"priority": job.priority, "job_id": job.id})
    return found or _PositionRange(None, None)


def _not_pending(tx: Snapshot, job_id: int) -> NotAllowed:
    status = get_job(tx, job_id).status
    return NotAllowed(f"job {job_id} is {status}: only pending jobs have a place in the queue")


def _tenants(jobs: Iterable[PreparedJob]) -> set[str]:
    """The tenants whose limits these jobs count against."""
    return {job.requested_by or job.tenant_id for job in jobs}
