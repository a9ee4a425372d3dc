"""ingest_grib: downloads the wanted messages of one GRIB file into the spool, and asks for its tiles."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from gribmill.identity import Hour, HourRef, ModelId, RegionName
from gribmill.identity import run_id as run_id_of
from gribmill.pipeline.ids import PublishedRunId
from gribmill.pipeline.priority import file_priority
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import Failed, NewJob, Outcome, Snoozed, Succeeded
from gribmill.queue.worker.task import Task

if TYPE_CHECKING:
    from pathlib import Path

    from gribmill.catalogue.events import Event, RunSeen
    from gribmill.catalogue.records import HourRecord
    from gribmill.grib.message_header import MessageHeader
    from gribmill.ingest.download.download_plan import Downloaded
    from gribmill.ingest.listing.available_hours import Published
    from gribmill.pipeline.context import Context

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")]
# A file that is listed and yet not there: mirrors settle within minutes.
NOT_YET_SECONDS = 60.0
# One that no scan has seen (a backfill of today wants hundreds): each look asks every mirror.
NEVER_SEEN_SECONDS = 600.0
LONGEST_ERROR = 1000


class IngestGribArgs(Args):
    """Which file: one hour of one run of a model. The rest narrows a backfill; live runs follow the settings."""

    model_id: ModelId
    run_id: PublishedRunId
    hour: Hour
    regions: tuple[RegionName, ...] | None = None
    variables: tuple[VariableName, ...] | None = None
    keep_grib: bool | None = None

    @property
    def hour_ref(self) -> HourRef:
        return HourRef(self.model_id, self.run_id, self.hour)


def ingest_job(
    model_id: str,
    run: datetime,
    hour: int,
    *,
    live: bool,
    regions: tuple[str, ...] | None = None,
    variables: tuple[str, ...] | None = None,
    keep_grib: bool | None = None,
    correlation_id: str | None = None,
) -> NewJob:
    """The job for one file: the newest run first, short hours first, live before backfill."""
    args = {
        "model_id": model_id,
        "run_id": run_id_of(run),
        "hour": hour,
        "regions": regions,
        "variables": variables,
        "keep_grib": keep_grib,
    }
    return NewJob(
        "ingest_grib",
        {name: value for name, value in args.items() if value is not None},
        priority=file_priority(run, hour, live=live),
        source="system",
        correlation_id=correlation_id,
    )


def run(task: Task) -> Outcome:
    """Download, prove, record; and in the same transaction one build_tile per region that the file touches."""
    from gribmill.pipeline.context import context_of

    args = task.args_as(IngestGribArgs)
    context = context_of(task)
    if not _wanted_regions(context, args):
        return Failed("no region is named: [chain] regions of the settings that this worker was started with is empty")
    spool = context.root.spool(args.hour_ref)
    known = context.catalogue.hour(args.model_id, args.run_id, args.hour)
    variables = args.variables or context.model(args.model_id).variables
    if known is not None and holds(known, variables):
        missing = _untiled(context, args, known)
        if spool.is_file() or not missing:
            return _only_tiles(context, args, known, spool, missing)
    return _download(context, args, spool, known)


def holds(known: HourRecord | None, variables: Iterable[str]) -> bool:
    """Whether the file was downloaded with all of these variables, as far as it has them."""
    return known is not None and known.state != "published" and known.covers(variables)


def with_earlier(known: HourRecord | None, variables: Iterable[str]) -> tuple[str, ...]:
    """These variables, and those that were asked for before: a tile that is built anew loses none."""
    from gribmill.grib.names.lexicon import lexicon

    earlier = known.found + known.missing if known else ()
    return tuple(dict.fromkeys((*variables, *(name for name in earlier if lexicon().get(name)))))


def _download(context: Context, args: IngestGribArgs, spool: Path, known: HourRecord | None) -> Outcome:
    from gribmill.catalogue.events import HourFailed
    from gribmill.identity import run_time
    from gribmill.ingest.download.download import download
    from gribmill.ingest.download.errors import DownloadFailed, NotYet, Permanent
    from gribmill.ingest.index.wanted import wanted
    from gribmill.pipeline.effects import effects_of, observations

    model = context.model(args.model_id)
    health = context.catalogue.mirrors()
    try:
        got = download(
            model,
            run_time(args.run_id),
            args.hour,
            wanted(with_earlier(known, args.variables or model.variables)),
            spool,
            session=context.session,
            health=health,
            known=_as_listed(known),
            check=lambda messages: _check_reach(context, args, _reached(context, args, messages)),
        )
    except DownloadFailed as error:
        seen = observations(error.health_updates)
        over = datetime.now(UTC) >= model.gives_up_at(run_time(args.run_id))
        if isinstance(error, Permanent) or (isinstance(error, NotYet) and over):
            failed = HourFailed(args.hour_ref, str(error)[:LONGEST_ERROR])
            return Failed(str(error), permanent=True, also=effects_of([*seen, failed]))
        pause = error.retry_after_seconds
        if isinstance(error, NotYet):
            pause = NOT_YET_SECONDS if known else NEVER_SEEN_SECONDS
        if pause is not None and not over:
            return Snoozed(pause, str(error), also=effects_of(seen))
        return Failed(str(error), also=effects_of(seen))
    return _fan_out(context, args, got, spool, known)


def _as_listed(known: HourRecord | None) -> Published | None:
    """What the scan saw of the file: where it is, how large, and which version of it."""
    from gribmill.ingest.listing.available_hours import Published

    if known is None or known.mirror is None or known.url is None:
        return None
    return Published(known.hour, known.mirror, known.url, None, known.size, known.etag, known.published_at, True)


def _fan_out(
    context: Context, args: IngestGribArgs, got: Downloaded, spool: Path, known: HourRecord | None
) -> Succeeded:
    from gribmill.catalogue.events import HourIngested, TilesOutdated
    from gribmill.pipeline.effects import effects_of, observations

    regions = _reached(context, args, got.messages)
    outdated: list[Event] = []
    if known is not None and known.regions and not known.covers((*got.found, *got.missing)):
        # The tiles of all its regions lack variables now: the hour is whole when each is built again.
        regions = list(dict.fromkeys((*regions, *known.regions)))
        outdated.append(TilesOutdated(args.hour_ref))
    ingested = HourIngested(
        args.hour_ref,
        mirror=got.mirror,
        url=got.url,
        etag=got.etag,
        bytes=got.bytes,
        requested_bytes=got.requested_bytes,
        requests=got.requests,
        sha256=got.sha256,
        found=got.found,
        missing=got.missing,
        regions=tuple(regions),
        asked=_wanted_regions(context, args),
        keep_grib=_keeps(context, args),
    )
    events = [*_seen(context, args), ingested, *outdated, *observations(got.health_updates)]
    if not regions:
        return _nothing_to_cut(args, events)
    return Succeeded(then=_tile_jobs(args, regions), also=effects_of(events), artifacts=(str(spool),))


def _check_reach(context: Context, args: IngestGribArgs, reached: Iterable[str]) -> None:
    """A file that misses a region of the model's grid is on a wrong grid: its hour must not count as done."""
    from gribmill.ingest.download.errors import WrongFile

    model = context.model(args.model_id)
    promised = context.promised_of(model, _wanted_regions(context, args))
    missed = {*promised} - {*reached}
    if missed:
        names = ", ".join(sorted(missed))
        raise WrongFile(f"the file's grid does not reach {names}, which the grid of {model.id} ({model.grid}) does")


