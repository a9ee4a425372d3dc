"""The routers of the queue's API. Fixed paths come before parameterized ones, because the first match wins."""

from __future__ import annotations

from gribmill.server.api import bulk_routes, job_actions
from gribmill.server.api.audit_routes import router as audit
from gribmill.server.api.definition_routes import router as definitions
from gribmill.server.api.event_routes import router as events
from gribmill.server.api.group_routes import router as groups
from gribmill.server.api.job_routes import router as jobs
from gribmill.server.api.operation_routes import operations, reservations, workers
from gribmill.server.api.template_routes import router as templates
from gribmill.server.api.tenant_routes import router as tenants
from gribmill.server.api.token_routes import router as tokens
from gribmill.server.api.trigger_routes import router as triggers
from gribmill.server.api.webhook_routes import router as webhooks
from gribmill.server.api.worker_routes import router as worker
from gribmill.server.router import SecuredRouter

# Imported for their side effect: they add routes to the jobs router.
_ON_JOBS = (bulk_routes, job_actions)

QUEUE_ROUTERS: tuple[SecuredRouter, ...] = (
    triggers,
    jobs,
    definitions,
    groups,
    templates,
    worker,
    workers,
    reservations,
    events,
    webhooks,
    tenants,
    tokens,
    audit,
    operations,
)
