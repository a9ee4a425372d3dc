"""The regions to cut from each file: those of [chain] and of every tenant."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gribmill.queue.model import Tenant
from gribmill.queue.store.tenants import Tenants

if TYPE_CHECKING:
    from gribmill.pipeline.context import Context

log = logging.getLogger("gribmill.tenants")


def wanted_regions(context: Context) -> tuple[str, ...]:
    """Each region once, without those of tenants that are disabled or over their disk limit."""
    tenants = all_tenants(context)
    wanted = [*context.settings.chain.regions]
    for tenant in tenants:
        if not tenant.regions or not tenant.is_enabled or _is_full(context, tenant, tenants):
            continue
        unknown = [name for name in tenant.regions if name not in context.regions]
        if unknown:
            log.warning("tenant %s: there is no region %s in these settings", tenant.name, ", ".join(unknown))
        wanted += [name for name in tenant.regions if name in context.regions]
    return tuple(dict.fromkeys(wanted))


def own_bytes(context: Context, tenant: Tenant, tenants: Iterable[Tenant]) -> int:
    """The size of the tiles that only this tenant requested."""
    own = own_regions(context, tenant, tenants)
    return context.catalogue.bytes_of(own) if own else 0


def own_regions(context: Context, tenant: Tenant, tenants: Iterable[Tenant]) -> list[str]:
    """The regions that only this tenant requested: neither in [chain] nor of another tenant."""
    others = {name for one in tenants if one.name != tenant.name and one.is_enabled for name in one.regions}
    return [name for name in tenant.regions if name not in others and name not in context.settings.chain.regions]


def all_tenants(context: Context) -> Sequence[Tenant]:
    return _tenants(context).list()


def tenant_named(context: Context, name: str) -> Tenant:
    """The tenant, or TenantNotFound."""
    return _tenants(context).get(name)


def why_full(context: Context, tenant: Tenant, tenants: Sequence[Tenant] | None = None) -> str | None:
    """Why no more tiles are cut for the tenant; None while it is below its limit."""
    limit = tenant.max_disk_bytes
    if limit is None:
        return None
    used = own_bytes(context, tenant, all_tenants(context) if tenants is None else tenants)
    if used < limit:
        return None
    return (
        f"tenant {tenant.name}: its own tiles take {used} bytes, and its limit is {limit} (max_disk_bytes):"
        " its regions are not cut"
    )


def _is_full(context: Context, tenant: Tenant, tenants: Sequence[Tenant]) -> bool:
    reason = why_full(context, tenant, tenants)
    if reason is not None:
        log.warning("%s", reason)
    return reason is not None


def _tenants(context: Context) -> Tenants:
    return Tenants(context.catalogue.database, context.jobs.registry)
