"""Events: named records of what happened, with a payload."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gribmill.queue.model.job import DEFAULT_TENANT, Json

# These occur with every attempt or tile, so they are recorded only if something consumes them.
OPTIONAL_EVENTS = ("attempt.metered", "tile.built")


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to publish. The publisher is responsible for the payload's schema."""

    name: str
    payload: dict[str, Any] = field(default_factory=dict)
    tenant_id: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """A row of the outbox. `job_id` is the job whose attempt caused it, `event_key` the id assigned by its emitter."""

    id: int
    name: str
    tenant_id: str
    payload: Json
    created_at: datetime | None
    job_id: int | None
    event_key: str | None
    dispatched_at: datetime | None

    @property
    def values(self) -> dict[str, Any]:
        """The payload as a dict; empty if a manually written row holds anything else."""
        return self.payload if isinstance(self.payload, dict) else {}

    @property
    def correlation_id(self) -> str:
        """What the jobs made for this event share."""
        return f"event-{self.id}"
