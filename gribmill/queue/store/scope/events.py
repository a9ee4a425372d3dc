"""The events, triggers and webhooks of one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from gribmill.queue.errors import EventNotFound, TriggerNotFound, WebhookNotFound
from gribmill.queue.model import (
    BrokenTrigger,
    Delivery,
    Enqueued,
    Fired,
    Firing,
    NewTrigger,
    PublishedEvent,
    Trigger,
    Webhook,
)
from gribmill.queue.store.events.events import Events
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.queue.store.scope.rules import TenantRules


class TenantEvents:
    """Events of the tenant's jobs, and events reported for the tenant."""

    def __init__(self, events: Events, tenant_id: str) -> None:
        self._events = events
        self._tenant_id = tenant_id

    def emit(self, name: str, payload: Mapping[str, Any], *, event_id: str | None = None) -> Sequence[Fired]:
        return self._events.emit(name, payload, tenant_id=self._tenant_id, event_id=event_id)

    def get(self, event_id: int) -> PublishedEvent:
        event = self._events.get(event_id)
        if event.tenant_id != self._tenant_id:
            raise EventNotFound(f"there is no event {event_id}; it may have been pruned")
        return event

    def list(
        self,
        *,
        pattern: str | None = None,
        since: datetime | None = None,
        before_id: int | None = None,
        limit: int = 50,
    ) -> Sequence[PublishedEvent]:
        mine = self._tenant_id
        return self._events.list(pattern=pattern, since=since, tenant_id=mine, before_id=before_id, limit=limit)

    def after(
        self, event_id: int, *, pattern: str | None = None, through_id: int | None = None, limit: int = 1000
    ) -> Sequence[PublishedEvent]:
        mine = self._tenant_id
        return self._events.after(event_id, pattern=pattern, tenant_id=mine, through_id=through_id, limit=limit)


class TenantTriggers:
    """The tenant's schedules and event triggers."""

    def __init__(self, triggers: Triggers, tenant_id: str, rules: TenantRules) -> None:
        self._triggers = triggers
        self._tenant_id = tenant_id
        self._rules = rules

    def add(self, new: NewTrigger) -> Trigger:
        self._rules.check_type(self._triggers.registry, new.type)
        self._rules.check_priority(new.priority)
        return self._triggers.add(replace(new, tenant_id=self._tenant_id))

    def list(self) -> Sequence[Trigger]:
        return self._triggers.list(self._tenant_id)

    def broken(self) -> Sequence[BrokenTrigger]:
        """None: the tenant of a broken row is not known."""
        return ()

    def get(self, trigger_id: int) -> Trigger:
        trigger = self._triggers.get(trigger_id)
        if trigger.tenant_id != self._tenant_id:
            raise TriggerNotFound(f"there is no trigger {trigger_id}")
        return trigger

    def firings(self, trigger_id: int, limit: int = 10) -> Sequence[Firing]:
        self.get(trigger_id)
        return self._triggers.firings(trigger_id, limit)

    def set_enabled(self, trigger_id: int, *, enabled: bool) -> Trigger:
        self.get(trigger_id)
        return self._triggers.set_enabled(trigger_id, enabled=enabled)

    def remove(self, trigger_id: int) -> None:
        self.get(trigger_id)
        self._triggers.remove(trigger_id)

    def edit(self, trigger_id: int, **changes: Any) -> Trigger:
        for type_key in (self.get(trigger_id).type, changes.get("type")):
            self._rules.check_type(self._triggers.registry, type_key)
        self._rules.check_priority(changes.get("priority"))
        return self._triggers.edit(trigger_id, **changes)

    def fire_now(self, trigger_id: int, payload: Mapping[str, Any] | None = None) -> Fired:
        self.get(trigger_id)
        return self._triggers.fire_now(trigger_id, payload)


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
