"""Tenants: customers, teams or projects that share the queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class NewTenant:
    """A tenant to add. None means no limit."""

    name: str
    title: str = ""
    timezone: str = "UTC"
    """The default time zone of its schedules."""
    regions: tuple[str, ...] = ()
    max_running: int | None = None
    max_pending: int | None = None
    max_per_minute: int | None = None
    max_disk_bytes: int | None = None
    keep_days: float | None = None
    """How many days, runs and bytes of the tenant's own regions are kept; None: the general limits."""
    keep_runs: int | None = None
    keep_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Tenant(NewTenant):
    """A stored tenant."""

    disabled_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def is_enabled(self) -> bool:
        return self.disabled_at is None
