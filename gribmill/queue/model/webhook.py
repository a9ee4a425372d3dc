"""Webhooks: URLs that receive events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

DeliveryStatus = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True)
class Webhook:
    """A stored webhook. `events` are names, possibly with asterisks; the tenant `*` means all tenants."""

    id: int
    tenant_id: str
    url: str
    events: tuple[str, ...]
    secret: str = field(repr=False)
    is_enabled: bool
    disabled_reason: str | None
    failing_since: datetime | None
    last_error: str | None
    last_delivered_at: datetime | None
    created_by: str | None
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one webhook."""

    webhook_id: int
    event_id: int
    event_name: str
    job_id: int | None
    status: DeliveryStatus
    http_status: int | None
    error: str | None
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """The result of one delivery attempt. A failure disables the webhook if it has failed for too long, or if its
    URL is gone."""

    webhook_id: int
    event_id: int
    delivered: bool
    http_status: int | None = None
    error: str | None = None
    gone: bool = False
    last: bool = False
    """Whether this was the last attempt."""
    disable_after_seconds: float = 432_000.0
