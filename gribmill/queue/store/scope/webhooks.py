"""The webhooks of one tenant."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.queue.errors import WebhookNotFound
from gribmill.queue.model import Delivery, Enqueued, Webhook
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.queue.store.scope.events import TenantEvents


class TenantWebhooks:
    """The tenant's webhooks. Webhooks for all tenants belong to none and are not visible."""

    def __init__(self, webhooks: Webhooks, events: TenantEvents, tenant_id: str) -> None:
        self._webhooks = webhooks
        self._events = events
        self._tenant_id = tenant_id

    def add(
        self, url: str, events: Sequence[str], *, secret: str | None = None, created_by: str | None = None
    ) -> Webhook:
        return self._webhooks.add(url, events, secret=secret, tenant_id=self._tenant_id, created_by=created_by)

    def list(self) -> Sequence[Webhook]:
        return [one for one in self._webhooks.list() if one.tenant_id == self._tenant_id]

    def get(self, webhook_id: int) -> Webhook:
        webhook = self._webhooks.get(webhook_id)
        if webhook.tenant_id != self._tenant_id:
            raise WebhookNotFound(f"there is no webhook {webhook_id}")
        return webhook

    def edit(
        self, webhook_id: int, *, url: str | None = None, events: Sequence[str] | None = None, secret: str | None = None
    ) -> Webhook:
        self.get(webhook_id)
        return self._webhooks.edit(webhook_id, url=url, events=events, secret=secret)

    def set_enabled(self, webhook_id: int, *, enabled: bool) -> Webhook:
        self.get(webhook_id)
        return self._webhooks.set_enabled(webhook_id, enabled=enabled)

    def remove(self, webhook_id: int) -> None:
        self.get(webhook_id)
        self._webhooks.remove(webhook_id)

    def deliveries(self, webhook_id: int, limit: int = 20) -> Sequence[Delivery]:
        self.get(webhook_id)
        return self._webhooks.deliveries(webhook_id, limit)

    def test(self, webhook_id: int) -> Enqueued:
        self.get(webhook_id)
        return self._webhooks.test(webhook_id)

    def redeliver(self, event_id: int, webhook_id: int) -> Sequence[Enqueued]:
        """Deliver an event of the tenant again to one of its webhooks."""
        self._events.get(event_id)
        self.get(webhook_id)
        return self._webhooks.redeliver(event_id, webhook_id)
