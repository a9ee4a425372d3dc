"""The triggers of one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gribmill.queue.errors import TriggerNotFound
from gribmill.queue.model import Fired, Firing, NewTrigger, Trigger
from gribmill.queue.store.events.triggers import Triggers


class TenantTriggers:
    """The tenant's schedules and event triggers."""

    def __init__(self, triggers: Triggers, tenant_id: str) -> None:
        self._triggers = triggers
        self._tenant_id = tenant_id

    def add(self, new: NewTrigger) -> Trigger:
        return self._triggers.add(replace(new, tenant_id=self._tenant_id))

    def list(self) -> Sequence[Trigger]:
        return self._triggers.list(self._tenant_id)

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
        self.get(trigger_id)
        return self._triggers.edit(trigger_id, **changes)

    def fire_now(self, trigger_id: int, payload: Mapping[str, Any] | None = None) -> Fired:
        self.get(trigger_id)
        return self._triggers.fire_now(trigger_id, payload)
