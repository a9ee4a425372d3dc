"""The tenant that a request applies to: the caller's, or for a super admin the requested one or all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from gribmill.queue.model import DEFAULT_TENANT
from gribmill.queue.store import Store
from gribmill.queue.store.scope import TenantStore
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import HttpProblem

TenantParameter = Annotated[
    str | None,
    Query(max_length=200, description="The tenant, for a super admin; by default all, or `global` for new objects."),
]


@dataclass(frozen=True, slots=True)
class TenantScope:
    """The scope of a request; `tenant_id` is None for all tenants."""

    server: ServerContext
    principal: Principal
    tenant_id: str | None

    def acting(self) -> Store | TenantStore:
        """The queue as the caller sees it. May read the database, so call it in a worker thread."""
        store = self.server.store
        if self.tenant_id is None:
            return store
        return store.for_tenant(self.tenant_id, by_operator=self.principal.tenant_id is None)

    @property
    def new_tenant_id(self) -> str:
        """The tenant of new objects."""
        return self.tenant_id or DEFAULT_TENANT

    @property
    def by(self) -> str:
        """The creator, as stored in rows."""
        return self.principal.name


async def tenant_scope(server: Server, principal: CurrentPrincipal, tenant_id: TenantParameter = None) -> TenantScope:
    """The scope of a request. To a caller bound to one tenant, other tenants do not exist."""
    if principal.tenant_id is None:
        return TenantScope(server, principal, tenant_id)
    if tenant_id not in (None, principal.tenant_id):
        raise HttpProblem(404, "there is no such tenant")
    return TenantScope(server, principal, principal.tenant_id)


Scope = Annotated[TenantScope, Depends(tenant_scope)]
