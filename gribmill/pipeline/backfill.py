"""Backfill: the files of many past runs, as jobs after everything that is live."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.lost_tiles import is_as_recorded
from gribmill.errors import GribmillError
from gribmill.identity import HourRef, RunRef, run_id
from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import select, wanted
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store

MOST_FILES = 200_000
INDEX_LIMIT_BYTES = 20_000_000
# No model is older.
EARLIEST = datetime(1950, 1, 1, tzinfo=UTC)


class BackfillError(GribmillError):
    """A backfill that is contradictory, or too large."""


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """What is wanted. Empty means all; regions default to those of [chain]."""

    model: Model
    begin: datetime
    end: datetime
    cycles: tuple[int, ...] = ()
    hours: tuple[int, ...] = ()
    regions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    keep_grib: bool | None = None


@dataclass(frozen=True, slots=True)
class BackfillFile:
    """One file that is still wanted, and the variables to fetch from it."""

    run: datetime
    hour: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """The files to fetch; how many are here already, and how many to fetch are here with other variables."""

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
    """The wanted files that are not here yet. A second plan has only what is still missing."""
    names = request.regions or context.settings.chain.regions
    regions = tuple(context.regions_of(request.model, names))
    if not regions:
        raise BackfillError(
            f"{request.model.id} reaches none of the regions {', '.join(names)}"
            if names
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


def enqueue_backfill(store: Store, plan: BackfillPlan) -> str:
    """Enqueue it all; returns the correlation id to follow it by. The same request has the same one."""
    request = plan.request
    wish = (request.begin, request.end, request.cycles, request.hours, plan.regions, request.variables)
    digest = hashlib.blake2b(repr(wish).encode(), digest_size=6).hexdigest()
    correlation_id = f"backfill-{request.model.id}-{digest}"
    store.jobs.enqueue_many(_jobs(plan, correlation_id))
    return correlation_id


def progress_of(store: Store, correlation_id: str) -> dict[str, int]:
    """Jobs of the backfill by status, including those that followed from them."""
    counts = dict.fromkeys(("pending", "processing", "completed", "failed", "cancelled"), 0)
    for (_, status), count in store.jobs.progress(correlation_id).items():
        counts[status] += count
    return counts


def bytes_of_file(
    context: Context, model: Model, run: datetime, hour: int, variables: tuple[str, ...] = ()
) -> int | None:
    """The size of the wanted messages, by the index of the first mirror that answers; None if none does or has one."""
    for source in model.urls(run, hour):
        if source.index_url is None:
            continue
        try:
            size = context.session.head(source.grib_url, source.mirror.host).size
            body = context.session.get(source.index_url, source.mirror.host, limit_bytes=INDEX_LIMIT_BYTES)
            inventory = parse_index(source.index_kind, body.data, source.index_url, run, size)
            chosen = select(
                inventory,
                wanted(variables or model.variables),
                hour,
                extras=model.extras,
                offset_minutes=model.offset_minutes,
            )
        except IngestError:
            continue
        return sum((end if end is not None else size or start) - start for start, end in chosen.ranges)
    return None


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
        )


def _runs(request: BackfillRequest) -> list[datetime]:
    if request.end < request.begin:
        raise BackfillError("the backfill ends before it begins: --to must not be before --from")
    last = min(request.end, datetime.now(UTC))
    runs = request.model.runs(last, back=last - max(request.begin, EARLIEST) + timedelta(hours=1))
    chosen = [run for run in runs if run >= request.begin and (not request.cycles or run.hour in request.cycles)]
    if not chosen:
        raise BackfillError(
            f"{request.model.id} has no run between {request.begin:%Y-%m-%d %H} and {last:%Y-%m-%d %H} UTC"
        )
    return chosen


def _hours(request: BackfillRequest, run: datetime) -> tuple[int, ...]:
    hours = request.model.hours(run)
    return tuple(hour for hour in hours if not request.hours or hour in request.hours)
