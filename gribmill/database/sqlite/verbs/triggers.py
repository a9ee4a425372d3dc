"""Triggers: rows that people may write by hand, and firings, one row each, that no one can write twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from gribmill.database.sqlite.records import bind, read_json
from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.sqlite.verbs.enqueue import insert_jobs
from gribmill.queue.model import BrokenTrigger, Enqueued, PreparedJob, Trigger
from gribmill.queue.times import to_datetime


def list_triggers(tx: SqliteSession) -> list[Trigger | BrokenTrigger]:
    return [_trigger(row) for row in tx.rows("triggers/list")]


def get_trigger(tx: SqliteSession, trigger_id: int) -> Trigger | BrokenTrigger | None:
    rows = tx.rows("triggers/get", {"id": trigger_id})
    return _trigger(rows[0]) if rows else None


def any_trigger_due(tx: SqliteSession, types: Sequence[str]) -> bool:
    return bool(due_triggers(tx, types, 1))


def due_triggers(tx: SqliteSession, types: Sequence[str], limit: int) -> list[Trigger | BrokenTrigger]:
    params = {"now": tx.stamp, "types": bind([*types]), "limit": limit}
    return [_trigger(row) for row in tx.rows("triggers/due", params)]


def event_triggers(tx: SqliteSession, event: str, tenant_id: str) -> list[Trigger | BrokenTrigger]:
    return [_trigger(row) for row in tx.rows("triggers/for_event", {"event_name": event, "tenant_id": tenant_id})]


def insert_trigger(tx: SqliteSession, new: Trigger) -> int:
    row = {
        "now": tx.stamp,
        "label": new.label,
        "definition_key": new.type,
        "payload_template": bind(new.template),
        "trigger_type": "event" if new.cron is None else "schedule",
        "cron_expr": new.cron,
        "timezone": new.timezone,
        "event_name": new.event,
        "priority": new.priority,
        "tenant_id": new.tenant_id,
        "dedupe_window_seconds": new.dedupe_window_seconds,
        "misfire": new.misfire,
        "next_trigger_at": bind(new.next_fire_at),
        "created_by": new.created_by,
    }
    return tx.execute("triggers/insert", row).lastrowid or 0


def fire(
    tx: SqliteSession, trigger_id: int, occasion: str, job: PreparedJob, again_before: datetime | None
) -> Enqueued | None:
    """The row of the firing is the guard: a process that cannot write it was not the first."""
    firing = {"trigger_id": trigger_id, "fire_key": occasion, "now": tx.stamp}
    if not tx.execute("triggers/insert_firing", {**firing, "before": bind(again_before)}).rowcount:
        return None
    (made,) = insert_jobs(tx, [job])
    tx.execute("triggers/set_firing_job", {**firing, "job_id": made.id})
    tx.execute("triggers/mark_fired", {"id": trigger_id, "now": tx.stamp})
    return made


def _trigger(row: sqlite3.Row) -> Trigger | BrokenTrigger:
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
        priority=row["priority"],
        tenant_id=row["tenant_id"],
        dedupe_window_seconds=row["dedupe_window_seconds"],
        misfire=row["misfire"],
        is_enabled=bool(row["is_enabled"]),
        last_fired_at=to_datetime(row["last_triggered_at"]),
        next_fire_at=to_datetime(row["next_trigger_at"]),
        created_by=row["created_by"],
    )
