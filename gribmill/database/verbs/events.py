"""Events, and the triggers that they and schedules fire.

An event is written to the outbox in the transaction that causes it. Triggers may be written manually. The row of a
firing is unique.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from gribmill.database.records import read_json
from gribmill.database.verbs.session import Row, Session, WithJobs
from gribmill.queue.model import (
    OPTIONAL_EVENTS,
    BrokenTrigger,
    Enqueued,
    NewEvent,
    PreparedJob,
    PublishedEvent,
    Trigger,
)
from gribmill.queue.times import to_datetime


class _NewId(NamedTuple):
    id: int


def publish(tx: Session, event: NewEvent) -> None:
    statement = "events/insert_wanted" if event.name in OPTIONAL_EVENTS else "events/insert"
    row = {"name": event.name, "tenant_id": event.tenant_id, "payload": event.payload, "job_id": tx.source_job}
    tx.send(statement, row)


def take_events(tx: Session, limit: int) -> list[PublishedEvent]:
    return sorted(tx.query(PublishedEvent, "events/take", {"limit": limit}), key=lambda event: event.id)


def begin_condition(tx: Session, name: str, subject: str) -> bool:
    return bool(tx.change("conditions/begin", {"name": name, "subject": subject}))


def end_condition(tx: Session, name: str, subject: str) -> bool:
    return bool(tx.change("conditions/end", {"name": name, "subject": subject}))


def list_triggers(tx: Session) -> list[Trigger | BrokenTrigger]:
    return [_trigger(row) for row in tx.rows("triggers/list")]


def get_trigger(tx: Session, trigger_id: int) -> Trigger | BrokenTrigger | None:
    rows = tx.rows("triggers/get", {"id": trigger_id})
    return _trigger(rows[0]) if rows else None


def any_trigger_due(tx: Session, types: Sequence[str]) -> bool:
    return bool(due_triggers(tx, types, 1))


def due_triggers(tx: Session, types: Sequence[str], limit: int) -> list[Trigger | BrokenTrigger]:
    params = {"now": tx.stamp, "types": json.dumps([*types]), "limit": limit}
    return [_trigger(row) for row in tx.rows("triggers/due", params)]


def event_triggers(tx: Session, event: str, tenant_id: str) -> list[Trigger | BrokenTrigger]:
    return [_trigger(row) for row in tx.rows("triggers/for_event", {"event_name": event, "tenant_id": tenant_id})]


def insert_trigger(tx: Session, new: Trigger) -> int:
    row = {
        "label": new.label,
        "definition_key": new.type,
        "payload_template": new.template,
        "trigger_type": "event" if new.cron is None else "schedule",
        "cron_expr": new.cron,
        "timezone": new.timezone,
        "event_name": new.event,
        "priority": new.priority or 0,
        "template_id": new.template_id,
        "uses_template_priority": new.priority is None,
        "tenant_id": new.tenant_id,
        "dedupe_window_seconds": new.dedupe_window_seconds,
        "misfire": new.misfire,
        "next_trigger_at": new.next_fire_at,
        "created_by": new.created_by,
    }
    made = tx.first(_NewId, "triggers/insert", row)
    assert made is not None  # a plain insert returns one row or fails
    return made.id


def fire(
    tx: WithJobs, trigger_id: int, occasion: str, job: PreparedJob, again_before: datetime | None
) -> Enqueued | None:
    """Fire a trigger. The unique row of the firing guarantees that only the first process succeeds."""
    firing = {"trigger_id": trigger_id, "fire_key": occasion, "now": tx.stamp}
    if not tx.change("triggers/insert_firing", {**firing, "before": again_before}):
        return None
    (made,) = tx.insert_jobs([job])
    tx.send("triggers/set_firing_job", {**firing, "job_id": made.id})
    tx.send("triggers/mark_fired", {"id": trigger_id, "now": tx.stamp})
    return made


def _trigger(row: Row) -> Trigger | BrokenTrigger:
    for column in ("priority", "dedupe_window_seconds"):
        if not isinstance(row[column], int):
            return BrokenTrigger(row["id"], f"the {column} of trigger {row['id']} is not a whole number")
    for column in ("label", "payload_template", "tenant_id", "cron_expr", "timezone", "event_name"):
        if not isinstance(row[column], str | None):
            return BrokenTrigger(row["id"], f"the {column} of trigger {row['id']} is not a text")
    return Trigger(
        id=row["id"],
        label=row["label"],
        type=row["definition_key"],
        template=read_json(row["payload_template"]),
        cron=row["cron_expr"],
        timezone=row["timezone"],
        event=row["event_name"],
        priority=None if row["uses_template_priority"] else row["priority"],
        tenant_id=row["tenant_id"],
        dedupe_window_seconds=row["dedupe_window_seconds"],
        misfire=row["misfire"],
        is_enabled=bool(row["is_enabled"]),
        last_fired_at=to_datetime(row["last_triggered_at"]),
        next_fire_at=to_datetime(row["next_trigger_at"]),
        created_by=row["created_by"],
        template_id=row["template_id"],
    )
