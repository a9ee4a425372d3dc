"""One tenant's view of the queue: jobs, triggers and figures of others do not exist in it.

For layers that act on behalf of a tenant, such as an HTTP API: they hold one of these and never a Store, so no call can
forget the tenant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from gribmill.database.protocol import Database
from gribmill.queue.errors import EventNotFound, JobNotFound, TemplateNotFound, TriggerNotFound
from gribmill.queue.job_type import Registry
from gribmill.queue.model import (
    Enqueued,
    Fired,
    Job,
    JobTemplate,
    NewJob,
    NewTemplate,
    NewTrigger,
    PublishedEvent,
    Tenant,
    Trigger,
)
from gribmill.queue.store.events.events import Events
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.store.jobs.listing import Dependency, History, JobFilter, Page, Retried, Sibling
from gribmill.queue.store.jobs.rates import Throughput
from gribmill.queue.store.jobs.readiness import Readiness
from gribmill.queue.store.tenants import Tenants
from gribmill.queue.store.types.templates import Templates, TemplateUse, find_template
from gribmill.queue.store.types.types import Types, TypeStats

RelativeT = TypeVar("RelativeT", Sibling, Retried, Dependency)


class _Owned(NamedTuple):
    id: int


class TenantJobs:
    """The jobs of one tenant. The id of another's job is as unknown as one that was never given out."""

    def __init__(self, jobs: Jobs, tenant_id: str) -> None:
        self._jobs = jobs
        self._tenant_id = tenant_id

    def enqueue(self, job: NewJob) -> Enqueued:
        return self._jobs.enqueue(self._mine(job))

    def enqueue_many(self, jobs: Iterable[NewJob]) -> Sequence[Enqueued]:
        return self._jobs.enqueue_many([self._mine(job) for job in jobs])

    def get(self, job_id: int) -> Job:
        job = self._jobs.get(job_id)
        if job.tenant_id != self._tenant_id:
            raise _unknown(job_id)
        return job

    def list(self, wanted: JobFilter | None = None, *, limit: int = 50, before: int | None = None) -> Page:
        mine = replace(wanted or JobFilter(), tenant_id=self._tenant_id)
        return self._jobs.list(mine, limit=limit, before=before)

    def upcoming(self, type_key: str | None = None, *, limit: int = 50) -> tuple[Job, ...]:
        return self._jobs.upcoming(type_key, tenant_id=self._tenant_id, limit=limit)

    def readiness(self) -> Readiness:
        """What keeps pending jobs from starting now: this holds for types, and so for every tenant."""
        return self._jobs.readiness()

    def history(self, job_id: int) -> History:
        """Without relatives that belong to others."""
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

    def _mine(self, job: NewJob) -> NewJob:
        if strange := sorted({*job.after} - self._owned({*job.after})):
            raise JobNotFound(f"the job would wait on job {strange[0]}, which does not exist")
        if job.template_id is not None and not self._owns_template(job.template_id):
            raise TemplateNotFound(f"there is no template with the id {job.template_id}")
        return replace(job, tenant_id=self._tenant_id)

    def _owns_template(self, template_id: int) -> bool:
        with self._jobs.database.read() as tx:
            found = find_template(tx, template_id)
        return found is not None and found.tenant_id == self._tenant_id

    def _owned(self, ids: set[int]) -> set[int]:
        if not ids:
            return set()
        with self._jobs.database.read() as tx:
            params = {"ids": sorted(ids), "tenant_id": self._tenant_id}
            return {one.id for one in tx.query(_Owned, "tenants/owned_jobs", params)}


class TenantTemplates:
    """The templates of one tenant."""

    def __init__(self, templates: Templates, tenant_id: str) -> None:
        self._templates = templates
        self._tenant_id = tenant_id

    def add(self, new: NewTemplate) -> JobTemplate:
        return self._templates.add(replace(new, tenant_id=self._tenant_id))

    def list(self) -> Sequence[JobTemplate]:
        return self._templates.list(self._tenant_id)

    def get(self, name: str) -> JobTemplate:
        return self._templates.get(name, self._tenant_id)

    def use(self, name: str) -> TemplateUse:
        return self._templates.use(name, self._tenant_id)

    def edit(self, name: str, /, **changes: Any) -> JobTemplate:
        return self._templates.edit(name, self._tenant_id, **changes)

    def remove(self, name: str) -> None:
        self._templates.remove(name, self._tenant_id)

    def job(self, name: str, args: Mapping[str, Any] | None = None) -> NewJob:
        return self._templates.job(name, self._tenant_id, args)


class TenantTriggers:
    """The triggers of one tenant."""

    def __init__(self, triggers: Triggers, tenant_id: str) -> None:
        self._triggers = triggers
        self._tenant_id = tenant_id

    def add(self, new: NewTrigger) -> Trigger:
        return self._triggers.add(replace(new, tenant_id=self._tenant_id))

    def list(self) -> Sequence[Trigger]:
        return self._triggers.list(self._tenant_id)

    def get(self, trigger_id: int) -> Trigger:
        trigger = self._triggers.get(trigger_id)
        if trigger.tenant_id != self._tenant_id:
            raise TriggerNotFound(f"there is no trigger {trigger_id}")
        return trigger

    def set_enabled(self, trigger_id: int, *, enabled: bool) -> Trigger:
        self.get(trigger_id)
        return self._triggers.set_enabled(trigger_id, enabled=enabled)

    def remove(self, trigger_id: int) -> None:
        self.get(trigger_id)
        self._triggers.remove(trigger_id)


class TenantEvents:
    """The events of one tenant."""

    def __init__(self, events: Events, tenant_id: str) -> None:
        self._events = events
        self._tenant_id = tenant_id

    def emit(self, name: str, payload: Mapping[str, Any], *, event_id: str | None = None) -> Sequence[Fired]:
        return self._events.emit(name, payload, tenant_id=self._tenant_id, event_id=event_id)

    def get(self, event_id: int) -> PublishedEvent:
        event = self._events.get(event_id)
        if event.tenant_id != self._tenant_id:
            raise EventNotFound(f"there is no event {event_id}; it may have been pruned")
        return event


class TenantStore:
    """Everything that a tenant may see and do."""

    def __init__(self, database: Database, registry: Registry, name: str) -> None:
        self.name = name
        self.jobs = TenantJobs(Jobs(database, registry), name)
        self.templates = TenantTemplates(Templates(database, registry), name)
        triggers = Triggers(database, registry)
        self.triggers = TenantTriggers(triggers, name)
        self.events = TenantEvents(Events(database, registry, triggers, Webhooks(database, registry)), name)
        self._types = Types(database, registry)
        self._tenants = Tenants(database, registry)

    def tenant(self) -> Tenant:
        return self._tenants.get(self.name)

    def stats(self) -> Sequence[TypeStats]:
        return self._types.stats(self.name)

    def rates(self) -> Mapping[str, Throughput]:
        return self._types.rates(self.name)


def _of(mine: set[int], relatives: tuple[RelativeT, ...]) -> tuple[RelativeT, ...]:
    return tuple(one for one in relatives if one.id in mine)


def _unknown(job_id: int) -> JobNotFound:
    return JobNotFound(f"there is no job {job_id}; it may have been pruned")
