"""Events, and the names of those that gribmill publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gribmill.queue.model import OPTIONAL_EVENTS
from gribmill.queue.redact import redact_json
from gribmill.views.queue.event_payload import PAYLOADS
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import PublishedEvent


class EventView(View):
    """An event. `job_id` is the job that caused it; `key` is the id given with `emit`."""

    id: int
    name: str
    tenant_id: str
    created_at: Time | None
    job_id: int | None
    key: str | None
    payload: Any

    @classmethod
    def of(cls, event: PublishedEvent) -> Self:
        return cls.copy_of(event, key=event.event_key, payload=redact_json(event.payload))


class EventNameView(View):
    """An event that gribmill publishes, with the JSON Schema of its payload."""

    name: str
    description: str
    optional: bool
    recorded: bool
    """Whether the event is always recorded. Optional events are otherwise recorded only while a trigger needs them."""
    payload_schema: dict[str, Any]

    @classmethod
    def all(cls, recorded: set[str]) -> list[Self]:
        return [
            cls(
                name=name,
                description=words,
                optional=name in OPTIONAL_EVENTS,
                recorded=name not in OPTIONAL_EVENTS or name in recorded,
                payload_schema=payload.model_json_schema(),
            )
            for name, (payload, words) in PAYLOADS.items()
        ]
