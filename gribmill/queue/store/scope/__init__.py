"""One tenant's view of the queue, without anything that belongs to other tenants.

Layers that act on behalf of a tenant, such as the HTTP API, hold a TenantStore instead of a Store, so no call can omit
the tenant. The id of another tenant's job, group or webhook is reported as not found. What affects all tenants
(reservations, pauses, definitions, workers) is for operators and not available here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gribmill.database.protocol import Database
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Tenant
from gribmill.queue.store.events.events import Events
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.queue.store.jobs.groups import Groups
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.store.scope.events import TenantEvents, TenantTriggers, TenantWebhooks
from gribmill.queue.store.scope.jobs import TenantGroups, TenantJobs, TenantTemplates
from gribmill.queue.store.scope.rules import TenantRules
from gribmill.queue.store.tenants import Tenants
from gribmill.queue.store.types.activity import Activity
from gribmill.queue.store.types.templates import Templates
from gribmill.queue.store.types.types import Throughput, Types, TypeStats


class TenantStore:
    """Everything that one tenant may see and do."""

    def __init__(
        self, database: Database, registry: Registry, webhooks: Webhooks, name: str, rules: TenantRules
    ) -> None:
        self.name = name
        everybody = Jobs(database, registry)
        database = database.for_tenant(name)
        self.jobs = TenantJobs(Jobs(database, registry), name, everybody, rules)
        self.groups = TenantGroups(Groups(database, registry), self.jobs, name)
        self.templates = TenantTemplates(Templates(database, registry), name, rules)
        triggers = Triggers(database, registry)
        self.triggers = TenantTriggers(triggers, name, rules)
        webhooks = webhooks.on(database)
        self.events = TenantEvents(Events(database, registry, triggers, webhooks), name)
        self.webhooks = TenantWebhooks(webhooks, self.events, name)
        self.activity = Activity(database, registry, name)
        self._types = Types(database, registry)
        self._tenants = Tenants(database, registry)

    def tenant(self) -> Tenant:
        return self._tenants.get(self.name)

    def stats(self) -> Sequence[TypeStats]:
        return self._types.stats(self.name)

    def rates(self) -> Mapping[str, Throughput]:
        return self._types.rates(self.name)


__all__ = ["TenantRules", "TenantStore"]
