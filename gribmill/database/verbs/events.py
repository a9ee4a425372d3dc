"""Publishing events: they are written to the outbox in the transaction that causes them."""

from __future__ import annotations

from gribmill.database.verbs.session import Session
from gribmill.queue.model import OPTIONAL_EVENTS, NewEvent, PublishedEvent


def publish(tx: Session, event: NewEvent) -> None:
    statement = "events/insert_wanted" if event.name in OPTIONAL_EVENTS else "events/insert"
    row = {"name": event.name, "tenant_id": event.tenant_id, "payload": event.payload, "job_id": tx.source_job}
    tx.change(statement, row)


def take_events(tx: Session, limit: int) -> list[PublishedEvent]:
    return sorted(tx.query(PublishedEvent, "events/take", {"limit": limit}), key=lambda event: event.id)


def begin_condition(tx: Session, name: str, subject: str) -> bool:
    return bool(tx.change("conditions/begin", {"name": name, "subject": subject}))


def end_condition(tx: Session, name: str, subject: str) -> bool:
    return bool(tx.change("conditions/end", {"name": name, "subject": subject}))
