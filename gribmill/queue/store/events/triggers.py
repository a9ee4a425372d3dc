"""Triggers: rules that enqueue jobs on a schedule or in response to events."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.queue.argument_template import check_template, render
from gribmill.queue.errors import BadArguments, BadTrigger, TriggerNotFound
from gribmill.queue.job_type import ARGS_LIMIT_BYTES, check_job
from gribmill.queue.model import ADAPTIVE, BrokenTrigger, Fired, Firing, JobSource, JobTemplate, NewTrigger, Trigger
from gribmill.queue.store.base import ID_LIMIT, Facet, KnownTypes, retried
from gribmill.queue.store.events.trigger_firing import (
    LONGEST_NAME,
    Occasion,
    arguments_of,
    cron_of,
    fire,
    fire_event,
    fire_schedule,
    job_template_of,
    schedule_of,
    set_state,
    size_of,
    slot_fields,
    slot_name,
    sound,
    trigger_job,
)
from gribmill.queue.store.tenants import refuse_disabled

if TYPE_CHECKING:
    from gribmill.queue.cron import CronSchedule

# Keeps transactions short: a month of missed slots is fired a few at a time.
SLOTS_AT_ONCE = 100
EDITABLE = ("label", "type", "template", "cron", "timezone", "event", "dedupe_window_seconds", "misfire", "template_id")
LONGEST_WINDOW_SECONDS = 30 * 86_400


class _NextSlot(NamedTuple):
    due: datetime | None


class Triggers(Facet):
    """Any process may fire a trigger at any time: the firing's row guarantees one job per slot."""

    @retried
    def add(self, new: NewTrigger) -> Trigger:
        """Store a trigger; raises BadTrigger, BadArguments or UnknownJobType if it could never create a job."""
        with self.database.read() as tx:
            tenant = refuse_disabled(tx, new.tenant_id)
            template = job_template_of(tx, new)
        new = replace(new, timezone=new.timezone or tenant.timezone)
        schedule = _check_trigger(self.registry, new, template)
        with self.database.write() as tx:
            slot = schedule.after(tx.now) if schedule else None
            trigger = _get(tx, tx.insert_trigger(_stored(new, slot)))
        self.database.announce()
        return trigger

    def list(self, tenant_id: str | None = None) -> Sequence[Trigger]:
        """The triggers of one tenant, or of all, except broken ones."""
        with self.database.read() as tx:
            found = [one for one in tx.list_triggers() if isinstance(one, Trigger)]
        return [one for one in found if tenant_id is None or one.tenant_id == tenant_id]

    def broken(self) -> Sequence[BrokenTrigger]:
        """Manually written rows that are not valid triggers."""
        with self.database.read() as tx:
            return [one for one in tx.list_triggers() if isinstance(one, BrokenTrigger)]

    def get(self, trigger_id: int) -> Trigger:
        with self.database.read() as tx:
            return _get(tx, trigger_id)

    def firings(self, trigger_id: int, limit: int = 10) -> Sequence[Firing]:
        """The firings of the last month, newest first."""
        with self.database.read() as tx:
            _get(tx, trigger_id)
            return tx.query(Firing, "triggers/firings", {"id": trigger_id, "limit": limit})

    @retried
    def set_enabled(self, trigger_id: int, *, enabled: bool) -> Trigger:
        """Enable or disable a trigger. Slots that pass while it is disabled are not fired later."""
        with self.database.write() as tx:
            tx.hold_edits()
            trigger = _get(tx, trigger_id)
            if trigger.is_enabled == enabled:
                return trigger
            slot = cron_of(trigger).after(tx.now) if enabled and trigger.kind == "schedule" else None
            set_state(tx, trigger_id, enabled=enabled, slot=trigger.next_fire_at if _adaptive(trigger) else slot)
            trigger = _get(tx, trigger_id)
        self.database.announce()
        return trigger

    @retried
    def edit(self, trigger_id: int, **changes: Any) -> Trigger:
        """Change fields of a trigger, named as in NewTrigger. Its id, firings and jobs are kept.

        Setting `cron` turns it into a schedule, setting `event` into an event trigger.
        """
        with self.database.write() as tx:
            tx.hold_edits()
            old = _get(tx, trigger_id)
            if _adaptive(old):
                raise BadTrigger(f"trigger {trigger_id} is managed by `gribmill run`: enable, disable or fire it")
            new = _edited(old, changes)
            schedule = _check_trigger(self.registry, new, job_template_of(tx, new))
            same = (new.cron, new.timezone) == (old.cron, old.timezone)
            slot = old.next_fire_at if same or not schedule else schedule.after(tx.now)
            stored = _stored(new, slot if schedule and old.is_enabled else None)
            kind = "event" if stored.cron is None else "schedule"
            row = {name: getattr(stored, name) for name in EDITABLE}
            clock = {"trigger_type": kind, "slot": stored.next_fire_at}
            priority = {"priority": stored.priority or 0, "uses_template_priority": stored.priority is None}
            tx.change("triggers/update", {"id": trigger_id, **row, **clock, **priority})
            trigger = _get(tx, trigger_id)
        self.database.announce()
        return trigger

    @retried
    def fire_now(self, trigger_id: int, payload: Mapping[str, Any] | None = None) -> Fired:
        """Create a trigger's job now, whether or not the trigger is enabled. An event trigger receives the payload.

        The schedule is unaffected. An equal job that is delayed becomes ready now.
        """
        with self.database.write() as tx:
            trigger = _get(tx, trigger_id)
            if trigger.event is None and payload:
                raise BadTrigger(f"trigger {trigger_id} is a schedule, which takes no values")
            fields = slot_fields(tx.now) if trigger.event is None else {"event": payload or {}}
            source: JobSource = "schedule" if trigger.event is None else "event"
            # Two calls within one millisecond must both fire.
            key = f"manual {slot_name(tx.now)} {secrets.token_hex(4)}"
            fired = fire(self.registry, tx, trigger, Occasion(key, source, fields))
            if fired.job and not fired.job.created:
                tx.change("jobs/run_now", {"job_id": fired.job.id})
        self.database.announce()
        return fired

    @retried
    def keep_adaptive(self, rules: Sequence[NewTrigger]) -> Sequence[Trigger]:
        """The stored rows of these adaptive schedules, in the same order; creates missing ones."""
        with self.database.read() as tx:
            found = _match(tx, rules)
        if None not in found:
            return [one for one in found if one]
        with self.database.write() as tx:
            for rule, known in zip(rules, _match(tx, rules), strict=True):
                if known is None:
                    tx.insert_trigger(_stored(replace(rule, cron=ADAPTIVE), None))
            return [one for one in _match(tx, rules) if one]

    @retried
    def plan(self, slots: Mapping[int, datetime | None], fired: Iterable[int] = ()) -> None:
        """Record when adaptive schedules fire next, and which fired now."""
        with self.database.write() as tx:
            for trigger_id, slot in slots.items():
                tx.change("triggers/plan", {"id": trigger_id, "slot": slot})
            for trigger_id in fired:
                tx.change("triggers/mark_fired", {"id": trigger_id})

    @retried
    def remove(self, trigger_id: int) -> None:
        """Remove a trigger. Its jobs stay."""
        with self.database.write() as tx:
            if not 0 < trigger_id < ID_LIMIT or not tx.change("triggers/delete", {"id": trigger_id}):
                raise TriggerNotFound(f"there is no trigger {trigger_id}")

    def seconds_to_next_slot(self) -> float | None:
        """Seconds until the next schedule is due; None if there is none."""
        with self.database.read() as tx:
            slot = tx.first(_NextSlot, "triggers/next_slot", {"types": self._known_types})
            if slot is None:
                return None
            # A manually written row may have no time: treat it as due.
            return max(0.0, (slot.due - tx.now).total_seconds()) if slot.due else 0.0

    @property
    def _known_types(self) -> tuple[str, ...]:
        """Only the types that this process knows: slots of newer types are left to newer workers."""
        return tuple(kind.key for kind in self.registry)

    @retried
    def fire_due(self) -> Sequence[Fired]:
        """Create the jobs of due slots, at most about two hundred per call; call it until it returns none.

        A slot whose job cannot be created is not retried; the result contains the error.
        """
        self.registry.refresh()
        known = self._known_types
        with self.database.read() as tx:
            if not tx.any_trigger_due(known):
                return []
        fired: list[Fired] = []
        with self.database.write() as tx:
            for trigger in tx.due_triggers(known, SLOTS_AT_ONCE):
                fired += fire_schedule(self.registry, tx, trigger, max(1, SLOTS_AT_ONCE - len(fired)))
        self.database.announce()
        return fired

    def respond(
        self,
        tx: Transaction,
        name: str,
        tenant_id: str,
        occasion: Occasion,
        *,
        repeats: bool = False,
    ) -> Sequence[Fired]:
        """Create the jobs of all triggers that respond to an event, in the caller's transaction: one per occasion, or
        with `repeats` one per window of the trigger."""
        found = tx.event_triggers(name, tenant_id)
        return [fire_event(self.registry, tx, one, occasion, repeats=repeats) for one in found]


