"""The queue itself: everything that can be done with jobs, on any database."""

from __future__ import annotations

from gribmill.database.protocol import Database, FileDatabase
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Violation
from gribmill.queue.store.base import KnownTypes
from gribmill.queue.store.events.events import Events
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.queue.store.exchange import EffectReader, Exchanges, NoEffects
from gribmill.queue.store.jobs.attempts import Attempts
from gribmill.queue.store.jobs.groups import Groups
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.store.maintenance import Upkeep
from gribmill.queue.store.metrics import MetricReads
from gribmill.queue.store.reservations import Reservations
from gribmill.queue.store.scope import TenantRules, TenantStore
from gribmill.queue.store.tenants import Tenants
from gribmill.queue.store.types.activity import Activity
from gribmill.queue.store.types.definitions import Definitions
from gribmill.queue.store.types.templates import Templates
from gribmill.queue.store.types.types import Types
from gribmill.queue.store.workers import Workers


class Store(Exchanges):
    """One durable priority queue: a facet for each noun, and the exchanges of workers."""

    def __init__(
        self, database: Database, registry: Registry, effects: EffectReader | None = None, *, for_reading: bool = False
    ) -> None:
        """Pass `for_reading` in commands that only read: they start faster."""
        registry = KnownTypes.over(database, registry)
        super().__init__(database, registry, effects or NoEffects())
        self.jobs = Jobs(database, registry)
        self.groups = Groups(database, registry)
        self.attempts = Attempts(database, registry)
        self.templates = Templates(database, registry)
        self.triggers = Triggers(database, registry)
        self.webhooks = Webhooks(database, registry)
        self.events = Events(database, registry, self.triggers, self.webhooks)
        self.reservations = Reservations(database, registry)
        self.workers = Workers(database, registry)
        self.types = Types(database, registry)
        self.activity = Activity(database, registry)
        self.definitions = Definitions(database, registry)
        self.maintenance = Upkeep(database, registry)
        self.tenants = Tenants(database, registry)
        self.metrics = MetricReads(database, registry)
        self.definitions.declare(schemas=not for_reading)

    def for_tenant(self, name: str, *, by_operator: bool = False) -> TenantStore:
        """A handle that sees and changes only what belongs to this tenant; raises TenantNotFound. An operator who acts
        for the tenant may use job types and priorities that the tenant may not."""
        tenant = self.tenants.get(name).name
        rules = TenantRules(*self.tenants.priorities, by_operator=by_operator)
        return TenantStore(self.database, self.registry, self.webhooks, tenant, rules)

    def verify(self) -> list[Violation]:
        """Check all invariants in one snapshot; empty if all hold."""
        with self.database.read() as tx:
            found = tx.violations()
        if isinstance(self.database, FileDatabase):
            found += [Violation("database_sound", None, line) for line in self.database.integrity()]
        return found

    def close(self) -> None:
        self.database.close()


__all__ = [
    "Store",
    "base",
    "events",
    "exchange",
    "jobs",
    "maintenance",
    "metrics",
    "reservations",
    "scope",
    "tenants",
    "types",
    "workers",
]
