"""Firing a trigger: which slots of a schedule are due, and the job for each slot or event."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.queue.argument_template import render
from gribmill.queue.errors import BadArguments, BadTrigger, QueueError
from gribmill.queue.job_type import Registry, canonical_json
from gribmill.queue.model import (
    DEFAULT_TENANT,
    BrokenTrigger,
    Fired,
    JobSource,
    JobTemplate,
    NewJob,
    NewTrigger,
    Trigger,
)
from gribmill.queue.store.jobs.readiness import inactive_types
from gribmill.queue.store.tenants import refuse_disabled
from gribmill.queue.store.types.templates import find_template, job_of
from gribmill.queue.times import to_rfc3339

if TYPE_CHECKING:
    from gribmill.queue.cron import CronSchedule

# A slot that is later than this counts as missed: the machine was asleep, or no worker was running.
PUNCTUAL_WITHIN = timedelta(seconds=60)
LONGEST_NAME = 200
PAYLOAD_LIMIT_BYTES = 64_000


class Occasion(NamedTuple):
    """The slot or event that fires a trigger. A trigger fires once per key."""

    key: str
    source: JobSource
    fields: Mapping[str, Any]
    correlation_id: str | None = None


def fire_schedule(registry: Registry, tx: Transaction, found: Trigger | BrokenTrigger, most: int) -> Sequence[Fired]:
    """Create the jobs of all due slots and set the next slot. A broken schedule is disabled."""
    try:
        trigger = sound(found)
        schedule = cron_of(trigger)
        owed = [*islice(_owed(trigger, schedule, tx.now), most)]
        ahead = schedule.after(owed[-1] if owed and trigger.misfire == "all" else tx.now)
        slots = _outside_window(trigger, schedule, owed)
    except (BadTrigger, ArithmeticError) as error:  # a manually written row, or a time outside the calendar
        set_state(tx, found.id, enabled=False, slot=None)
        return [Fired(found.id, "its schedule", None, f"switched off: {error}")]
    set_state(tx, trigger.id, enabled=ahead is not None, slot=ahead)
    occasions = [Occasion(slot_name(slot), "schedule", slot_fields(slot)) for slot in slots]
    made = [fire(registry, tx, trigger, occasion) for occasion in occasions]
    return [one for one in made if one.job or one.error]


def fire_event(
    registry: Registry, tx: Transaction, trigger: Trigger | BrokenTrigger, occasion: Occasion, *, repeats: bool
) -> Fired:
    """Create a trigger's job for an event. With `repeats`, an equal payload fires again after the trigger's window."""
    if isinstance(trigger, BrokenTrigger):
        return Fired(trigger.id, occasion.key, None, trigger.reason)
    again_before = tx.now - timedelta(seconds=trigger.dedupe_window_seconds) if repeats else None
    return fire(registry, tx, trigger, occasion, again_before)


def fire(
    registry: Registry, tx: Transaction, trigger: Trigger, occasion: Occasion, again_before: datetime | None = None
) -> Fired:
    """Create the job of one occasion. A failure is reported and does not affect other triggers."""
    key = occasion.key
    if trigger.type in inactive_types(tx):
        return Fired(trigger.id, key, None, f"{trigger.type} is inactive")
    try:
        if trigger.tenant_id != DEFAULT_TENANT:
            refuse_disabled(tx, trigger.tenant_id)
            tx.check_tenant_limits(trigger.tenant_id, more=1)
        args = render(arguments_of(trigger), occasion.fields)
        ref = f"trigger {trigger.id}: {key}"
        template = job_template_of(tx, trigger)
        new = trigger_job(trigger, template, args, occasion.source, ref, occasion.correlation_id)
        job = registry.prepare(new)
    except QueueError as error:
        return Fired(trigger.id, key, None, str(error))
    return Fired(trigger.id, key, tx.fire(trigger.id, key, job, again_before))


def occasion_of(payload: Mapping[str, Any], event_id: str | None) -> str:
    """The key that identifies an event: its id, or a digest of its payload."""
    if size_of(payload) > PAYLOAD_LIMIT_BYTES:
        raise BadArguments(f"the event's payload is larger than {PAYLOAD_LIMIT_BYTES} bytes")
    if event_id is None:
        # Stored rows have used the prefix "told" since the first version.
        return f"told {hashlib.sha256(canonical_json(dict(payload)).encode('utf-8', 'surrogatepass')).hexdigest()}"
    if not 0 < len(event_id) <= LONGEST_NAME:
        raise BadArguments(f"an event's id has 1 to {LONGEST_NAME} characters")
    return f"id {event_id}"


def cron_of(trigger: Trigger) -> CronSchedule:
    return schedule_of(trigger.cron or "", trigger.timezone or "")


def sound(found: Trigger | BrokenTrigger) -> Trigger:
    if isinstance(found, BrokenTrigger):
        raise BadTrigger(found.reason)
    return found


def set_state(tx: Transaction, trigger_id: int, *, enabled: bool, slot: datetime | None) -> None:
    """Enable or disable, and set a schedule's next slot."""
    tx.change("triggers/set_state", {"id": trigger_id, "is_enabled": enabled, "slot": slot})


