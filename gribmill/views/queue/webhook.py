"""Webhooks and their deliveries. Only the view of a new webhook contains its secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.queue.redact import redact
from gribmill.views.queue.job_result import DoneView
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gribmill.queue.model import Delivery, Webhook


class WebhookView(View):
    """A URL that receives events."""

    id: int
    tenant_id: str
    url: str
    events: tuple[str, ...]
    is_enabled: bool
    disabled_reason: str | None
    failing_since: Time | None
    last_error: str | None
    last_delivered_at: Time | None
    created_by: str | None
    created_at: Time | None
    updated_at: Time | None

    @classmethod
    def of(cls, webhook: Webhook) -> Self:
        return cls.copy_of(webhook, url=redact(webhook.url))


class NewWebhookView(WebhookView):
    """A webhook that was added or got a new secret, which is shown only this once."""

    secret: str

    @classmethod
    def of(cls, webhook: Webhook) -> Self:
        return cls.copy_of(webhook)


class SwitchedWebhookView(WebhookView, DoneView):
    """A webhook that was switched on or off."""

    @classmethod
    def of(cls, webhook: Webhook) -> Self:
        return cls.copy_of(webhook, url=redact(webhook.url), ok=True)


class DeliveryView(View):
    """The delivery of one event to one webhook, named `WEBHOOK-EVENT`."""

    delivery: str
    webhook_id: int
    event_id: int
    event_name: str
    job_id: int | None
    status: str
    http_status: int | None
    error: str | None
    created_at: Time | None
    updated_at: Time | None

    @classmethod
    def of(cls, one: Delivery) -> Self:
        return cls.copy_of(one, delivery=f"{one.webhook_id}-{one.event_id}")


class WebhookDetailView(WebhookView):
    """A webhook with its latest deliveries."""

    deliveries: tuple[DeliveryView, ...]

    @classmethod
    def with_deliveries(cls, webhook: Webhook, found: Iterable[Delivery]) -> Self:
        shown = tuple(DeliveryView.of(one) for one in found)
        return cls.copy_of(webhook, url=redact(webhook.url), deliveries=shown)
