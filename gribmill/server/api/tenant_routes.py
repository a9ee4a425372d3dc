"""Tenants: visible to themselves, changed by super admins."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from gribmill.queue.model import NewTenant, Tenant
from gribmill.regions.region import region_named
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.api.values import EditBody, Name, Number, PathName, RequestBody, Text, WholeNumber
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.tenant import TenantView

router = SecuredRouter("/api/v1/tenants", tag="tenants")

Limit = Annotated[WholeNumber, Field(ge=1, le=2**62)]
Days = Annotated[Number, Field(gt=0, le=36_500)]
Regions = Annotated[tuple[Name, ...], Field(max_length=1000)]


class _TenantFields(RequestBody):
    """Null means no limit."""

    title: Annotated[Text, Field(max_length=200)] = ""
    timezone: Name = "UTC"
    regions: Regions = ()
    max_running: Limit | None = None
    max_pending: Limit | None = None
    max_per_minute: Limit | None = None
    max_disk_bytes: Limit | None = None
    keep_days: Days | None = None
    keep_runs: Limit | None = None
    keep_bytes: Limit | None = None


class NewTenantBody(_TenantFields):
    """A tenant to add."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class EditTenantBody(_TenantFields, EditBody):
    """The fields to change; others keep their value."""

    is_enabled: bool = True


def shown(tenant: Tenant) -> dict[str, Any]:
    return TenantView.of(tenant).model_dump()


@router.get("")
async def list_tenants(server: Server, principal: CurrentPrincipal) -> tuple[TenantView, ...]:
    """List the visible tenants: the caller's own, or all."""
    found = await server.run(server.store.tenants.list)
    return tuple(TenantView.of(one) for one in found if principal.tenant_id in (None, one.name))


@router.get("/{name}")
async def show_tenant(name: PathName, server: Server, principal: CurrentPrincipal) -> TenantView:
    """Show a tenant and its limits."""
    if principal.tenant_id not in (None, name):
        raise HttpProblem(404, "there is no such tenant")
    return TenantView.of(await server.run(server.store.tenants.get, name))


@router.post("", status_code=201)
async def create_tenant(body: NewTenantBody, server: Server, change: CurrentChange, response: Response) -> TenantView:
    """Add a tenant."""

    def add() -> Tenant:
        _check_regions(server, body.regions)
        if any(one.name == body.name for one in server.store.tenants.list()):
            raise HttpProblem(409, f"the tenant {body.name} already exists")
        return server.store.tenants.add(NewTenant(**body.model_dump()))

    made = await server.run(add)
    change.tenant_id, change.object, change.after = made.name, f"tenant {made.name}", shown(made)
    response.headers["Location"] = f"/api/v1/tenants/{made.name}"
    return TenantView.of(made)


@router.patch("/{name}")
async def edit_tenant(name: PathName, body: EditTenantBody, server: Server, change: CurrentChange) -> TenantView:
    """Change a tenant. With `is_enabled` false, its jobs are neither accepted nor started."""
    changes = body.given()
    enabled = changes.pop("is_enabled", None)
    if not changes and enabled is None:
        raise HttpProblem(422, "nothing to change: give at least one field")

    def edit() -> tuple[Tenant, Tenant]:
        before = after = server.store.tenants.get(name)
        _check_regions(server, changes.get("regions", ()))
        if changes:
            after = server.store.tenants.edit(name, **changes)
        if enabled is not None:
            after = server.store.tenants.set_enabled(name, enabled=enabled)
        return before, after

    change.tenant_id, change.object = None, f"tenant {name[:100]}"
    before, after = await server.run(edit)
    change.tenant_id, change.before, change.after = before.name, shown(before), shown(after)
    return TenantView.of(after)


def _check_regions(server: Server, names: tuple[str, ...]) -> None:
    for name in names:
        region_named(server.weather.regions, name)