def trigger_job(
    rule: NewTrigger | Trigger,
    template: JobTemplate | None,
    args: Any,
    source: JobSource,
    source_ref: str = "",
    correlation_id: str | None = None,
) -> NewJob:
    job = job_of(template, args) if template else NewJob(rule.type, args, tenant_id=rule.tenant_id)
    return replace(
        job,
        priority=job.priority if rule.priority is None else rule.priority,
        source=source,
        source_ref=source_ref,
        correlation_id=job.correlation_id or correlation_id,
        created_by=f"trigger {rule.label}",
    )


def job_template_of(tx: Snapshot, rule: NewTrigger | Trigger) -> JobTemplate | None:
    """The job template of a trigger; raises BadTrigger if it does not match the trigger."""
    if rule.template_id is None:
        return None
    template = find_template(tx, rule.template_id)
    if template is None or template.tenant_id != rule.tenant_id:
        raise BadTrigger(f"the tenant {rule.tenant_id} has no template with the id {rule.template_id}")
    if template.type != rule.type:
        raise BadTrigger(f"template {template.name} makes jobs of the type {template.type}, not {rule.type}")
    return template


def arguments_of(trigger: Trigger) -> dict[str, Any]:
    if not isinstance(trigger.template, dict):
        raise BadTrigger(f"the template of trigger {trigger.id} is not a JSON object")
    return trigger.template


def slot_fields(slot: datetime) -> dict[str, Any]:
    return {"schedule": {"slot": slot_name(slot)}}


def slot_name(slot: datetime) -> str:
    return to_rfc3339(slot) or ""


def schedule_of(cron: str, timezone: str) -> CronSchedule:
    """Parse a schedule. The parser is imported on first use: most commands and workers need none."""
    from gribmill.queue.cron import CronSchedule

    return CronSchedule(cron, timezone)


def size_of(payload: Mapping[str, Any]) -> int:
    """The number of characters as JSON; raises BadArguments if it cannot be serialized."""
    try:
        return len(canonical_json(dict(payload)))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArguments(f"the payload is not JSON: {error}") from None


def _owed(trigger: Trigger, schedule: CronSchedule, now: datetime) -> Iterator[datetime]:
    """The slots to fire now, according to the trigger's misfire policy."""
    due = trigger.next_fire_at
    if due is None:  # a manually written row; its schedule starts now
        return
    if trigger.misfire == "all":
        yield from takewhile(lambda slot: slot <= now, schedule.since(due))
        return
    latest = schedule.latest(now)
    if latest is None or latest < due:
        return
    if trigger.misfire == "latest" or now - latest <= PUNCTUAL_WITHIN:
        yield latest


def _outside_window(trigger: Trigger, schedule: CronSchedule, slots: Sequence[datetime]) -> list[datetime]:
    """The slots that are at least one window after the last one that created a job."""
    window = timedelta(seconds=trigger.dedupe_window_seconds)
    last = schedule.latest(trigger.last_fired_at) if trigger.last_fired_at and window else None
    kept: list[datetime] = []
    for slot in slots:
        if last is None or slot - last >= window:
            kept.append(slot)
            last = slot if window else None
    return kept
