"""Validating a trigger before it fires."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gribmill.queue.argument_template import check_template, render
from gribmill.queue.errors import BadArguments, BadTrigger
from gribmill.queue.job_type import ARGS_LIMIT_BYTES, canonical_json
from gribmill.queue.model import JobTemplate, NewTrigger
from gribmill.queue.store.events.trigger_job import slot_fields, trigger_job
from gribmill.queue.store.jobs.prepare import check_job, prepare
from gribmill.queue.store.known_types import KnownTypes

if TYPE_CHECKING:
    from gribmill.queue.cron import CronSchedule

LONGEST_NAME = 200
LONGEST_WINDOW_SECONDS = 30 * 86_400


def check_trigger(registry: KnownTypes, new: NewTrigger, template: JobTemplate | None) -> CronSchedule | None:
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
        prepare(registry, trigger_job(new, template, new.args, "event", ""))


def _check_schedule(registry: KnownTypes, new: NewTrigger, cron: str, template: JobTemplate | None) -> CronSchedule:
    schedule = schedule_of(cron, new.timezone or "")
    check_template(new.args, "schedule")
    # Every slot has the same fields, so checking one is enough.
    args = render(new.args, slot_fields(datetime.now(UTC)))
    prepare(registry, trigger_job(new, template, args, "schedule", ""))
    return schedule


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