def _adaptive(trigger: Trigger) -> bool:
    return trigger.kind == "adaptive"


def _match(tx: Snapshot, rules: Sequence[NewTrigger]) -> list[Trigger | None]:
    """Match each adaptive trigger to the stored row with its type and arguments."""
    rows = [one for one in tx.list_triggers() if isinstance(one, Trigger) and _adaptive(one)]
    return [next((row for row in rows if (row.type, row.template) == (rule.type, rule.args)), None) for rule in rules]


def _edited(old: Trigger, changes: Mapping[str, Any]) -> NewTrigger:
    """The changed trigger, as if it were new."""
    if changes.get("cron") is not None and changes.get("event") is not None:
        raise BadTrigger("a trigger needs either a schedule or an event")
    cron, event = old.cron, old.event
    if changes.get("cron") is not None:
        event = None
    if changes.get("event") is not None:
        cron = None
    kept = NewTrigger(
        old.label,
        old.type,
        arguments_of(old),
        cron=cron,
        timezone=old.timezone or "UTC",
        event=event,
        priority=old.priority,
        tenant_id=old.tenant_id,
        dedupe_window_seconds=old.dedupe_window_seconds,
        misfire=None if cron is None else old.misfire,
        created_by=old.created_by,
        template_id=old.template_id,
    )
    new = replace(kept, **changes)
    if new.cron is None and changes.get("timezone") is not None:
        raise BadTrigger("a time zone applies to schedules only, not to events")
    return new


