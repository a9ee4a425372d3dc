"""The backfill form: what a backfill would fetch, how long it would take, and starting it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from gribmill.errors import quoted
from gribmill.identity import IdentityError, run_time
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.backfill.backfill import BackfillError, BackfillPlan, BackfillRequest, plan_backfill
from gribmill.pipeline.backfill.estimate import BackfillEstimate, estimate_backfill
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import INGEST_GRIB
from gribmill.queue.store.jobs.listing import JobFilter

LAST_HOUR = 23
# Seconds per file, used until there are measured downloads; the page marks it as a guess.
GUESSED_SECONDS = 4.0
DOWNLOADS_LOOKED_AT = 200
FORMS = ("%Y-%m-%d", "%Y-%m-%dT%H", "%Y-%m-%dT%H:%M")


@dataclass(frozen=True, slots=True)
class Offer:
    """One model's plan with its estimate."""

    plan: BackfillPlan
    estimate: BackfillEstimate | None
    seconds: float
    measured: int
    """The number of downloads that the time is based on; 0 if it is a guess."""


def form_values(context: Context) -> dict[str, Any]:
    """The choices in the form; followed models first."""
    families: dict[str, str] = {}
    for model in context.models.values():
        families.setdefault(model.family, model.title)
    followed = {model.family for name in context.settings.chain.models for model in models_named(context.models, name)}
    models = sorted(families.items(), key=lambda one: (one[0] not in followed, one[0]))
    return {"models": models, "regions": sorted(context.regions)}


def read_requests(context: Context, form: Mapping[str, str], by: str) -> list[BackfillRequest]:
    """The requests in the form; raises BackfillError or ModelError if a field is invalid."""
    begin = moment_of(form.get("from", ""), "From", 0)
    end = moment_of(form["to"], "To", LAST_HOUR) if form.get("to") else begin.replace(hour=LAST_HOUR)
    names = tuple(name for name in form.get("regions", "").replace(",", " ").split() if name)
    if unknown := [name for name in names if name not in context.regions]:
        raise BackfillError(f"there is no region {quoted(unknown[0])}")
    return [
        BackfillRequest(
            model,
            begin,
            end,
            parse_steps(form["cycles"]) if form.get("cycles") else (),
            parse_steps(form["hours"]) if form.get("hours") else (),
            names,
            requested_by=by,
        )
        for model in models_named(context.models, form.get("model", ""))
    ]


def offers(context: Context, requests: list[BackfillRequest]) -> list[Offer]:
    """Plans and estimates. Asks the mirrors, which may take some seconds."""
    found = []
    for request in requests:
        plan = plan_backfill(context, request)
        estimate = estimate_backfill(context, plan) if plan.files else None
        per_file, measured = _seconds_per_file(context, request.model.id)
        found.append(Offer(plan, estimate, per_file * len(plan.files), measured))
    return found


def _seconds_per_file(context: Context, model_id: str) -> tuple[float, int]:
    """Median time of recent downloads (this model's, if there are any), and how many there were."""
    page = context.jobs.list(JobFilter(status="completed", type=INGEST_GRIB.key), limit=DOWNLOADS_LOOKED_AT)
    times: dict[bool, list[float]] = {True: [], False: []}
    for job in page.jobs:
        if job.started_at and job.completed_at and isinstance(job.args, dict):
            same = job.args.get("model_id") == model_id
            times[same].append((job.completed_at - job.started_at).total_seconds())
    measured = times[True] or times[False]
    return (median(measured), len(measured)) if measured else (GUESSED_SECONDS, 0)


def moment_of(text: str, what: str, hour: int) -> datetime:
    """A date, a date with an hour, or a run id, in UTC."""
    for form in FORMS:
        with contextlib.suppress(ValueError):
            moment = datetime.strptime(text, form).replace(tzinfo=UTC)
            return moment.replace(hour=hour) if form == FORMS[0] else moment
    with contextlib.suppress(IdentityError):
        return run_time(text)
    raise BackfillError(f"{what}: {quoted(text)} is not a time; use 2026-11-01, 2026-11-01T06 or 20261101_06 (UTC)")
