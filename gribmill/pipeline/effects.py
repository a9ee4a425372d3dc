"""Catalogue events as effects, which the queue applies when an attempt ends."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial

from pydantic import TypeAdapter, ValidationError

from gribmill.catalogue.changes import apply
from gribmill.catalogue.events import BadEvent, Event, MirrorObserved, parse_event
from gribmill.ingest.mirror import Observation
from gribmill.queue.errors import BadEffect
from gribmill.queue.model import Effect, WebhookAnswer
from gribmill.queue.store.events.webhooks import record_answer
from gribmill.queue.store.exchange import Change

WEBHOOK_ANSWERED = "webhook_answered"


def effects_of(events: Iterable[Event]) -> tuple[Effect, ...]:
    """Effects for an outcome's `also`."""
    return tuple(Effect(event.kind, event.to_json()) for event in events)


def observations(seen: Iterable[Observation]) -> list[MirrorObserved]:
    """What a job observed about mirrors, as effects."""
    return [MirrorObserved(one.mirror, one.at, one.ok, one.reason, one.retry_after_seconds) for one in seen]


def change_of(effect: Effect) -> Change:
    """Turn an effect into a change of the catalogue; raises BadEffect."""
    if effect.kind == WEBHOOK_ANSWERED:
        return partial(record_answer, answer=_answer(effect.payload))
    try:
        event = parse_event(effect.kind, effect.payload)
    except BadEvent as error:
        raise BadEffect(str(error)) from None
    return partial(apply, event=event)


def _answer(payload: str) -> WebhookAnswer:
    try:
        return _answer_reader().validate_json(payload)
    except ValidationError as error:
        raise BadEffect(f"{WEBHOOK_ANSWERED}: {error.errors(include_url=False)[0]['msg']}") from None


@cache
def _answer_reader() -> TypeAdapter[WebhookAnswer]:
    return TypeAdapter(WebhookAnswer)
