"""Events: reading them, recording external ones, and dispatching them to triggers and webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from gribmill.database.protocol import Database, Transaction
from gribmill.errors import quoted
from gribmill.queue.errors import BadArguments, EventNotFound
from gribmill.queue.job_type import Registry
from gribmill.queue.model import DEFAULT_TENANT, OPTIONAL_EVENTS, RESERVED_NOUNS, Fired, PublishedEvent
from gribmill.queue.store.base import ID_LIMIT, Facet, retried
from gribmill.queue.store.events.trigger_firing import LONGEST_NAME, Occasion, occasion_of
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.store.events.webhooks import EVENT_NAMES, Webhooks

# A long transaction would delay claims.
DISPATCHED_AT_ONCE = 100


class _Id(NamedTuple):
    id: int


class _Name(NamedTuple):
    name: str


class Events(Facet):
    """The outbox. An event is written in the transaction that causes it, and dispatched exactly once, by any worker."""

    def __init__(self, database: Database, registry: Registry, triggers: Triggers, webhooks: Webhooks) -> None:
        super().__init__(database, registry)
        self._triggers = triggers
        self._webhooks = webhooks

    @retried
    def emit(
        self, name: str, payload: Mapping[str, Any], *, tenant_id: str = DEFAULT_TENANT, event_id: str | None = None
    ) -> Sequence[Fired]:
        """Record an external event, and create the jobs of all triggers that respond to it.

        An event with an id is recorded once and fires each trigger once. Without an id, a trigger ignores a payload
        that it has seen within its window.
        """
        _check_name(name)
        key = occasion_of(payload, event_id)
        row = {"name": name, "tenant_id": tenant_id, "payload": dict(payload), "event_key": event_id}
        with self.database.write() as tx:
            event = tx.first(PublishedEvent, "events/insert_emitted", row)  # None if an event with this id was recorded
            if event:
                self._webhooks.deliver(tx, event)
            occasion = Occasion(key, "event", {"event": payload}, event.correlation_id if event else None)
            fired = self._triggers.respond(tx, name, tenant_id, occasion, repeats=event_id is None)
        self.database.announce()
        return fired

    def dispatch(self) -> list[Fired]:
        """Create the jobs of all undispatched events, a hundred events per transaction.

        An event is taken and its jobs are created in the same transaction, so none is lost or dispatched twice.
        """
        fired: list[Fired] = []
        total = 0
        while self._any_undispatched():
            taken, some = self._dispatch_some()
            if not taken:
                break  # another worker is dispatching them
            total += taken
            fired += some
        if total:
            self.database.announce()
        return [one for one in fired if one.job or one.error]

    @retried
    def _dispatch_some(self) -> tuple[int, Sequence[Fired]]:
        """Dispatch a hundred events; returns how many were taken, and what they fired."""
        with self.database.write() as tx:
            events = tx.take_events(DISPATCHED_AT_ONCE)
            return len(events), [one for event in events for one in self._dispatch(tx, event)]

    def _any_undispatched(self) -> bool:
        with self.database.read() as tx:
            return tx.first(_Id, "events/undispatched") is not None

    def _dispatch(self, tx: Transaction, event: PublishedEvent) -> Sequence[Fired]:
        self._webhooks.deliver(tx, event)
        occasion = Occasion(f"event {event.id}", "event", {"event": event.values}, event.correlation_id)
        return self._triggers.respond(tx, event.name, event.tenant_id, occasion)

    def get(self, event_id: int) -> PublishedEvent:
        """The event, or EventNotFound."""
        with self.database.read() as tx:
            found = tx.first(PublishedEvent, "events/get", {"id": event_id}) if 0 < event_id < ID_LIMIT else None
        if found is None:
            raise EventNotFound(f"there is no event {event_id}; it may have been pruned")
        return found

    def list(
        self,
        *,
        pattern: str | None = None,
        since: datetime | None = None,
        tenant_id: str | None = None,
        before_id: int | None = None,
        limit: int = 50,
    ) -> list[PublishedEvent]:
        """Events, newest first; `pattern` may contain asterisks (`run.*`)."""
        params = {"pattern": check_pattern(pattern), "since": since, "tenant_id": tenant_id, "before_id": before_id}
        with self.database.read() as tx:
            return tx.query(PublishedEvent, "events/list", {**params, "limit": limit})

    def after(
        self,
        event_id: int,
        *,
        pattern: str | None = None,
        tenant_id: str | None = None,
        through_id: int | None = None,
        limit: int = 1000,
    ) -> Sequence[PublishedEvent]:
        """The events after the given one, in order; with `through_id`, none after that one."""
        params = {"after_id": event_id, "pattern": check_pattern(pattern), "tenant_id": tenant_id, "limit": limit}
        params["through_id"] = through_id
        with self.database.read() as tx:
            return tx.query(PublishedEvent, "events/list_after", params)

    def newest_id(self) -> int:
        """The id of the newest event; 0 if there is none."""
        with self.database.read() as tx:
            found = tx.first(_Id, "events/newest_id")
        return found.id if found else 0

    @retried
    def record(self, name: str, *, wanted: bool) -> None:
        """Always record an optional event, or only while a trigger responds to it."""
        if name not in OPTIONAL_EVENTS:
            raise BadArguments(f"{name!r} is not an optional event; they are: {', '.join(OPTIONAL_EVENTS)}")
        with self.database.write() as tx:
            tx.change("events/record" if wanted else "events/unrecord", {"name": name})

    def recorded(self) -> set[str]:
        """The optional events that are always recorded."""
        with self.database.read() as tx:
            return {one.name for one in tx.query(_Name, "events/recorded")}


def _check_name(name: str) -> None:
    """Refuse the name of an event from outside if it is empty, long, or like those that gribmill publishes."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadArguments(f"an event's name has 1 to {LONGEST_NAME} printable characters")
    noun, dot, _ = name.strip().casefold().partition(".")
    if dot and noun in RESERVED_NOUNS:
        raise BadArguments(
            f"only gribmill reports events whose names begin with {noun}. (`gribmill events names` lists them):"
            " choose another name"
        )


def check_pattern(pattern: str | None) -> str | None:
    """Validate an event name, which may contain asterisks; raises BadArguments."""
    if pattern is not None and not EVENT_NAMES.fullmatch(pattern):
        raise BadArguments(f"{quoted(pattern)} is not a name of events; an example with an asterisk is run.*")
    return pattern
