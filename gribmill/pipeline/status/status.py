"""The status of each model: its newest runs, what is missing and why, mirrors, disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from gribmill.catalogue.reads import lost_among
from gribmill.catalogue.records import HourRecord, RunRecord, RunState
from gribmill.identity import run_id, run_time
from gribmill.ingest.mirror import MirrorHealth
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.status.hour_jobs import HourJob, hour_jobs
from gribmill.pipeline.status.mirror_status import MirrorStatus, mirror_status
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.storage.latest import LatestRuns, read_latest

Reason = Literal[
    "not due yet",
    "due",
    "late",
    "given up",
    "requested, not downloaded",
    "published, not downloaded",
    "download failed",
    "downloaded, tiles missing",
    "tile lost or damaged",
]
# NTP corrects smaller errors without a jump.
CLOCK_SLACK = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class MissingHour:
    """An hour without its tiles, and why; `late` if they are overdue for any reason."""

    hour: int
    reason: Reason
    late: bool
    regions: tuple[str, ...]
    """The regions whose tiles are missing."""
    job: HourJob | None = None
    """The job that will download or build it, if there is one."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of one run: the tiles of every region that is followed, or was requested for any of its hours."""

    run_id: str
    state: Literal["arriving", "complete", "given_up", "incomplete"]
    """Incomplete: it was complete until a region was added or a tile was lost."""
    regions: tuple[str, ...]
    hours: tuple[int, ...]
    hours_expected: int
    hours_published: int
    hours_ingested: int
    hours_built: int
    tiles: int
    tiles_expected: int
    missing: tuple[MissingHour, ...]
    variables_missing: tuple[str, ...]
    bytes: int
    last_built_at: datetime | None
    hours_in_run: int | None = None
    """The number of hours in the run, if a backfill requested only some of them."""

    @property
    def whole(self) -> bool:
        return self.state == "complete"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """How fresh one model is."""

    model_id: str
    title: str
    newest_due: str | None
    """The newest run whose first hour should be published by now."""
    next_due_at: datetime | None
    runs: tuple[RunStatus, ...]
    complete: dict[str, str | None]
    """Maps each region to its newest complete run."""
    mirrors: tuple[MirrorStatus, ...]
    future_runs: tuple[str, ...] = ()
    """Runs that begin in the future: they were recorded while the clock was ahead."""
    silent_since: datetime | None = None
    """The time since which no mirror has responded."""
    past_only: bool = False
    """Whether it is not in [chain], and all its runs are past ones requested by backfills."""
    followed: tuple[str, ...] = ()
    """The regions that [chain] requests of it."""
    followed_since: datetime | None = None
    """When the oldest of its recorded runs was first seen."""

    @property
    def newest(self) -> RunStatus | None:
        return self.runs[0] if self.runs else None

    @property
    def verdict(self) -> str:
        """One phrase for a person."""
        newest = self.newest
        if newest is None:
            return "nothing here yet"
        if self.newest_due and newest.run_id < self.newest_due and not self.past_only:
            return f"behind: run {self.newest_due} is due"
        # Hours of a past run that wait for their download are not late.
        waiting = ("late", "given up") if self.past_only else ()
        if late := sum(one.late and one.reason not in waiting for one in newest.missing):
            return f"{late} forecast hours are late" if late > 1 else "1 forecast hour is late"
        return "whole" if newest.whole else "arriving"


def status_of(
    context: Context, models: Iterable[Model], *, runs: int = 3, now: datetime | None = None
) -> list[ModelStatus]:
    """The status of these models, from the catalogue and the disk, without network access."""
    moment = now or datetime.now(UTC)
    health = context.catalogue.mirrors()
    outages = context.catalogue.outages()
    found = []
    for model in models:
        outage = outages.get(model.family)
        status = _model_status(context, model, health, runs, moment)
        found.append(replace(status, silent_since=outage.began_at) if outage else status)
    return found