def _nothing_to_cut(args: IngestGribArgs, events: Iterable[Event]) -> Succeeded:
    """The file reaches none of the regions: its hour is whole without a tile, and its messages may go."""
    from gribmill.catalogue.events import TilesDone
    from gribmill.pipeline.effects import effects_of
    from gribmill.pipeline.handlers.publish import publish_job

    publish = publish_job(args.model_id, args.run_id, args.hour)
    return Succeeded(then=(publish,), also=effects_of([*events, TilesDone(args.hour_ref)]))


def _only_tiles(context: Context, args: IngestGribArgs, known: HourRecord, spool: Path, missing: set[str]) -> Outcome:
    """The messages are here, or every tile is: only what is missing is asked for."""
    from gribmill.catalogue.events import RegionsWanted
    from gribmill.grib.message_header import read_headers
    from gribmill.ingest.download.errors import WrongFile
    from gribmill.pipeline.effects import effects_of
    from gribmill.pipeline.handlers.publish import publish_job

    if not missing:
        # While this job waited, no publish removed the messages.
        then = (publish_job(args.model_id, args.run_id, args.hour),) if spool.is_file() else ()
        return Succeeded(skipped="every tile of this hour is there already", then=then)
    reached = _reached(context, args, read_headers(spool))
    try:
        _check_reach(context, args, reached)
    except WrongFile as error:
        spool.unlink(missing_ok=True)  # The next try fetches it anew.
        return Failed(str(error))
    regions = sorted({*known.regions, *reached})
    wants = RegionsWanted(args.hour_ref, tuple(regions), _wanted_regions(context, args), _keeps(context, args))
    jobs = _tile_jobs(args, [region for region in regions if region in missing])
    return Succeeded(then=jobs, also=effects_of([wants])) if jobs else _nothing_to_cut(args, [wants])


