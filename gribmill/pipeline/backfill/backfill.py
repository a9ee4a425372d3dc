"""Backfills: files of past runs, as jobs with a lower priority than live ones."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from gribmill.catalogue.events import HoursRequested
from gribmill.catalogue.reads import Catalogue, is_as_recorded
from gribmill.errors import GribmillError
from gribmill.identity import HourRef, RunRef, run_id
from gribmill.ingest.models.hour_ranges import write_steps
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job
from gribmill.pipeline.tenant_regions import tenant_named, why_full
from gribmill.queue.job_type import canonical_json
from gribmill.queue.model import DEFAULT_TENANT, Enqueued, NewJob
from gribmill.queue.store import Store

MOST_FILES = 200_000
# No model is older.
EARLIEST = datetime(1950, 1, 1, tzinfo=UTC)


class BackfillError(GribmillError):
    """An invalid or too large backfill."""


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """What to fetch. Empty means all; regions default to those of the tenant, or of [chain]."""

    model: Model
    begin: datetime
    end: datetime
    cycles: tuple[int, ...] = ()
    hours: tuple[int, ...] = ()
    regions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    keep_grib: bool | None = None
    requested_by: str | None = None
    tenant: str | None = None
    """The tenant whose turns and limits apply; None for the operator."""


@dataclass(frozen=True, slots=True)
class BackfillFile:
    """One file to fetch, and the variables to fetch from it."""

    run: datetime
    hour: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """The files to fetch, how many already exist, and how many exist with other variables."""

    request: BackfillRequest
    regions: tuple[str, ...]
    files: tuple[BackfillFile, ...]
    done: int
    lacking: int

    @property
    def runs(self) -> int:
        return len({file.run for file in self.files})

    @property
    def tiles(self) -> int:
        return len(self.files) * len(self.regions)


def plan_backfill(context: Context, request: BackfillRequest) -> BackfillPlan:
    """Plan the files that are missing here. A repeated plan contains only what is still missing."""
    _check_times(request, datetime.now(UTC))
    if request.tenant is not None and (reason := why_full(context, tenant_named(context, request.tenant))):
        raise BackfillError(reason)
    names = request.regions or _default_regions(context, request)
    regions = tuple(context.regions_of(request.model, names))
    if not regions:
        raise BackfillError(
            f"{request.model.id} reaches none of the regions {', '.join(names)}"
            if names
            else f"tenant {request.tenant} has no regions: name at least one, --region ne"
            if request.tenant
            else "name at least one region: --region ne, or [chain] regions in gribmill.toml"
        )
    variables = request.variables or request.model.variables
    files: list[BackfillFile] = []
    done = lacking = 0
    for run in _runs(request):
        ref = RunRef(request.model.id, run_id(run))
        tiles = context.catalogue.tiles(ref)
        built = {(tile.region, tile.hour) for tile in tiles if is_as_recorded(context.root, ref, tile)}
        hours = context.catalogue.hours(ref)
        for hour in _hours(request, run):
            here = all((region, hour) in built for region in regions)
            known = hours.get(hour)
            if here and known is not None and known.holds(variables):
                done += 1
                continue
            lacking += here
            files.append(BackfillFile(run, hour, context.variables_to_fetch(known, variables)))
        if len(files) > MOST_FILES:
            raise BackfillError(f"more than {MOST_FILES} files: take a shorter time, fewer cycles or fewer hours")
    return BackfillPlan(request, regions, tuple(files), done, lacking)


def _default_regions(context: Context, request: BackfillRequest) -> tuple[str, ...]:
    """The tenant's regions if it is below its disk limit, else those of [chain]."""
    if request.tenant is None:
        return tuple(context.settings.chain.regions)
    tenant = tenant_named(context, request.tenant)
    return tuple(name for name in tenant.regions if name in context.regions)


def _check_times(request: BackfillRequest, now: datetime) -> None:
    if request.end < request.begin:
        raise BackfillError("the backfill ends before it begins: --to must not be before --from")
    if request.begin > now:
        raise BackfillError(f"--from {request.begin:%Y-%m-%d %H:%M} UTC is in the future: a backfill fetches past runs")
    cycles = {cycle for schedule in request.model.schedules for cycle in schedule.cycles}
    if unknown := sorted({*request.cycles} - cycles):
        some = ", ".join(map(str, unknown[:5]))
        known = write_steps(tuple(sorted(cycles)))
        raise BackfillError(f"--cycles: no run of {request.model.id} begins at {some} UTC; its cycles are {known}")