def without_jobs(status: ModelStatus) -> ModelStatus:
    """The same for readers who do not see the jobs that missing hours wait for."""
    runs = (replace(run, missing=tuple(replace(one, job=None) for one in run.missing)) for run in status.runs)
    return replace(status, runs=tuple(runs))


def _model_status(
    context: Context, model: Model, health: dict[str, MirrorHealth], runs: int, now: datetime
) -> ModelStatus:
    begun = next((run for run in model.runs(now) if _due(model, run) <= now), None)
    coming = [due for run in model.runs(now + timedelta(days=1)) if (due := _due(model, run)) > now]
    known = context.catalogue.runs(model.id)
    ahead = [one.run_id for one in known if run_time(one.run_id) > now + CLOCK_SLACK]
    records = known[len(ahead) :][:runs]
    latest = read_latest(context.root, model.id)
    hours = {record.run_id: context.catalogue.hours(record.ref) for record in records}
    followed = _followed(context, model, [hour for several in hours.values() for hour in several.values()])
    shown = tuple(_run_status(context, model, record, hours[record.run_id], followed, now) for record in records)
    return ModelStatus(
        model_id=model.id,
        title=model.title,
        newest_due=run_id(begun) if begun else None,
        next_due_at=min(coming, default=None),
        runs=shown,
        complete={region: _complete(latest, region, shown) for region in sorted({*latest, *followed})},
        mirrors=tuple(mirror_status(mirror.name, health.get(mirror.name), now) for mirror in model.mirrors),
        future_runs=tuple(ahead),
        past_only=not _in_chain(context, model) and all(_is_past(model, record, now) for record in records),
        followed=tuple(followed),
        followed_since=min((one.first_seen_at for one in known if one.first_seen_at), default=None),
    )


def _complete(latest: dict[str, LatestRuns], region: str, runs: tuple[RunStatus, ...]) -> str | None:
    """The newest complete run of a region according to latest.json, or an older one if it has lost a tile since."""
    named = latest.get(region, LatestRuns()).complete
    lacking = {run.run_id: [one.reason for one in run.missing if region in one.regions] for run in runs}
    if named is None or "tile lost or damaged" not in lacking.get(named, []):
        return named
    return next((run.run_id for run in runs if run.run_id < named and not lacking[run.run_id]), None)


def _followed(context: Context, model: Model, hours: list[HourRecord]) -> list[str]:
    """The followed regions that the model's grid reaches. For regions of downloaded files that is recorded; the grid
    is only computed for the others."""
    if not _in_chain(context, model):
        return []
    wanted = wanted_regions(context)
    reached = {name for hour in hours for name in hour.regions}
    settled = reached | {name for hour in hours for name in hour.asked}
    found = reached | {*context.regions_of(model, [name for name in wanted if name not in settled])}
    return [name for name in wanted if name in found]


def _in_chain(context: Context, model: Model) -> bool:
    return bool({model.id, model.family} & {*context.settings.chain.models})


def _run_status(
    context: Context,
    model: Model,
    record: RunRecord,
    hours: dict[int, HourRecord],
    followed: list[str],
    now: datetime,
) -> RunStatus:
    asked = {region for hour in hours.values() for region in hour.regions if region in context.regions}
    regions = tuple(sorted({*followed, *asked}))
    recorded = context.catalogue.tiles(record.ref, lost=True)
    listed = context.root.listed_tiles(record.ref)
    lost = lost_among(context.root, record.ref, recorded, listed)
    lacking = _with_lost(context.catalogue.lacking(record.ref, regions), lost, regions)
    missing = _with_jobs(context, record, tuple(_missing(model, record, hours, lacking, lost, now)))
    tiles = [tile for tile in recorded if tile.lost_at is None]
    sound = [tile for tile in tiles if tile.region not in lost.get(tile.hour, ())]
    return RunStatus(
        run_id=record.run_id,
        state=_state(model, record, missing),
        regions=regions,
        hours=record.hours,
        hours_expected=len(record.hours),
        hours_published=len(hours),
        hours_ingested=sum(hour.state != "published" for hour in hours.values()),
        hours_built=len(record.hours) - len(missing),
        tiles=len(sound),
        tiles_expected=len(sound) + sum(len(several) for several in lacking.values()),
        missing=missing,
        variables_missing=tuple(sorted({name for hour in hours.values() for name in hour.missing})),
        bytes=listed.total + context.root.spooled_bytes(record.ref),
        hours_in_run=len(model.hours(run_time(record.run_id))) if is_partial(model, record) else None,
        last_built_at=max((tile.built_at for tile in tiles if tile.built_at), default=None),
    )


