"""Checks of the queue: the database file, its invariants, workers, schedules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.queue.errors import QueueError, StoreError
from gribmill.queue.model import Trigger
from gribmill.version import __version__

# Workers check their schedules at least this often.
OVERDUE = timedelta(minutes=5)


def invariants(about: Examination) -> Iterator[Finding]:
    violations = about.store.verify()
    if not violations:
        yield Finding("queue", True, "the database file is sound, and all invariants hold")
        return
    first = violations[0]
    detail = f"{len(violations)} rows violate an invariant, the first one {first.invariant}: {first.detail}"
    yield Finding("queue", False, detail, "`gribmill jobs verify` shows all; restore a backup if the file is damaged")


def workers(about: Examination) -> Iterator[Finding]:
    """Summarize running workers, silent ones, and those of other versions."""
    known = [one for one in about.store.workers.list() if one.state != "stopped"]
    alive = about.store.workers.alive(about.context.settings.queue.lease_seconds)
    silent = [one for one in known if one not in alive and one.running_count]
    if silent:
        names = ", ".join(one.id for one in silent[:3])
        detail = f"{len(silent)} silent with jobs in their hands: {names}"
        yield Finding(
            "workers", False, detail, "any running worker takes their jobs back: start one with `gribmill run`"
        )
    elif not alive:
        yield Finding("workers", None, "none is running", "`gribmill run` or `gribmill work` starts one")
    elif other := sorted({one.version for one in alive} - {__version__}):
        detail = f"{len(alive)} running, some of version {', '.join(other)} beside {__version__}"
        yield Finding("workers", None, detail, "restart them after an upgrade")
    else:
        yield Finding("workers", True, f"{len(alive)} running")


def schedules(about: Examination) -> Iterator[Finding]:
    """Schedules that cannot fire, or should have fired."""
    try:
        known = [one for one in about.store.triggers.list() if one.cron is not None]
    except StoreError:
        raise  # a problem of the file, not of a schedule
    except QueueError as error:
        yield Finding("schedules", False, str(error), "`gribmill triggers remove ID`, and add it again")
        return
    now = datetime.now(UTC)
    late = [one for one in known if one.is_enabled and _is_overdue(one, now)]
    if late:
        names = ", ".join(f"{one.id} ({one.label})" for one in late[:3])
        remedy = "start a worker: `gribmill run` or `gribmill work`; then `gribmill triggers list`"
        yield Finding("schedules", False, f"{len(late)} of {len(known)} are overdue: {names}", remedy)
        return
    off = sum(not one.is_enabled for one in known)
    yield Finding("schedules", True, f"{len(known) - off} enabled{f', {off} disabled' if off else ''}")


def _is_overdue(trigger: Trigger, now: datetime) -> bool:
    return trigger.next_fire_at is not None and trigger.next_fire_at < now - OVERDUE
