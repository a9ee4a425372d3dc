"""The events of one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gribmill.queue.errors import EventNotFound
from gribmill.queue.model import Fired, PublishedEvent
from gribmill.queue.store.events.events import Events


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