def _seen(context: Context, args: IngestGribArgs) -> list[RunSeen]:
    """A file that no scan has seen (a backfill's) still belongs to a run with known hours."""
    from gribmill.catalogue.events import RunSeen
    from gribmill.identity import run_time

    model = context.model(args.model_id)
    run = run_time(args.run_id)
    if model.discovers(run):
        return []
    return [RunSeen(args.hour_ref.run, model.hours(run))]


def _wanted_regions(context: Context, args: IngestGribArgs) -> tuple[str, ...]:
    return args.regions or context.settings.chain.regions


def _untiled(context: Context, args: IngestGribArgs, known: HourRecord) -> set[str]:
    """The wanted regions within reach that have no tile of this hour yet; not those that the file did not reach."""
    tiles = context.catalogue.tiles(args.model_id, args.run_id)
    built = {tile.region for tile in tiles if tile.hour == args.hour}
    reached = context.regions_of(context.model(args.model_id), _wanted_regions(context, args))
    return {*(name for name in reached if name not in known.asked), *known.regions} - built


def _reached(context: Context, args: IngestGribArgs, messages: Iterable[MessageHeader]) -> list[str]:
    """The wanted regions that the file's own grids reach. Fields on unsupported grids are named in the tile's meta."""
    from gribmill.grib.message_header import supported_grids
    from gribmill.regions.window import window

    grids = supported_grids(messages)
    names = _wanted_regions(context, args)
    return [name for name in names if any(window(grid, context.region(name).box) for grid in grids)]


def _tile_jobs(args: IngestGribArgs, regions: list[str]) -> tuple[NewJob, ...]:
    from gribmill.identity import run_time

    hour = {"model_id": args.model_id, "run_id": args.run_id, "hour": args.hour}
    live = args.regions is None
    priority = file_priority(run_time(args.run_id), args.hour, live=live)
    return tuple(
        NewJob("build_tile", {**hour, "region": region}, priority=priority, source="system") for region in regions
    )


def _keeps(context: Context, args: IngestGribArgs) -> bool:
    return context.settings.chain.keep_grib if args.keep_grib is None else args.keep_grib


INGEST_GRIB = JobType(
    key="ingest_grib",
    description="Downloads the wanted messages of one GRIB file.",
    args=IngestGribArgs,
    lane="fetch",
    handler="gribmill.pipeline.handlers.ingest_grib:run",
    timeout_seconds=1800,
    max_attempts=5,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    dedupe=("model_id", "run_id", "hour"),
)
