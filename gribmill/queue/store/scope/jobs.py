"""The jobs, job groups and templates of one tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import GroupNotFound, JobNotFound, TemplateNotFound
from gribmill.queue.model import (
    Enqueued,
    GroupMode,
    GroupProgress,
    Job,
    JobGroup,
    JobTemplate,
    NewJob,
    NewTemplate,
    OnGroupFailure,
)
from gribmill.queue.store.jobs.groups import GroupCancelled, Groups, find_group
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.store.jobs.listing import Dependency, History, JobFilter, Page, Retried, Sibling
from gribmill.queue.store.jobs.readiness import Readiness
from gribmill.queue.store.scope.rules import TenantRules
from gribmill.queue.store.types.templates import Templates, TemplateUse, find_template

RelativeT = TypeVar("RelativeT", Sibling, Retried, Dependency)
RESERVED = "reserved"


class _Owned(NamedTuple):
    id: int


class TenantJobs:
    """The jobs of one tenant. The id of another tenant's job is reported as not found."""

    def __init__(self, jobs: Jobs, tenant_id: str, everybody: Jobs, rules: TenantRules) -> None:
        """`everybody`: the jobs of all tenants, because the limits of a type count all of them."""
        self._rules = rules
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
        self._check_move(job_id, other_id)
        self._jobs.move_before(job_id, other_id)

    def move_after(self, job_id: int, other_id: int) -> None:
        self._check_move(job_id, other_id)
        self._jobs.move_after(job_id, other_id)

    def _check_move(self, job_id: int, other_id: int) -> None:
        """A job takes the priority of the one that it is moved to."""
        job, other = self.get(job_id), self.get(other_id)
        if job.priority != other.priority:
            self._rules.check_priority(other.priority)

    def set_priority(self, job_id: int, priority: int) -> None:
        self.get(job_id)
        self._rules.check_priority(priority)
        self._jobs.set_priority(job_id, priority)

    def mine(self, job: NewJob) -> NewJob:
        """The job for this tenant; raises if it refers to objects of others, or is for operators."""
        self._rules.check_type(self._jobs.registry, job.type)
        self._rules.check_priority(job.priority)
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


class TenantGroups:
    """Names are unique per tenant; other tenants may use the same ones."""

    def __init__(self, groups: Groups, jobs: TenantJobs, tenant_id: str) -> None:
        self._groups = groups
        self._jobs = jobs
        self._tenant_id = tenant_id

    def open(
        self,
        name: str,
        *,
        mode: GroupMode | None = None,
        on_failure: OnGroupFailure | None = None,
        created_by: str | None = None,
    ) -> JobGroup:
        mine = self._tenant_id
        return self._groups.open(name, mode=mode, on_failure=on_failure, tenant_id=mine, created_by=created_by)

    def add(self, group_id: int, jobs: Iterable[NewJob]) -> Sequence[Enqueued]:
        self.get(group_id)
        return self._groups.add(group_id, [self._jobs.mine(replace(job, group_id=None)) for job in jobs])

    def find(self, name: str) -> JobGroup:
        return self._groups.find(name, self._tenant_id)

    def get(self, group_id: int) -> JobGroup:
        group = self._groups.get(group_id)
        if group.tenant_id != self._tenant_id:
            raise GroupNotFound(f"there is no group {group_id}; it may have been pruned")
        return group

    def list(self, *, limit: int = 50, before: int | None = None) -> Sequence[GroupProgress]:
        return self._groups.list(self._tenant_id, limit=limit, before=before)

    def progress(self, group_id: int) -> GroupProgress:
        self.get(group_id)
        return self._groups.progress(group_id)

    def counts(self, group_id: int) -> Mapping[tuple[str, str], int]:
        self.get(group_id)
        return self._groups.counts(group_id)

    def cancel(self, group_id: int, reason: str = "the group was cancelled") -> GroupCancelled:
        self.get(group_id)
        return self._groups.cancel(group_id, reason)

    def resume(self, group_id: int) -> None:
        self.get(group_id)
        self._groups.resume(group_id)

    def retry(self, group_id: int, *, cancelled: bool = False, created_by: str | None = None) -> Sequence[Enqueued]:
        self.get(group_id)
        return self._groups.retry(group_id, cancelled=cancelled, created_by=created_by)


class TenantTemplates:
    """Names are unique per tenant; other tenants may use the same ones."""

    def __init__(self, templates: Templates, tenant_id: str, rules: TenantRules) -> None:
        self._templates = templates
        self._tenant_id = tenant_id
        self._rules = rules

    def add(self, new: NewTemplate) -> JobTemplate:
        self._rules.check_type(self._templates.registry, new.type)
        self._rules.check_priority(new.priority)
        return self._templates.add(replace(new, tenant_id=self._tenant_id))

    def list(self) -> Sequence[JobTemplate]:
        return self._templates.list(self._tenant_id)

    def get(self, name: str) -> JobTemplate:
        return self._templates.get(name, self._tenant_id)

    def use(self, name: str) -> TemplateUse:
        return self._templates.use(name, self._tenant_id)

    def edit(self, name: str, /, **changes: Any) -> JobTemplate:
        self._rules.check_type(self._templates.registry, self.get(name).type)
        self._rules.check_priority(changes.get("priority"))
        return self._templates.edit(name, self._tenant_id, **changes)

    def remove(self, name: str) -> None:
        self._templates.remove(name, self._tenant_id)

    def job(self, name: str, args: Mapping[str, Any] | None = None) -> NewJob:
        return self._templates.job(name, self._tenant_id, args)
