"""Tenants: adding, changing, disabling. They are never removed, because jobs and tiles refer to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import BadTenant, BadTrigger, NotAllowed, TenantNotFound
from gribmill.queue.model import DEFAULT_TENANT, NewTenant, Tenant
from gribmill.queue.store.base import Facet, retried

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
LONGEST_TITLE = 200
MOST_REGIONS = 1000
MOST = 2**62
# The largest value of each limit.
LIMITS = {
    "max_running": MOST,
    "max_pending": MOST,
    "max_per_minute": MOST,
    "max_disk_bytes": MOST,
    "keep_days": 36_500,
    "keep_runs": MOST,
    "keep_bytes": MOST,
}


class Tenants(Facet):
    """Every job and trigger belongs to a tenant; `global` is the default and always exists."""

    priorities = (-100, 100)
    """The lowest and the highest priority that tenants may give to jobs."""

    @retried
    def add(self, new: NewTenant) -> Tenant:
        """Store a tenant; raises BadTenant if its name is taken or a field is invalid."""
        if not NAME.fullmatch(new.name):
            raise BadTenant(
                f"{new.name[:60]!r} is not a tenant's name: use 1 to 40 lower-case letters, digits, _ and -,"
                " beginning with a letter or a digit"
            )
        _check(new)
        with self.database.write() as tx:
            if not tx.change("tenants/insert", asdict(new)):
                raise BadTenant(f"there is a tenant {new.name} already")
            return get_tenant(tx, new.name)

    def list(self) -> Sequence[Tenant]:
        with self.database.read() as tx:
            return tx.query(Tenant, "tenants/list")

    def get(self, name: str) -> Tenant:
        with self.database.read() as tx:
            return get_tenant(tx, name)

    @retried
    def edit(self, name: str, **changes: Any) -> Tenant:
        """Change the given fields of `NewTenant`, except the name."""
        with self.database.write() as tx:
            tx.hold_edits()
            changed = replace(get_tenant(tx, name), **changes)
            _check(changed)
            tx.change("tenants/update", asdict(changed))
            tenant = get_tenant(tx, name)
        self.database.announce()  # a higher limit may let jobs start
        return tenant

    @retried
    def set_enabled(self, name: str, *, enabled: bool) -> Tenant:
        """Enable or disable. A disabled tenant's new jobs are refused and pending ones wait; running jobs continue."""
        with self.database.write() as tx:
            tx.hold_edits()
            tenant = get_tenant(tx, name)
            if name == DEFAULT_TENANT and not enabled:
                raise NotAllowed(f"{DEFAULT_TENANT} owns the shared chain and cannot be disabled")
            if tenant.is_enabled != enabled:
                tx.change("tenants/update", asdict(replace(tenant, disabled_at=None if enabled else tx.now)))
                tenant = get_tenant(tx, name)
        self.database.announce()
        return tenant


def get_tenant(tx: Snapshot, name: str) -> Tenant:
    """The tenant, or TenantNotFound."""
    tenant = tx.first(Tenant, "tenants/get", {"name": name})
    if tenant is None:
        raise TenantNotFound(f"there is no tenant {name[:60]!r}; `gribmill tenants list` shows them all")
    return tenant


def refuse_disabled(tx: Snapshot, name: str) -> Tenant:
    """The tenant; raises if it does not exist or is disabled."""
    tenant = get_tenant(tx, name)
    if not tenant.is_enabled:
        raise NotAllowed(f"tenant {name} is disabled: its jobs are neither accepted nor started")
    return tenant


def _check(tenant: NewTenant) -> None:
    # Imported here: few processes need time zones.
    from gribmill.queue.cron import check_zone

    if len(tenant.title) > LONGEST_TITLE or not (tenant.title or " ").isprintable():
        raise BadTenant(f"a title has at most {LONGEST_TITLE} printable characters")
    try:
        check_zone(tenant.timezone)
    except BadTrigger as error:
        raise BadTenant(str(error)) from None
    if len(tenant.regions) > MOST_REGIONS or not all(NAME.fullmatch(region) for region in tenant.regions):
        raise BadTenant(f"regions are at most {MOST_REGIONS} names such as ne")
    for name, most in LIMITS.items():
        value = getattr(tenant, name)
        if value is not None and tenant.name == DEFAULT_TENANT:
            raise BadTenant(f"{DEFAULT_TENANT} owns the shared chain and has no limits")
        if value is not None and not 0 < value <= most:
            hint = "use a positive number" if value <= 0 else f"the most is {most}"
            raise BadTenant(f"{name} {value} is not a limit: {hint}")
