"""The catalogue's events as effects, which the queue carries from a handler to the end of its attempt."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from gribmill.catalogue.changes import apply
from gribmill.catalogue.events import BadEvent, Event, MirrorObserved, parse_event
from gribmill.ingest.mirrors.circuit_breaker import Observation
from gribmill.queue.errors import BadEffect
from gribmill.queue.model import Effect
from gribmill.queue.store.effects import Change


def effects_of(events: Iterable[Event]) -> tuple[Effect, ...]:
    """For an outcome's `also`."""
    return tuple(Effect(event.kind, event.to_json()) for event in events)


def observations(seen: Iterable[Observation]) -> list[MirrorObserved]:
    """What a job learned about mirrors."""
    return [MirrorObserved(one.mirror, one.at, one.ok, one.reason, one.retry_after_seconds) for one in seen]


def prepare(effect: Effect) -> Change:
    """What the event changes in the catalogue, or BadEffect."""
    try:
        event = parse_event(effect.kind, effect.payload)
    except BadEvent as error:
        raise BadEffect(str(error)) from None
    return partial(apply, event=event)
