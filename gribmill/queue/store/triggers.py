"""Jobs that nobody asks for by hand: made at the slots of schedules, and when events are told of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from gribmill.database.protocol import Row, Transaction
from gribmill.queue.argument_template import check_template, render
from gribmill.queue.dedupe import canonical_json
from gribmill.queue.errors import BadArguments, BadTrigger, QueueError, TriggerNotFound
from gribmill.queue.job_type import ARGS_LIMIT_BYTES
from gribmill.queue.model import DEFAULT_TENANT, JobSource, NewJob
from gribmill.queue.store.base import ID_LIMIT, Facet
from gribmill.queue.store.enqueue import check_job, insert_jobs, prepare
from gribmill.queue.times import to_datetime, to_rfc3339, to_text
from gribmill.queue.trigger import Fired, NewTrigger, Trigger, schedule_of, template_of, trigger_of

if TYPE_CHECKING:
    from gribmill.queue.cron import CronSchedule

# A slot that is later than this was missed: the machine slept, or no worker ran.
PUNCTUAL_WITHIN = timedelta(seconds=60)
# One writer at a time: what a whole month has missed is made up for a little at a time.
SLOTS_AT_ONCE = 100
LONGEST_NAME = 200
TOLD_LIMIT_BYTES = 64_000
LONGEST_WINDOW_SECONDS = 30 * 86_400


class Triggers(Facet):
    """The row of a slot, not the one who fires, decides: anybody may fire at any time, and each slot makes one job."""

    def add(self, new: NewTrigger) -> Trigger:
        """Keep a rule; BadTrigger, BadArguments or UnknownJobType when it could never make a job."""
        schedule = self._check(new)
        with self.database.write() as tx:
            slot = schedule.after(_moment(tx)) if schedule else None
            params = {
                "label": new.label,
                "definition_key": new.type,
                "payload_template": json.dumps(new.args),
                "trigger_type": "schedule" if schedule else "event",
                "cron_expr": new.cron,
                "timezone": new.timezone if schedule else None,
                "event_name": new.event,
                "priority": new.priority,
                "tenant_id": new.tenant_id,
                "dedupe_window_seconds": new.dedupe_window_seconds,
                "misfire": new.misfire,
                "next_trigger_at": _text(slot),
                "created_by": new.created_by,
                "now": tx.stamp,
            }
            trigger = _get(tx, tx.insert("triggers/insert", params) or 0)
        self.database.announce()
        return trigger

    def list(self) -> Sequence[Trigger]:
        with self.database.read() as tx:
            return [trigger_of(row) for row in tx.rows("triggers/list")]

    def set_enabled(self, trigger_id: int, *, enabled: bool) -> Trigger:
        """Switch a rule on or off. Slots that pass while it is off are not made up for."""
        with self.database.write() as tx:
            trigger = _get(tx, trigger_id)
            if trigger.is_enabled == enabled:
                return trigger
            slot = trigger.schedule.after(_moment(tx)) if enabled and trigger.cron else None
            _set_state(tx, trigger_id, enabled=enabled, slot=slot)
            trigger = _get(tx, trigger_id)
        self.database.announce()
        return trigger

    def remove(self, trigger_id: int) -> None:
        """Forget a rule. Its jobs stay."""
        with self.database.write() as tx:
            if not 0 < trigger_id < ID_LIMIT or not tx.change("triggers/delete", {"id": trigger_id}):
                raise TriggerNotFound(f"there is no trigger {trigger_id}")

    def seconds_to_next_slot(self) -> float | None:
        """How long until a schedule is due; None when there is none."""
        with self.database.read() as tx:
            rows = tx.rows("triggers/next_slot", {"types": self._known_types})
            if not rows:
                return None
            due = to_datetime(rows[0]["due"])  # a row written by hand has none: it is to be looked at now
            return max(0.0, due.timestamp() - tx.now) if due else 0.0

    @property
    def _known_types(self) -> str:
        """A slot of a type that only a newer gribmill knows is left to one of those."""
        return json.dumps([kind.key for kind in self.registry])

    def fire_due(self) -> Sequence[Fired]:
        """Make the jobs of slots that have come, a hundred or two at a time: until there are none, there may be more.

        A slot whose job cannot be made is over; its reason is in the answer.
        """
        known, fired = self._known_types, list[Fired]()
        with self.database.read() as tx:
            if not tx.rows("triggers/due", {"now": tx.stamp, "types": known, "limit": 1}):
                return []
        with self.database.write() as tx:
            for row in tx.rows("triggers/due", {"now": tx.stamp, "types": known, "limit": SLOTS_AT_ONCE}):
                fired += self._fire(tx, row, max(1, SLOTS_AT_ONCE - len(fired)))
        self.database.announce()
        return fired

    def fire_event(
        self, name: str, told: Mapping[str, Any], *, tenant_id: str = DEFAULT_TENANT, event_id: str | None = None
    ) -> Sequence[Fired]:
        """Make the jobs of every rule for this event.

        An event with an id counts once for each rule. Without one, a rule that has been told the same within its
        window makes no second job.
        """
        occasion = _occasion(told, event_id)
        with self.database.write() as tx:
            rows = tx.rows("triggers/for_event", {"event_name": name, "tenant_id": tenant_id})
            fired = [self._hear(tx, row, told, occasion, again=event_id is None) for row in rows]
        self.database.announce()
        return fired

    def _check(self, new: NewTrigger) -> CronSchedule | None:
        """Everything that can be known of a rule before it fires."""
        kind = self.registry[new.type]
        if (new.cron is None) == (new.event is None):
            raise BadTrigger("a trigger has either a schedule or an event")
        for what, name in (("label", new.label), ("event's name", new.event)):
            if name is not None and not 0 < len(name) <= LONGEST_NAME:
                raise BadTrigger(f"a {what} has 1 to {LONGEST_NAME} characters")
        if not 0 <= new.dedupe_window_seconds <= LONGEST_WINDOW_SECONDS:
            raise BadTrigger("a window is between 0 seconds and 30 days")
        if strange := new.args.keys() - kind.args.model_fields.keys():
            known = ", ".join(kind.args.model_fields)
            raise BadArguments(f"{kind.key}: {', '.join(sorted(strange))}: no such argument; there are: {known}")
        if _size(new.args) > ARGS_LIMIT_BYTES:
            raise BadArguments(f"{kind.key}: arguments are larger than {ARGS_LIMIT_BYTES} bytes")
        if new.cron is not None:
            return self._check_schedule(new, new.cron)
        self._check_event(new)
        return None

    def _check_event(self, new: NewTrigger) -> None:
        check_job(_job(new, {}, "event", ""))
        if not check_template(new.args, "event"):
            prepare(self.registry, _job(new, new.args, "event", ""))

    def _check_schedule(self, new: NewTrigger, cron: str) -> CronSchedule:
        schedule = schedule_of(cron, new.timezone)
        check_template(new.args, "schedule")
        # Every slot tells the same things: what can be made now can be made then.
        prepare(self.registry, _job(new, render(new.args, _slot_told(datetime.now(UTC))), "schedule", ""))
        return schedule

    def _fire(self, tx: Transaction, row: Row, most: int) -> Sequence[Fired]:
        """The jobs of the slots that a schedule owes; then it knows its next one. A bad one is switched off."""
        now = _moment(tx)
        try:
            trigger = trigger_of(row)
            schedule = trigger.schedule
            slots = list(islice(_owed(trigger, schedule, now), most))
            ahead = schedule.after(slots[-1] if slots and trigger.misfire == "all" else now)
        except (BadTrigger, ArithmeticError) as error:  # written by hand; a time beyond all calendars
            _set_state(tx, row["id"], enabled=False, slot=None)
            return [Fired(row["id"], "its schedule", None, f"switched off: {error}")]
        _set_state(tx, trigger.id, enabled=ahead is not None, slot=ahead)
        made = [self._make(tx, trigger, "schedule", _slot_told(slot), _name(slot), before="") for slot in slots]
        return [one for one in made if one.job or one.error]

    def _hear(self, tx: Transaction, row: Row, told: Mapping[str, Any], occasion: str, *, again: bool) -> Fired:
        """The job that a rule makes of an event. What was told without an id may be told again after a while."""
        try:
            rule = trigger_of(row)
        except BadTrigger as error:
            return Fired(row["id"], occasion, None, str(error))
        before = to_text(tx.now - rule.dedupe_window_seconds) if again else ""
        return self._make(tx, rule, "event", {"event": told}, occasion, before)

    def _make(
        self, tx: Transaction, trigger: Trigger, source: JobSource, told: Mapping[str, Any], occasion: str, before: str
    ) -> Fired:
        """The job of one occasion. What cannot be made is told of, and keeps no other rule from firing."""
        try:
            args = render(template_of(trigger), told)
            job = prepare(self.registry, _job(trigger, args, source, f"trigger {trigger.id}: {occasion}"))
        except QueueError as error:
            return Fired(trigger.id, occasion, None, str(error))
        firing = {"trigger_id": trigger.id, "fire_key": occasion, "now": tx.stamp}
        # The row that says so is the guard: whoever cannot write it was not the first.
        if not tx.change("triggers/insert_firing", {**firing, "before": before}):
            return Fired(trigger.id, occasion, None)
        made = insert_jobs(tx, [job])[0]
        tx.change("triggers/set_firing_job", {**firing, "job_id": made.id})
        tx.change("triggers/mark_fired", {"id": trigger.id, "now": tx.stamp})
        return Fired(trigger.id, occasion, made)


def _get(tx: Transaction, trigger_id: int) -> Trigger:
    rows = tx.rows("triggers/get", {"id": trigger_id}) if 0 < trigger_id < ID_LIMIT else []
    if not rows:
        raise TriggerNotFound(f"there is no trigger {trigger_id}")
    return trigger_of(rows[0])


def _set_state(tx: Transaction, trigger_id: int, *, enabled: bool, slot: datetime | None) -> None:
    """On or off, and for a schedule the slot that comes next."""
    state = {"id": trigger_id, "is_enabled": int(enabled), "slot": _text(slot), "now": tx.stamp}
    tx.change("triggers/set_state", state)


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


def _job(rule: NewTrigger | Trigger, args: Any, source: JobSource, source_ref: str) -> NewJob:
    by = f"trigger {rule.label}"
    return NewJob(
        rule.type, args, rule.priority, tenant_id=rule.tenant_id, source=source, source_ref=source_ref, created_by=by
    )


def _slot_told(slot: datetime) -> dict[str, Any]:
    return {"schedule": {"slot": _name(slot)}}


def _name(slot: datetime) -> str:
    return to_rfc3339(slot) or ""


def _occasion(told: Mapping[str, Any], event_id: str | None) -> str:
    """What an event is known by: its id, or what it tells."""
    if _size(told) > TOLD_LIMIT_BYTES:
        raise BadArguments(f"what the event tells is larger than {TOLD_LIMIT_BYTES} bytes")
    if event_id is None:
        return f"told {hashlib.sha256(canonical_json(dict(told)).encode('utf-8', 'surrogatepass')).hexdigest()}"
    if not 0 < len(event_id) <= LONGEST_NAME:
        raise BadArguments(f"an event's id has 1 to {LONGEST_NAME} characters")
    return f"id {event_id}"


def _size(told: Mapping[str, Any]) -> int:
    try:
        return len(canonical_json(dict(told)))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArguments(f"what is told is no JSON: {error}") from None


def _moment(tx: Transaction) -> datetime:
    """In whole milliseconds, as the database compares times."""
    return datetime.fromtimestamp(round(tx.now, 3), UTC)


def _text(slot: datetime | None) -> str | None:
    return to_text(slot.timestamp()) if slot else None
