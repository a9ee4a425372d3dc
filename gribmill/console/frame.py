"""The frame of every page: the visitor, the navigation, and the result of the last action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gribmill.queue.store import Store
from gribmill.queue.store.scope import TenantStore
from gribmill.version import __version__
from gribmill.views.queue.event import PAYLOADS

AnyStore = Store | TenantStore
"""The queue as a visitor sees it: all of it, or one tenant's."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who views a page. `tenant_id` is None for visitors who see every tenant."""

    name: str
    role: str
    tenant_id: str | None = None
    reads_only: bool = False
    can_log_out: bool = False

    @property
    def operates(self) -> bool:
        """Whether the visitor may change what all tenants share: definitions, workers, tenants."""
        return self.sees_all and not self.reads_only

    @property
    def sees_all(self) -> bool:
        return self.role == "super_admin"

    @property
    def changes(self) -> bool:
        """Whether the visitor may cancel, retry and enqueue jobs."""
        return self.role in ("super_admin", "tenant_admin") and not self.reads_only

    @property
    def detail(self) -> str:
        where = "all tenants" if self.tenant_id is None else f"tenant {self.tenant_id}"
        return f"{self.role.replace('_', ' ')}, {where}{', read only' if self.reads_only else ''}"


@dataclass(frozen=True, slots=True)
class NavigationItem:
    key: str
    label: str
    href: str
    operators_only: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """The result of an action, or why it failed."""

    text: str
    kind: Literal["good", "bad", "note"] = "good"


@dataclass(frozen=True, slots=True)
class Refresh:
    """How often an open page is refreshed, in addition to a refresh after each event.

    `covered` marks pages on which every important change is an event: while connected to the event stream, they need
    few other refreshes.
    """

    seconds: float
    covered: bool = False


COVERED_SECONDS = 30.0

NAVIGATION = (
    NavigationItem("overview", "Overview", "/"),
    NavigationItem("runs", "Runs", "/runs"),
    NavigationItem("map", "Map", "/map"),
    NavigationItem("jobs", "Jobs", "/jobs"),
    NavigationItem("groups", "Groups", "/groups"),
    NavigationItem("backfills", "Backfill", "/backfills/new", operators_only=True),
    NavigationItem("workers", "Workers", "/workers", operators_only=True),
    NavigationItem("triggers", "Triggers", "/triggers"),
    NavigationItem("definitions", "Definitions", "/definitions"),
    NavigationItem("sources", "Sources", "/sources", operators_only=True),
    NavigationItem("storage", "Storage", "/storage", operators_only=True),
    NavigationItem("events", "Events", "/events"),
    NavigationItem("webhooks", "Webhooks", "/webhooks"),
    NavigationItem("tenants", "Tenants", "/tenants", operators_only=True),
    NavigationItem("tokens", "Tokens", "/tokens", operators_only=True),
    NavigationItem("audit", "Audit", "/audit", operators_only=True),
)


def frame(
    visitor: Visitor | None,
    title: str,
    active: str = "",
    *,
    refresh: Refresh | None = None,
    notice: Notice | None = None,
) -> dict[str, Any]:
    """The values that `base.html` needs."""
    return {
        "title": title,
        "active": active,
        "navigation": [one for one in NAVIGATION if visitor and (visitor.sees_all or not one.operators_only)],
        "user": visitor,
        "notice": notice,
        "refresh": refresh,
        # Tenants receive only events of their own jobs, so their pages must be refreshed more often.
        "streaming_seconds": COVERED_SECONDS if refresh and refresh.covered and visitor and visitor.sees_all else None,
        "events": " ".join(PAYLOADS),
        "version": __version__,
    }