def _get(tx: Snapshot, trigger_id: int) -> Trigger:
    found = tx.get_trigger(trigger_id) if 0 < trigger_id < ID_LIMIT else None
    if found is None:
        raise TriggerNotFound(f"there is no trigger {trigger_id}")
    return sound(found)


def _stored(new: NewTrigger, slot: datetime | None) -> Trigger:
    return Trigger(
        id=0,
        label=new.label,
        type=new.type,
        template=new.args,
        cron=new.cron,
        timezone=None if new.cron is None else new.timezone or "UTC",
        event=new.event,
        priority=0 if new.priority is None and new.template_id is None else new.priority,
        tenant_id=new.tenant_id,
        dedupe_window_seconds=new.window_seconds,
        misfire=new.misfire or "latest",
        is_enabled=True,
        last_fired_at=None,
        next_fire_at=slot,
        created_by=new.created_by,
        template_id=new.template_id,
    )


def _check_trigger(registry: KnownTypes, new: NewTrigger, template: JobTemplate | None) -> CronSchedule | None:
    """Validate a trigger and return its schedule (None for an event); BadTrigger or BadArguments if it cannot fire."""
    kind = registry.expect(new.type)
    if (new.cron is None) == (new.event is None):
        raise BadTrigger("a trigger needs either a schedule or an event")
    if new.event is not None and new.misfire is not None:
        raise BadTrigger("misfire is for schedules: an event has no slots to miss")
    for what, name in (("label", new.label), ("event's name", new.event)):
        if name is not None and not 0 < len(name) <= LONGEST_NAME:
            raise BadTrigger(f"a {what} has 1 to {LONGEST_NAME} characters")
    if not 0 <= new.window_seconds <= LONGEST_WINDOW_SECONDS:
        raise BadTrigger("a window is between 0 seconds and 30 days")
    names = kind.argument_names
    if names is not None and (strange := new.args.keys() - set(names)):
        known = ", ".join(names)
        raise BadArguments(f"{kind.key}: {', '.join(sorted(strange))}: no such argument; there are: {known}")
    if size_of(new.args) > ARGS_LIMIT_BYTES:
        raise BadArguments(f"{kind.key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
    if new.cron is not None:
        return _check_schedule(registry, new, new.cron, template)
    _check_event(registry, new, template)
    return None


def _check_event(registry: KnownTypes, new: NewTrigger, template: JobTemplate | None) -> None:
    check_job(trigger_job(new, template, {}, "event", ""))
    if not check_template(new.args, "event"):
        registry.prepare(trigger_job(new, template, new.args, "event", ""))


def _check_schedule(registry: KnownTypes, new: NewTrigger, cron: str, template: JobTemplate | None) -> CronSchedule:
    schedule = schedule_of(cron, new.timezone or "")
    check_template(new.args, "schedule")
    # Every slot has the same fields, so checking one is enough.
    args = render(new.args, slot_fields(datetime.now(UTC)))
    registry.prepare(trigger_job(new, template, args, "schedule", ""))
    return schedule
