"""Checks of the chain: the queue's invariants, workers and schedules; mirrors; and hours that no job will build."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from gribmill.identity import HourRef
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.status.mirror_status import mirror_status
from gribmill.queue.model import Trigger
from gribmill.version import __version__

# Workers check their schedules at least this often.
OVERDUE = timedelta(minutes=5)
SHOWN = 3


def queue(about: Examination) -> Iterator[Finding]:
    violations = about.store.verify()
    if not violations:
        yield Finding("queue", True, "the database is sound, and all invariants hold")
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
        detail = f"{len(silent)} silent while holding jobs: {names}"
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
    if broken := about.store.triggers.broken():
        reasons = "; ".join(one.reason for one in broken[:3])
        yield Finding("schedules", False, reasons, "`gribmill triggers remove ID`, and add it again")
        return
    known = [one for one in about.store.triggers.list() if one.cron is not None]
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


def mirrors(about: Examination) -> Iterator[Finding]:
    """The last known state of mirrors; sends no requests."""
    context, now = about.context, datetime.now(UTC)
    health = context.catalogue.mirrors()
    failing = [mirror_status(name, known, now) for name, known in sorted(health.items()) if known.failures]
    models = [one for name in context.settings.chain.models for one in models_named(context.models, name)]
    names = {one.name for one in failing}
    silent = sorted({one.family for one in models if one.mirrors and {mirror.name for mirror in one.mirrors} <= names})
    if silent:
        detail = f"no mirror of {', '.join(silent)} answers: {failing[0].name} {failing[0].summary}"
        remedy = "check the network and its proxy; `gribmill mirrors list`"
        yield Finding("mirrors", False, detail, remedy)
    elif failing:
        detail = f"{len(failing)} of {len(health)} fail: {failing[0].name} {failing[0].summary}"
        yield Finding("mirrors", None, detail, "others are used meanwhile; `gribmill mirrors list` shows all")
    else:
        yield Finding(
            "mirrors", True, f"{len(health)} used, and all of them responded" if health else "none has been used yet"
        )


def hours(about: Examination) -> Iterator[Finding]:
    """Downloaded hours that lack tiles and have no job to build them."""
    context = about.context
    found: list[HourRef] = []
    for run in context.catalogue.runs():
        for hour, record in context.catalogue.hours(run.ref).items():
            ref = run.ref.hour(hour)
            if record.state == "ingested" and run.model_id in context.models:
                jobs = (ingest_job(ref, live=True), *tile_jobs(ref, record.regions, live=True))
                found += [] if context.jobs.any_active(jobs) else [ref]
    names = ", ".join([*map(str, found[:SHOWN]), *("…" for _ in found[SHOWN : SHOWN + 1])])
    if not found:
        yield Finding("hours", True, "every downloaded hour has its tiles, or jobs that build them")
    elif about.fix:
        about.store.jobs.enqueue_many([ingest_job(ref, live=True) for ref in found])
        yield Finding("hours", True, f"enqueued downloaded hours without tiles again: {len(found)} ({names})")
    else:
        detail = f"downloaded hours that lack tiles, and that no job builds: {len(found)} ({names})"
        yield Finding("hours", False, detail, "`gribmill doctor --fix` enqueues them")
