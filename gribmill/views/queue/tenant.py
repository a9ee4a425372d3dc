"""Tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import Tenant


class TenantView(View):
    """A tenant: its time zone, the regions that are cut for it, and its limits (null for no limit)."""

    name: str
    title: str
    timezone: str
    regions: tuple[str, ...]
    max_running: int | None
    max_pending: int | None
    max_per_minute: int | None
    max_disk_bytes: int | None
    keep_days: float | None
    keep_runs: int | None
    keep_bytes: int | None
    is_enabled: bool
    disabled_at: Time | None
    created_at: Time | None
    updated_at: Time | None

    @classmethod
    def of(cls, tenant: Tenant) -> Self:
        return cls.copy_of(tenant)


class TenantDetailView(TenantView):
    """A tenant with its jobs by status, and the bytes of tiles that only it requested."""

    jobs: dict[str, int]
    disk_bytes: int

    @classmethod
    def with_use(cls, tenant: Tenant, jobs: dict[str, int], disk_bytes: int) -> Self:
        return cls.copy_of(tenant, jobs=jobs, disk_bytes=disk_bytes)
