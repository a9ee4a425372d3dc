"""The jobs of one tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeVar

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import GroupNotFound, JobNotFound, TemplateNotFound
from gribmill.queue.model import Enqueued, Job, JobGroup, JobTemplate, NewJob
from gribmill.queue.store.jobs.groups import find_group
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.store.jobs.listing import Dependency, History, JobFilter, Page, Retried, Sibling
from gribmill.queue.store.jobs.readiness import Readiness
from gribmill.queue.store.types.templates import find_template

RelativeT = TypeVar("RelativeT", Sibling, Retried, Dependency)
RESERVED = "reserved"


class _Owned(NamedTuple):
    id: int


class TenantJobs:
    """The jobs of one tenant. The id of another tenant's job is reported as not found."""

    def __init__(self, jobs: Jobs, tenant_id: str, everybody: Jobs) -> None:
        """`everybody`: the jobs of all tenants, because the limits of a type count all of them."""
        self._jobs = jobs
        self._everybody = everybody
        self._tenant_id = tenant_id

    def enqueue(self, job: NewJob) -> Enqueued:
        return self._jobs.enqueue(self.mine(job))

    def enqueue_many(self, jobs: Iterable[NewJob]) -> Sequence[Enqueued]:
        return self._jobs.enqueue_many([self.mine(job) for job in jobs])

    def check(self, job: NewJob) -> None:
        self._jobs.check(self.mine(job))

    def get(self, job_id: int) -> Job:
        job = self._jobs.get(job_id)
        if job.tenant_id != self._tenant_id:
            raise JobNotFound(f"there is no job {job_id}; it may have been pruned")
        return job

    def list(
        self, wanted: JobFilter | None = None, *, limit: int = 50, before: int | None = None, oldest: int = 0
    ) -> Page:
        mine = replace(wanted or JobFilter(), tenant_id=self._tenant_id)
        return self._jobs.list(mine, limit=limit, before=before, oldest=oldest)

    def upcoming(self, type_key: str | None = None, *, limit: int = 50) -> tuple[Job, ...]:
        return self._jobs.upcoming(type_key, tenant_id=self._tenant_id, limit=limit)

    def readiness(self) -> Readiness:
        """What keeps pending jobs from starting now, without details of other tenants and of reservation holders."""
        found = self._everybody.readiness()
        return replace(
            found,
            held_tenants={name: why for name, why in found.held_tenants.items() if name == self._tenant_id},
            held_back={**found.held_back, **dict.fromkeys(found.reserved, RESERVED)},
        )

    def history(self, job_id: int) -> History:
        """A job's history, without relatives that belong to other tenants."""
        self.get(job_id)
        found = self._jobs.history(job_id)
        related = (found.siblings, found.chain, found.parents, found.children)
        mine = self._owned({one.id for several in related for one in several})
        return replace(
            found,
            siblings=_of(mine, found.siblings),
            chain=_of(mine, found.chain),
            parents=_of(mine, found.parents),
            children=_of(mine, found.children),
        )

    def progress(self, correlation_id: str) -> dict[tuple[str, str], int]:
        return self._jobs.progress(correlation_id, tenant_id=self._tenant_id)

    def cancel(self, job_id: int, reason: str = "cancelled") -> Literal["cancelled", "requested"]:
        self.get(job_id)
        return self._jobs.cancel(job_id, reason)

    def retry(self, job_id: int, *, created_by: str | None = None) -> Enqueued:
        self.get(job_id)
        return self._jobs.retry(job_id, created_by=created_by)

    def run_now(self, job_id: int) -> None:
        self.get(job_id)
        self._jobs.run_now(job_id)

    def move_to_front(self, job_id: int) -> None:
        self.get(job_id)
        self._jobs.move_to_front(job_id)

    def move_to_back(self, job_id: int) -> None:
        self.get(job_id)
        self._jobs.move_to_back(job_id)

    def move_before(self, job_id: int, other_id: int) -> None:
        self.get(job_id)
        self.get(other_id)
        self._jobs.move_before(job_id, other_id)

    def move_after(self, job_id: int, other_id: int) -> None:
        self.get(job_id)
        self.get(other_id)
        self._jobs.move_after(job_id, other_id)

    def set_priority(self, job_id: int, priority: int) -> None:
        self.get(job_id)
        self._jobs.set_priority(job_id, priority)

    def mine(self, job: NewJob) -> NewJob:
        """The job for this tenant; raises if it refers to objects of others."""
        if strange := sorted({*job.after} - self._owned({*job.after})):
            raise JobNotFound(f"the job would wait on job {strange[0]}, which does not exist")
        if job.template_id is not None and not self._owns(find_template, job.template_id):
            raise TemplateNotFound(f"there is no template with the id {job.template_id}")
        if job.group_id is not None and not self._owns(find_group, job.group_id):
            raise GroupNotFound(f"there is no group {job.group_id}; it may have been pruned")
        return replace(job, tenant_id=self._tenant_id)

    def _owns(self, find: Callable[[Snapshot, int], JobTemplate | JobGroup | None], its_id: int) -> bool:
        with self._jobs.database.read() as tx:
            found = find(tx, its_id)
        return found is not None and found.tenant_id == self._tenant_id

    def _owned(self, ids: set[int]) -> set[int]:
        if not ids:
            return set()
        with self._jobs.database.read() as tx:
            params = {"ids": sorted(ids), "tenant_id": self._tenant_id}
            return {one.id for one in tx.query(_Owned, "tenants/owned_jobs", params)}


def _of(mine: set[int], relatives: tuple[RelativeT, ...]) -> tuple[RelativeT, ...]:
    return tuple(one for one in relatives if one.id in mine)