def _runs(request: BackfillRequest) -> list[datetime]:
    last = min(request.end, datetime.now(UTC))
    runs = request.model.runs(last, back=last - max(request.begin, EARLIEST) + timedelta(hours=1))
    chosen = [run for run in runs if run >= request.begin and (not request.cycles or run.hour in request.cycles)]
    if not chosen:
        raise BackfillError(
            f"{request.model.id} has no run between {request.begin:%Y-%m-%d %H} and {last:%Y-%m-%d %H} UTC"
        )
    if not any(_hours(request, run) for run in chosen):
        raise BackfillError(f"--hours: no run of {request.model.id} in that time has any of these hours")
    return chosen


def _hours(request: BackfillRequest, run: datetime) -> tuple[int, ...]:
    hours = request.model.hours(run)
    return tuple(hour for hour in hours if not request.hours or hour in request.hours)


def enqueue_backfill(store: Store, catalogue: Catalogue, plan: BackfillPlan, live_regions: Collection[str] = ()) -> str:
    """Enqueue all files as one job group; returns its name, which is also the correlation id of all its jobs.

    Equal requests have the same name.

    A file that an active job already downloads is also cut for these regions; `live_regions` are those that every new
    run is cut for.

    The request is recorded first, so that `status` does not show other hours of these runs as missing.
    """
    request = plan.request
    wish: tuple[object, ...] = (
        request.begin, request.end, request.cycles, request.hours, plan.regions, request.variables,
    )  # fmt: skip
    if request.tenant is not None:
        wish = (*wish, request.tenant)
    digest = hashlib.blake2b(repr(wish).encode(), digest_size=6).hexdigest()
    correlation_id = f"backfill-{request.model.id}-{digest}"
    catalogue.record(_requested(plan))
    # The group is named after the correlation id, so a second request adds to the same group.
    group = store.groups.open(
        correlation_id, tenant_id=request.tenant or DEFAULT_TENANT, created_by=request.requested_by
    )
    store.groups.resume(group.id)
    jobs = [*_jobs(plan, correlation_id)]
    made = store.groups.add(group.id, jobs)
    if left := _widen_active(store, jobs, made, live_regions):
        store.groups.add(group.id, left)
    return correlation_id


def _requested(plan: BackfillPlan) -> Iterator[HoursRequested]:
    """The requested hours of runs with known hours. Scans discover those of other runs."""
    model = plan.request.model
    by_run: dict[datetime, list[int]] = {}
    for file in plan.files:
        by_run.setdefault(file.run, []).append(file.hour)
    for run, hours in by_run.items():
        if not model.discovers(run):
            yield HoursRequested(RunRef(model.id, run_id(run)), tuple(sorted(hours)), len(model.hours(run)))


def _jobs(plan: BackfillPlan, correlation_id: str) -> Iterator[NewJob]:
    request = plan.request
    for file in plan.files:
        yield ingest_job(
            HourRef(request.model.id, run_id(file.run), file.hour),
            live=False,
            regions=plan.regions,
            variables=request.variables or None,
            keep_grib=request.keep_grib,
            correlation_id=correlation_id,
            requested_by=request.requested_by,
            tenant=request.tenant,
        )


def _widen_active(
    store: Store, jobs: Iterable[NewJob], made: Iterable[Enqueued], live_regions: Collection[str]
) -> list[NewJob]:
    """Extend the active jobs that deduplicated these, so that they also fetch what these request.

    Returns jobs for requests that an active job cannot take over, for example because it is running; each waits for
    that job.
    """
    left = []
    for job, one in zip(jobs, made, strict=True):
        widen = partial(_widened, wanted=job.args, live_regions=live_regions)
        if not one.created and not store.jobs.change_args(one.id, widen):
            left.append(_afterwards(job, one.id))
    return left


def _widened(
    active: Mapping[str, Any], wanted: Mapping[str, Any], live_regions: Collection[str]
) -> dict[str, Any] | None:
    """The arguments of a download that serves both; None if no single one does.

    No regions means those of the settings and of all tenants; no variables means those of the model.
    """
    regions = active.get("regions")
    if regions is None:
        if not {*wanted["regions"]} <= {*live_regions} or wanted.get("variables") or wanted.get("keep_grib"):
            return None
        return dict(active)
    both = {**active, "regions": list(dict.fromkeys((*regions, *wanted["regions"])))}
    if active.get("variables") and wanted.get("variables"):
        both["variables"] = list(dict.fromkeys((*active["variables"], *wanted["variables"])))
    elif wanted.get("variables"):
        return None
    else:
        both.pop("variables", None)
    if wanted.get("keep_grib"):
        both["keep_grib"] = True
    return both


def _afterwards(job: NewJob, active_id: int) -> NewJob:
    digest = hashlib.blake2b(canonical_json(dict(job.args)).encode(), digest_size=8).hexdigest()
    return replace(job, after=(active_id,), on_parent_failure="ignore", dedupe_key=f"{job.type} afterwards {digest}")