def _with_lost(
    lacking: dict[int, tuple[str, ...]], lost: dict[int, tuple[str, ...]], regions: tuple[str, ...]
) -> dict[int, tuple[str, ...]]:
    """Maps each hour to the regions whose tile is missing or lost."""
    return {
        hour: tuple(sorted({*lacking.get(hour, ()), *({*lost.get(hour, ())} & {*regions})}))
        for hour in sorted({*lacking, *(hour for hour, several in lost.items() if {*several} & {*regions})})
    }


def _with_jobs(context: Context, record: RunRecord, missing: tuple[MissingHour, ...]) -> tuple[MissingHour, ...]:
    """Add the jobs of the missing hours. Hours that are not due have none yet."""
    wanted = {one.hour: one.regions for one in missing if one.reason not in ("not due yet", "due")}
    jobs = hour_jobs(context.jobs, record.ref, wanted) if wanted else {}
    return tuple(_with_job(one, jobs.get(one.hour)) for one in missing)


def _with_job(one: MissingHour, job: HourJob | None) -> MissingHour:
    if job is None:
        return one
    failed = job.download_failed and one.reason != "downloaded, tiles missing"
    return replace(one, job=job, reason="download failed" if failed else one.reason)


def _state(model: Model, record: RunRecord, missing: tuple[MissingHour, ...]) -> RunState | Literal["incomplete"]:
    if is_partial(model, record) and not missing:
        return "complete"  # all requested hours are here
    return "incomplete" if missing and record.state == "complete" else record.state


def _missing(
    model: Model,
    record: RunRecord,
    hours: dict[int, HourRecord],
    lacking: dict[int, tuple[str, ...]],
    lost: dict[int, tuple[str, ...]],
    now: datetime,
) -> Iterable[MissingHour]:
    run = run_time(record.run_id)
    for hour in record.hours:
        known = hours.get(hour)
        if hour in lacking or known is None or known.state != "built":
            arrival = model.expected_at(run, hour)
            late = now > arrival.late or record.state == "given_up"
            reason = _why(known, record.state, late=late, due=now >= arrival.usual)
            if known is None and is_partial(model, record):
                reason, late = "requested, not downloaded", False
            if {*lost.get(hour, ())} & {*lacking.get(hour, ())}:
                reason = "tile lost or damaged"
            # An hour that was downloaded again may still have all its earlier tiles.
            yield MissingHour(hour, reason, late, lacking.get(hour) or (known.regions if known else ()))


def is_partial(model: Model, record: RunRecord) -> bool:
    """Whether only some hours of the run were requested: `record.hours` are those, and the run is never final."""
    return not record.final and not model.discovers(record.ref.time)


def _is_past(model: Model, record: RunRecord, now: datetime) -> bool:
    """Whether the run was requested after scans had stopped looking for it."""
    seen = record.first_seen_at
    requested_late = seen is not None and seen >= model.gives_up_at(record.ref.time)
    return (requested_late or is_partial(model, record)) and (seen is None or seen <= now)


def _why(known: HourRecord | None, state: str, *, late: bool, due: bool) -> Reason:
    if known is not None:
        if known.state != "published":
            return "downloaded, tiles missing"
        return "download failed" if known.error else "published, not downloaded"
    if state == "given_up":
        return "given up"
    if late:
        return "late"
    return "due" if due else "not due yet"


def _due(model: Model, run: datetime) -> datetime:
    return model.expected_at(run, model.hours(run)[0]).usual
