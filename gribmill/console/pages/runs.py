"""Runs: the newest ones, the timeline of one run, and the details of one hour."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any

from gribmill.catalogue.records import HourRecord, RunRecord
from gribmill.console.frame import AnyStore
from gribmill.console.pages.jobs import JobRow, job_row
from gribmill.console.pages.run_grid import LEGEND, RunGrid, run_grid
from gribmill.console.weather_look import followed_models
from gribmill.identity import HourRef, RunRef
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.queue.store.jobs.listing import JobFilter

RUNS_SHOWN = 6
JOBS_SHOWN = 50


def runs_values(context: Context, model_id: str | None, regions: Collection[str] | None) -> dict[str, Any]:
    """The newest runs of one model; by default, of the first followed model."""
    models = followed_models(context)
    chosen = next((one for one in models if one.id == model_id), None) or (models[0] if models else None)
    grids: list[RunGrid] = []
    if chosen is not None:
        wanted = _wanted(context, chosen, regions)
        records = context.catalogue.runs(chosen.id, RUNS_SHOWN)
        grids = [run_grid(context, chosen, record, wanted, regions) for record in records]
    return {
        "models": [(one.id, one.title) for one in models],
        "chosen": chosen.id if chosen else None,
        "title": chosen.title if chosen else "",
        "grids": grids,
        "legend": LEGEND,
    }


def _wanted(context: Context, model: Model, regions: Collection[str] | None) -> list[str]:
    if not {model.id, model.family} & {*context.settings.chain.models}:
        return []
    names = [name for name in wanted_regions(context) if regions is None or name in regions]
    return context.regions_of(model, names)


@dataclass(frozen=True, slots=True)
class HourSpan:
    """One hour of a run as a bar in a 600-wide box: published to downloaded to built."""

    hour: int
    waiting_x: float
    waiting_width: float
    building_x: float
    building_width: float
    label: str


def run_values(context: Context, ref: RunRef, visible: Collection[str] | None) -> dict[str, Any] | None:
    """One run; None if it is unknown."""
    record = next((one for one in context.catalogue.runs(ref.model_id) if one.run_id == ref.run_id), None)
    model = context.models.get(ref.model_id)
    if record is None or model is None:
        return None
    hours = context.catalogue.hours(ref)
    grid = run_grid(context, model, record, _wanted(context, model, visible), visible)
    return {
        "grid": grid,
        "title": model.title,
        "timeline": _timeline(ref, record, hours.values()),
        **_span_values(hours),
        "where": _where_time_went(hours.values()),
        "hours": [hours[hour] for hour in sorted(hours)],
        "legend": LEGEND,
    }


def _timeline(ref: RunRef, record: RunRecord, hours: Iterable[HourRecord]) -> list[tuple[str, datetime, float]]:
    """The events of the run in order, each with its time and the seconds since the previous one."""
    known = [*hours]
    found: list[tuple[str, datetime]] = [("the run begins (analysis time)", ref.time)]
    for text, pick, moments in (
        ("first file published", min, [one.published_at for one in known]),
        ("first seen here", min, [record.first_seen_at]),
        ("first file downloaded", min, [one.ingested_at for one in known]),
        ("first hour built", min, [one.built_at for one in known]),
        ("last file published", max, [one.published_at for one in known]),
        ("last file downloaded", max, [one.ingested_at for one in known]),
        ("last hour built", max, [one.built_at for one in known]),
    ):
        there = [one for one in moments if one is not None]
        if there:
            found.append((text, pick(there)))
    found.sort(key=lambda one: one[1])
    gaps = [0.0, *((after[1] - before[1]).total_seconds() for before, after in pairwise(found))]
    return [(text, moment, gap) for (text, moment), gap in zip(found, gaps, strict=True)]


def _where_time_went(hours: Iterable[HourRecord]) -> list[tuple[str, float]]:
    """The median duration of each step, over the hours that have it."""
    parts: dict[str, list[float]] = {}
    for one in hours:
        for name, start, end in (
            ("published to downloaded", one.published_at, one.ingested_at),
            ("downloaded to built", one.ingested_at, one.built_at),
            ("published to built", one.published_at, one.built_at),
        ):
            if start is not None and end is not None:
                parts.setdefault(name, []).append(max(0.0, (end - start).total_seconds()))
    return [(name, median(values)) for name, values in parts.items()]


def _span_values(hours: Mapping[int, HourRecord]) -> dict[str, Any]:
    """The bars of the hours, the interval between labels, and the time at either end."""
    moments = [
        moment for one in hours.values() for moment in (one.published_at, one.ingested_at, one.built_at) if moment
    ]
    if not moments:
        return {"spans": []}
    first, last = min(moments), max(moments)
    spans = _spans(hours, first, max(1.0, (last - first).total_seconds()))
    return {"spans": spans, "spans_step": 1 + len(spans) // 20, "spans_from": first, "spans_to": last}


def _spans(hours: Mapping[int, HourRecord], first: datetime, whole: float) -> list[HourSpan]:

    def place(moment: datetime) -> float:
        return round(600 * (moment - first).total_seconds() / whole, 1)

    found = []
    for hour in sorted(hours):
        one = hours[hour]
        begin = one.published_at or one.ingested_at
        if begin is None:
            continue
        middle = one.ingested_at or begin
        end = one.built_at or middle
        label = f"hour {hour}: downloaded after {(middle - begin).total_seconds():.0f} s"
        if one.built_at is not None:
            label += f", built after {(end - middle).total_seconds():.0f} s more"
        waiting, building = place(middle) - place(begin), place(end) - place(middle)
        found.append(HourSpan(hour, place(begin), max(1.0, waiting), place(middle), max(1.0, building), label))
    return found


def hour_values(context: Context, handle: AnyStore, ref: HourRef, visible: Collection[str] | None) -> dict[str, Any]:
    """One file: its source, its tiles and its jobs."""
    known = context.catalogue.hour(ref)
    tiles = [
        one
        for one in context.catalogue.tiles(ref.run, lost=True)
        if one.hour == ref.hour and (visible is None or one.region in visible)
    ]
    model = context.models.get(ref.model_id)
    expected = model.expected_at(ref.run.time, ref.hour) if model is not None else None
    return {
        "ref": ref,
        "known": known,
        "tiles": tiles,
        "expected": expected,
        "jobs": _jobs(context, handle, ref, [one.region for one in tiles], known),
    }


def _jobs(
    context: Context, handle: AnyStore, ref: HourRef, regions: Sequence[str], known: HourRecord | None
) -> list[JobRow]:
    """Active and failed jobs, and the newest builds of this file."""
    now = datetime.now(UTC)
    names = sorted({*regions, *(known.regions if known else ())})
    like = context.jobs.like([ingest_job(ref, live=True), *tile_jobs(ref, names, live=True)])
    built = handle.jobs.list(JobFilter(group_key=str(ref)), limit=JOBS_SHOWN).jobs
    mine = {job.id: job for job in [*like, *built] if job is not None and _sees(handle, job.tenant_id)}
    return [job_row(mine[job_id], now) for job_id in sorted(mine, reverse=True)]


def _sees(handle: AnyStore, tenant_id: str) -> bool:
    name = getattr(handle, "name", None)
    return name is None or name == tenant_id
