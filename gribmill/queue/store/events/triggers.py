"""Jobs that are enqueued by rules: at the slots of schedules, and in response to events."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.queue.argument_template import check_template, render
from gribmill.queue.errors import BadArguments, BadTrigger, QueueError, TriggerNotFound
from gribmill.queue.job_type import ARGS_LIMIT_BYTES, canonical_json
from gribmill.queue.model import (
    ADAPTIVE,
    DEFAULT_TENANT,
    BrokenTrigger,
    Fired,
    JobSource,
    JobTemplate,
    NewJob,
    NewTrigger,
    Trigger,
)
from gribmill.queue.store.base import ID_LIMIT, Facet
from gribmill.queue.store.jobs.prepare import check_job, prepare
from gribmill.queue.store.jobs.readiness import inactive_types
from gribmill.queue.store.tenants import refuse_disabled
from gribmill.queue.store.types.templates import find_template, job_of
from gribmill.queue.times import to_rfc3339

if TYPE_CHECKING:
    from gribmill.queue.cron import CronSchedule

# A slot that is later than this was missed: the machine slept, or no worker ran.
PUNCTUAL_WITHIN = timedelta(seconds=60)
# A long transaction would keep claims waiting: what a whole month has missed is made up for a little at a time.
SLOTS_AT_ONCE = 100
LONGEST_NAME = 200
PAYLOAD_LIMIT_BYTES = 64_000
LONGEST_WINDOW_SECONDS = 30 * 86_400
EDITABLE = ("label", "type", "template", "cron", "timezone", "event", "dedupe_window_seconds", "misfire", "template_id")


class _NextSlot(NamedTuple):
    due: datetime | None


class Triggers(Facet):
    """Any process may fire at any time: the row of a firing decides, and each slot makes one job."""

    def add(self, new: NewTrigger) -> Trigger:
        """Store a rule; BadTrigger, BadArguments or UnknownJobType when it could never make a job."""
        with self.database.read() as tx:
            tenant = refuse_disabled(tx, new.tenant_id)
            template = _job_template(tx, new)
        new = replace(new, timezone=new.timezone or tenant.timezone)
        schedule = self._check(new, template)
        with self.database.write() as tx:
            slot = schedule.after(tx.now) if schedule else None
            trigger = _get(tx, tx.insert_trigger(_stored(new, slot)))
        self.database.announce()
        return trigger

    def list(self, tenant_id: str | None = None) -> Sequence[Trigger]:
        """Of one tenant, or of all."""
        with self.database.read() as tx:
            found = [_sound(one) for one in tx.list_triggers()]
        return [one for one in found if tenant_id is None or one.tenant_id == tenant_id]

    def get(self, trigger_id: int) -> Trigger:
        with self.database.read() as tx:
            return _get(tx, trigger_id)

    def set_enabled(self, trigger_id: int, *, enabled: bool) -> Trigger:
        """Switch a rule on or off. Slots that pass while it is off are not made up for."""
        with self.database.write() as tx:
            trigger = _get(tx, trigger_id)
            if trigger.is_enabled == enabled:
                return trigger
            slot = _schedule(trigger).after(tx.now) if enabled and trigger.kind == "schedule" else None
            _set_state(tx, trigger_id, enabled=enabled, slot=trigger.next_fire_at if _adaptive(trigger) else slot)
            trigger = _get(tx, trigger_id)
        self.database.announce()
        return trigger

    def edit(self, trigger_id: int, **changes: Any) -> Trigger:
        """Change fields of a rule, by their names in NewTrigger; its id, its firings and its jobs stay.

        A `cron` makes it a schedule, an `event` a rule for that event.
        """
        with self.database.write() as tx:
            old = _get(tx, trigger_id)
            if _adaptive(old):
                raise BadTrigger(f"trigger {trigger_id} is kept by `gribmill run`: enable, disable or fire it")
            new = _edited(old, changes)
            schedule = self._check(new, _job_template(tx, new))
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

    def fire_now(self, trigger_id: int, payload: Mapping[str, Any] | None = None) -> Fired:
        """Make a job of a rule at once, enabled or not; a rule for an event gets the payload. The schedule goes on.

        An equal job that waits for its time runs now.
        """
        with self.database.write() as tx:
            trigger = _get(tx, trigger_id)
            if trigger.event is None and payload:
                raise BadTrigger(f"trigger {trigger_id} is a schedule, which takes no values")
            fields = _slot_fields(tx.now) if trigger.event is None else {"event": payload or {}}
            source: JobSource = "schedule" if trigger.event is None else "event"
            occasion = f"manual {_name(tx.now)} {secrets.token_hex(4)}"  # twice in a millisecond is twice
            fired = self._fire(tx, trigger, source, fields, occasion, None)
            if fired.job and not fired.job.created:
                tx.change("jobs/run_now", {"job_id": fired.job.id})
        self.database.announce()
        return fired

    def keep_adaptive(self, rules: Sequence[NewTrigger]) -> Sequence[Trigger]:
        """The stored rows of schedules whose times the caller chooses, in the same order; made if they are missing."""
        with self.database.read() as tx:
            found = _match(tx, rules)
        if None not in found:
            return [one for one in found if one]
        with self.database.write() as tx:
            for rule, known in zip(rules, _match(tx, rules), strict=True):
                if known is None:
                    tx.insert_trigger(_stored(replace(rule, cron=ADAPTIVE), None))
            return [one for one in _match(tx, rules) if one]

    def plan(self, slots: Mapping[int, datetime | None], fired: Iterable[int] = ()) -> None:
        """Note when adaptive schedules fire next, and which fired now."""
        with self.database.write() as tx:
            for trigger_id, slot in slots.items():
                tx.change("triggers/plan", {"id": trigger_id, "slot": slot})
            for trigger_id in fired:
                tx.change("triggers/mark_fired", {"id": trigger_id})

    def remove(self, trigger_id: int) -> None:
        """Remove a rule. Its jobs stay."""
        with self.database.write() as tx:
            if not 0 < trigger_id < ID_LIMIT or not tx.change("triggers/delete", {"id": trigger_id}):
                raise TriggerNotFound(f"there is no trigger {trigger_id}")

    def seconds_to_next_slot(self) -> float | None:
        """How long until a schedule is due; None when there is none."""
        with self.database.read() as tx:
            slot = tx.first(_NextSlot, "triggers/next_slot", {"types": self._known_types})
            if slot is None:
                return None
            # A row written by hand may have no time: it is looked at now.
            return max(0.0, (slot.due - tx.now).total_seconds()) if slot.due else 0.0

    @property
    def _known_types(self) -> tuple[str, ...]:
        """A slot of a type that only a newer gribmill knows is left to that one."""
        return tuple(kind.key for kind in self.registry)

    def fire_due(self) -> Sequence[Fired]:
        """Make the jobs of slots that have come, a hundred or two at a time: call it until it returns none.

        A slot whose job cannot be made is over; the reason is in the answer.
        """
        self.registry.refresh()
        known = self._known_types
        with self.database.read() as tx:
            if not tx.any_trigger_due(known):
                return []
        fired: list[Fired] = []
        with self.database.write() as tx:
            for trigger in tx.due_triggers(known, SLOTS_AT_ONCE):
                fired += self._fire_schedule(tx, trigger, max(1, SLOTS_AT_ONCE - len(fired)))
        self.database.announce()
        return fired

    def respond(
        self,
        tx: Transaction,
        name: str,
        payload: Mapping[str, Any],
        tenant_id: str,
        occasion: str,
        *,
        repeats: bool = False,
    ) -> Sequence[Fired]:
        """Make the jobs of every rule for an event, in the caller's transaction: one per occasion, or with `repeats`
        one per window of the rule."""
        found = tx.event_triggers(name, tenant_id)
        return [self._fire_event(tx, one, payload, occasion, repeats=repeats) for one in found]

    def _check(self, new: NewTrigger, template: JobTemplate | None) -> CronSchedule | None:
        """Everything that can be known of a rule before it fires."""
        kind = self.registry.expect(new.type)
        if (new.cron is None) == (new.event is None):
            raise BadTrigger("a trigger has either a schedule or an event")
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
        if _size(new.args) > ARGS_LIMIT_BYTES:
            raise BadArguments(f"{kind.key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
        if new.cron is not None:
            return self._check_schedule(new, new.cron, template)
        self._check_event(new, template)
        return None

    def _check_event(self, new: NewTrigger, template: JobTemplate | None) -> None:
        check_job(_job(new, template, {}, "event", ""))
        if not check_template(new.args, "event"):
            prepare(self.registry, _job(new, template, new.args, "event", ""))

    def _check_schedule(self, new: NewTrigger, cron: str, template: JobTemplate | None) -> CronSchedule:
        schedule = schedule_of(cron, new.timezone or "")
        check_template(new.args, "schedule")
        # Every slot has the same fields: what can be made now can be made then.
        args = render(new.args, _slot_fields(datetime.now(UTC)))
        prepare(self.registry, _job(new, template, args, "schedule", ""))
        return schedule

    def _fire_schedule(self, tx: Transaction, found: Trigger | BrokenTrigger, most: int) -> Sequence[Fired]:
        """The jobs of the slots that a schedule owes; then its next slot is set. A broken one is switched off."""
        try:
            trigger = _sound(found)
            schedule = _schedule(trigger)
            owed = [*islice(_owed(trigger, schedule, tx.now), most)]
            ahead = schedule.after(owed[-1] if owed and trigger.misfire == "all" else tx.now)
            slots = _outside_window(trigger, schedule, owed)
        except (BadTrigger, ArithmeticError) as error:  # written by hand; a time beyond all calendars
            _set_state(tx, found.id, enabled=False, slot=None)
            return [Fired(found.id, "its schedule", None, f"switched off: {error}")]
        _set_state(tx, trigger.id, enabled=ahead is not None, slot=ahead)
        made = [self._fire(tx, trigger, "schedule", _slot_fields(slot), _name(slot), None) for slot in slots]
        return [one for one in made if one.job or one.error]

    def _fire_event(
        self,
        tx: Transaction,
        trigger: Trigger | BrokenTrigger,
        payload: Mapping[str, Any],
        occasion: str,
        *,
        repeats: bool,
    ) -> Fired:
        """The job that a rule makes of an event. The same payload without an id counts again after a while."""
        if isinstance(trigger, BrokenTrigger):
            return Fired(trigger.id, occasion, None, trigger.reason)
        again_before = tx.now - timedelta(seconds=trigger.dedupe_window_seconds) if repeats else None
        return self._fire(tx, trigger, "event", {"event": payload}, occasion, again_before)

    def _fire(
        self,
        tx: Transaction,
        trigger: Trigger,
        source: JobSource,
        fields: Mapping[str, Any],
        occasion: str,
        again_before: datetime | None,
    ) -> Fired:
        """The job of one occasion. One that cannot be made is reported, and keeps no other rule from firing."""
        if trigger.type in inactive_types(tx):
            return Fired(trigger.id, occasion, None, f"{trigger.type} is inactive")
        try:
            if trigger.tenant_id != DEFAULT_TENANT:
                refuse_disabled(tx, trigger.tenant_id)
                tx.check_tenant_limits(trigger.tenant_id, more=1)
            args = render(_template(trigger), fields)
            ref = f"trigger {trigger.id}: {occasion}"
            job = prepare(self.registry, _job(trigger, _job_template(tx, trigger), args, source, ref))
        except QueueError as error:
            return Fired(trigger.id, occasion, None, str(error))
        return Fired(trigger.id, occasion, tx.fire(trigger.id, occasion, job, again_before))


def schedule_of(cron: str, timezone: str) -> CronSchedule:
    """Clocks and time zones are loaded when the first schedule is met: most commands and workers meet none."""
    from gribmill.queue.cron import CronSchedule

    return CronSchedule(cron, timezone)


def _schedule(trigger: Trigger) -> CronSchedule:
    return schedule_of(trigger.cron or "", trigger.timezone or "")


def _adaptive(trigger: Trigger) -> bool:
    return trigger.kind == "adaptive"


def _match(tx: Snapshot, rules: Sequence[NewTrigger]) -> list[Trigger | None]:
    """The adaptive row of each rule: the one with its type and arguments."""
    rows = [one for one in tx.list_triggers() if isinstance(one, Trigger) and _adaptive(one)]
    return [next((row for row in rows if (row.type, row.template) == (rule.type, rule.args)), None) for rule in rules]


def _edited(old: Trigger, changes: Mapping[str, Any]) -> NewTrigger:
    """The rule as it would be added."""
    if changes.get("cron") is not None and changes.get("event") is not None:
        raise BadTrigger("a trigger has either a schedule or an event")
    cron, event = old.cron, old.event
    if changes.get("cron") is not None:
        event = None
    if changes.get("event") is not None:
        cron = None
    kept = NewTrigger(
        old.label,
        old.type,
        _template(old),
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
        raise BadTrigger("a time zone is for schedules: an event has none")
    return new


def _template(trigger: Trigger) -> dict[str, Any]:
    if not isinstance(trigger.template, dict):
        raise BadTrigger(f"the template of trigger {trigger.id} is not a JSON object")
    return trigger.template


def _sound(found: Trigger | BrokenTrigger) -> Trigger:
    if isinstance(found, BrokenTrigger):
        raise BadTrigger(found.reason)
    return found


def _get(tx: Snapshot, trigger_id: int) -> Trigger:
    found = tx.get_trigger(trigger_id) if 0 < trigger_id < ID_LIMIT else None
    if found is None:
        raise TriggerNotFound(f"there is no trigger {trigger_id}")
    return _sound(found)


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


def _set_state(tx: Transaction, trigger_id: int, *, enabled: bool, slot: datetime | None) -> None:
    """On or off, and for a schedule the slot that comes next."""
    tx.change("triggers/set_state", {"id": trigger_id, "is_enabled": enabled, "slot": slot})


def _owed(trigger: Trigger, schedule: CronSchedule, now: datetime) -> Iterator[datetime]:
    """The slots to fire now, by what the trigger wants done about those that were missed."""
    due = trigger.next_fire_at
    if due is None:  # written by hand: it begins now
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
    """Those that are at least the window after the slot that made a job last."""
    window = timedelta(seconds=trigger.dedupe_window_seconds)
    last = schedule.latest(trigger.last_fired_at) if trigger.last_fired_at and window else None
    kept: list[datetime] = []
    for slot in slots:
        if last is None or slot - last >= window:
            kept.append(slot)
            last = slot if window else None
    return kept


def _job(
    rule: NewTrigger | Trigger, template: JobTemplate | None, args: Any, source: JobSource, source_ref: str
) -> NewJob:
    job = job_of(template, args) if template else NewJob(rule.type, args, tenant_id=rule.tenant_id)
    priority = job.priority if rule.priority is None else rule.priority
    by = f"trigger {rule.label}"
    return replace(job, priority=priority, source=source, source_ref=source_ref, created_by=by)


def _job_template(tx: Snapshot, rule: NewTrigger | Trigger) -> JobTemplate | None:
    """The job template that a rule names; BadTrigger unless it fits the rule."""
    if rule.template_id is None:
        return None
    template = find_template(tx, rule.template_id)
    if template is None or template.tenant_id != rule.tenant_id:
        raise BadTrigger(f"the tenant {rule.tenant_id} has no template with the id {rule.template_id}")
    if template.type != rule.type:
        raise BadTrigger(f"template {template.name} makes jobs of the type {template.type}, not {rule.type}")
    return template


def _slot_fields(slot: datetime) -> dict[str, Any]:
    return {"schedule": {"slot": _name(slot)}}


def _name(slot: datetime) -> str:
    return to_rfc3339(slot) or ""


def occasion_of(payload: Mapping[str, Any], event_id: str | None) -> str:
    """What an event is known by: its id, or a digest of its payload."""
    if _size(payload) > PAYLOAD_LIMIT_BYTES:
        raise BadArguments(f"the event's payload is larger than {PAYLOAD_LIMIT_BYTES} bytes")
    if event_id is None:
        # "told" is in the rows of firings since the first version.
        return f"told {hashlib.sha256(canonical_json(dict(payload)).encode('utf-8', 'surrogatepass')).hexdigest()}"
    if not 0 < len(event_id) <= LONGEST_NAME:
        raise BadArguments(f"an event's id has 1 to {LONGEST_NAME} characters")
    return f"id {event_id}"


def _size(payload: Mapping[str, Any]) -> int:
    try:
        return len(canonical_json(dict(payload)))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArguments(f"the payload is not JSON: {error}") from None
