"""Triggers and schedules: next firing, past firings, and a form to change one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from gribmill.console.frame import AnyStore
from gribmill.console.schema_form import json_arguments
from gribmill.console.typed_number import whole_number
from gribmill.queue.cron import CronSchedule
from gribmill.queue.errors import BadTrigger
from gribmill.queue.model import Firing, NewTrigger, Trigger
from gribmill.queue.redact import redact_json, unredacted

SLOTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class TriggerRow:
    trigger: Trigger
    rule: str
    """Such as `30 6 * * 1-5 (America/New_York)` or `on run.completed`."""
    local: str
    """The next firing in the schedule's time zone."""
    args: str
    last: Firing | None = None
    """The last firing, with the state of its job."""


def trigger_row(trigger: Trigger, last: Firing | None = None) -> TriggerRow:
    rule = f"on {trigger.event}" if trigger.kind == "event" else f"{trigger.cron} ({trigger.timezone})"
    if trigger.kind == "adaptive":
        rule = "chosen by gribmill run"
    local = ""
    if trigger.next_fire_at is not None and trigger.timezone not in (None, "UTC"):
        local = f"{trigger.next_fire_at.astimezone(_zone(trigger.timezone)):%H:%M %Z}"
    return TriggerRow(trigger, rule, local, json.dumps(redact_json(trigger.template), ensure_ascii=False), last)


def triggers_values(handle: AnyStore) -> dict[str, Any]:
    """All triggers, sorted by their next firing."""
    late = datetime.max.replace(tzinfo=UTC)
    found = sorted(handle.triggers.list(), key=lambda one: (not one.is_enabled, one.next_fire_at or late, one.id))
    return {"rows": [trigger_row(one, _last(handle, one)) for one in found], "broken": handle.triggers.broken()}


def _last(handle: AnyStore, trigger: Trigger) -> Firing | None:
    if trigger.last_fired_at is None:
        return None
    return next(iter(handle.triggers.firings(trigger.id, 1)), None)


def trigger_values(handle: AnyStore, trigger_id: int) -> dict[str, Any]:
    trigger = handle.triggers.get(trigger_id)
    return {
        "row": trigger_row(trigger),
        "firings": handle.triggers.firings(trigger_id),
        "fields": fields_of(trigger),
        "slots": slots_of(trigger.cron, trigger.timezone) if trigger.kind == "schedule" else [],
        "problem": None,
        "previewed": False,
    }


def fields_of(trigger: Trigger) -> dict[str, str]:
    """The trigger as form fields."""
    return {
        "label": trigger.label,
        "type": trigger.type,
        "cron": trigger.cron or "",
        "timezone": trigger.timezone or "",
        "event": trigger.event or "",
        "args": json.dumps(redact_json(trigger.template), indent=2, sort_keys=True, ensure_ascii=False),
        "priority": "" if trigger.priority is None else str(trigger.priority),
    }


def slots_of(cron: str | None, timezone: str | None) -> list[tuple[datetime, str]]:
    """The next firings in UTC and the schedule's time zone; raises BadTrigger if the schedule is invalid."""
    if not cron:
        return []
    zone = timezone or "UTC"
    slots = CronSchedule(cron, zone).since(datetime.now(UTC))
    return [(slot, f"{slot.astimezone(_zone(zone)):%a %Y-%m-%d %H:%M %Z}") for slot in islice(slots, SLOTS_SHOWN)]


def read_new_trigger(fields: Mapping[str, str], by: str) -> NewTrigger:
    """The trigger that the form describes; raises BadArguments if a field is invalid."""
    return NewTrigger(
        fields["label"],
        fields["type"],
        json_arguments(fields["args"]),
        cron=fields["cron"] or None,
        timezone=(fields["timezone"] or None) if fields["cron"] else None,
        event=fields["event"] or None,
        priority=whole_number(fields["priority"], "the priority"),
        created_by=by,
    )


def changes_from(fields: Mapping[str, str], trigger: Trigger) -> dict[str, Any]:
    """The changed fields, by the parameter names of `edit`. Secrets that the form hides stay as they are.

    Raises BadTrigger for both a schedule and an event: `edit` would take the changed one and drop the other.
    """
    if fields["cron"] and fields["event"]:
        raise BadTrigger("a trigger needs either a schedule or an event: leave one of them empty")
    old = fields_of(trigger)
    changed = [name for name in old if name in fields and fields[name].strip() != old[name].strip()]
    found: dict[str, Any] = {}
    for name in changed:
        if name == "args":
            found["args"] = unredacted(json_arguments(fields["args"]), trigger.template)
        elif name == "priority":
            found["priority"] = whole_number(fields["priority"], "the priority")
        elif name == "timezone" and fields["cron"]:
            found["timezone"] = fields["timezone"] or "UTC"
        else:
            found[name] = fields[name] or None
    return found


def _zone(name: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
