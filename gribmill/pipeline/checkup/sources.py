"""Checks mirrors, and looks for hours that no job will build."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from gribmill.identity import HourRef
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.status.mirror_status import mirror_status

SHOWN = 3


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
        yield Finding("mirrors", True, f"{len(health)} asked, and all of them answered")


def forgotten_hours(about: Examination) -> Iterator[Finding]:
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
