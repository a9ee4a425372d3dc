"""A rule that makes jobs by itself: at the slots of a schedule, or when an event is told of."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from gribmill.database.protocol import Row
from gribmill.queue.errors import BadTrigger
from gribmill.queue.model import DEFAULT_TENANT, Enqueued
from gribmill.queue.times import to_datetime

if TYPE_CHECKING:
    from gribmill.queue.cron import CronSchedule

Misfire = Literal["skip", "latest", "all"]


@dataclass(frozen=True, slots=True)
class NewTrigger:
    """A rule to keep: `cron` in `timezone`, or `event`. `args` may have places for what the occasion tells."""

    label: str
    type: str
    args: dict[str, Any] = field(default_factory=dict)
    cron: str | None = None
    timezone: str = "UTC"
    event: str | None = None
    priority: int = 0
    tenant_id: str = DEFAULT_TENANT
    dedupe_window_seconds: int = 300
    misfire: Misfire = "latest"
    created_by: str | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """A rule as it is kept. `template` is the JSON text of its jobs' arguments."""

    id: int
    label: str
    type: str
    template: str
    cron: str | None
    timezone: str | None
    event: str | None
    priority: int
    tenant_id: str
    dedupe_window_seconds: int
    misfire: Misfire
    is_enabled: bool
    last_fired_at: datetime | None
    next_fire_at: datetime | None
    created_by: str | None

    @property
    def schedule(self) -> CronSchedule:
        return schedule_of(self.cron or "", self.timezone or "")


@dataclass(frozen=True, slots=True)
class Fired:
    """What one occasion made of a trigger: a job, or the reason why there is none."""

    trigger_id: int
    occasion: str
    job: Enqueued | None
    error: str | None = None


def schedule_of(cron: str, timezone: str) -> CronSchedule:
    """Clocks and time zones are loaded when the first schedule is met: most commands and workers meet none."""
    from gribmill.queue.cron import CronSchedule

    return CronSchedule(cron, timezone)


def template_of(trigger: Trigger) -> dict[str, Any]:
    """The arguments of its jobs, with places still to be filled. A row written by hand may hold anything."""
    try:
        args = json.loads(trigger.template)
    except (ValueError, RecursionError):
        args = None
    if not isinstance(args, dict):
        raise BadTrigger(f"the template of trigger {trigger.id} is no JSON object")
    return args


def trigger_of(row: Row) -> Trigger:
    """The rule in a row; BadTrigger when somebody has written something else into it by hand."""
    for column in ("priority", "dedupe_window_seconds"):
        if not isinstance(row[column], int):
            raise BadTrigger(f"the {column} of trigger {row['id']} is no whole number")
    for column in ("label", "payload_template", "tenant_id", "cron_expr", "timezone", "event_name"):
        if not isinstance(row[column], str | None):
            raise BadTrigger(f"the {column} of trigger {row['id']} is no text")
    return Trigger(
        id=row["id"],
        label=row["label"],
        type=row["definition_key"],
        template=row["payload_template"],
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
