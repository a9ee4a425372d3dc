"""ingest_grib: downloads the needed messages of one GRIB file into the spool, and enqueues its tiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from gribmill.catalogue.events import (
    DiskFreed,
    Event,
    HourFailed,
    HourIngested,
    HoursRequested,
    RegionsWanted,
    RunSeen,
    TilesDone,
    TilesLost,
    TilesOutdated,
)
from gribmill.catalogue.reads import lost_tiles
from gribmill.catalogue.records import HourRecord
from gribmill.grib.messages import MessageHeader, read_headers, supported_grids
from gribmill.identity import HourRef
from gribmill.ingest.available_hours import Published
from gribmill.ingest.download.download import download
from gribmill.ingest.download.download_plan import Downloaded
from gribmill.ingest.download.errors import DiskFull, DownloadFailed, NotYet, Permanent, WrongFile
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context, context_of
from gribmill.pipeline.effects import effects_of, observations
from gribmill.pipeline.handlers.spooled_hour import (
    NextContent,
    fetched_spool,
    recorded_spool,
    remove_spent_here,
    share_spool,
)
from gribmill.pipeline.handlers.wait_for_storage import or_wait, wait_before_fetching, wait_for_space
from gribmill.pipeline.job_arguments import IngestGribArgs
from gribmill.pipeline.job_types import publish_job, tile_jobs
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.queue.model import Failed, Outcome, Snoozed, Succeeded, Transfer
from gribmill.queue.worker.task import Task
from gribmill.regions.window import window
from gribmill.storage.layout import spool_generation

# Retry delay for a file that is listed but not found: mirrors become consistent within minutes.
NOT_YET_SECONDS = 60.0
# Retry delay for a file that no scan has seen: a backfill may request hundreds, and each attempt asks every mirror.
NEVER_SEEN_SECONDS = 600.0
LONGEST_ERROR = 1000


def run(task: Task) -> Outcome:
    """Download and verify; then record the hour and enqueue a build_tile per region in one transaction."""
    return or_wait(task, lambda: _ingest(task))


def _ingest(task: Task) -> Outcome:
    request = RequestedHour(context_of(task), task.args_as(IngestGribArgs), task.requested_by)
    if not request.regions:
        return Failed("no region is named: [chain] regions of the settings that this worker was started with is empty")
    known = request.context.catalogue.hour(request.ref)
    root = request.context.root
    spool = recorded_spool(root, request.ref, known) or fetched_spool(root, request.ref, known)
    lost = _lost(request)
    if known is not None and known.holds(request.variables):
        missing = request.missing_tiles(known)
        if spool is not None or not missing:
            return _build_missing(request, known, spool, missing, lost)
    return wait_before_fetching(request.context, task.attempt_no) or _download(request, known, lost, task.attempt_no)


def _lost(request: RequestedHour) -> TilesLost:
    """The tiles of the hour whose files are missing or damaged."""
    now = datetime.now(UTC) - request.context.clock_ahead()
    return TilesLost(request.ref, request.lost_tiles(), now)


def _download(request: RequestedHour, known: HourRecord | None, lost: TilesLost, attempt_no: int) -> Outcome:
    context = request.context
    content = NextContent.of(context.root, request.ref, known)
    try:
        got = download(
            request.model,
            request.ref.run.time,
            request.ref.hour,
            wanted(context.variables_to_fetch(known, request.variables)),
            content.target,
            session=context.session,
            health=context.catalogue.mirrors(),
            known=_as_listed(known),
            check=lambda messages: request.check_reach(request.reached_by(messages)),
            places=content.places,
        )
    except DiskFull as error:
        return wait_for_space(str(error), attempt_no, effects_of(observations(error.health_updates)))
    except DownloadFailed as error:
        return _failure(request, known, error)
    got = replace(got, path=share_spool(context.root, request.ref, got.path))
    remove_spent_here(context)
    return _recorded(request, known, got, lost)


def _failure(request: RequestedHour, known: HourRecord | None, error: DownloadFailed) -> Outcome:
    """Record a permanent failure, so that scans do not enqueue the same file again."""
    seen = observations(error.health_updates)
    transfer = Transfer(error.received_bytes, 0)
    over = datetime.now(UTC) - request.context.clock_ahead() >= request.model.gives_up_at(request.ref.run.time)
    if isinstance(error, Permanent) or (isinstance(error, NotYet) and over):
        failed = HourFailed(request.ref, str(error)[:LONGEST_ERROR])
        return Failed(str(error), permanent=True, also=effects_of([*seen, failed]), transfer=transfer)
    pause = error.retry_after_seconds
    if isinstance(error, NotYet):
        pause = NOT_YET_SECONDS if known else NEVER_SEEN_SECONDS
    if pause is not None and not over:
        return Snoozed(pause, str(error), also=effects_of(seen), transfer=transfer)
    return Failed(str(error), also=effects_of(seen), transfer=transfer)


def _as_listed(known: HourRecord | None) -> Published | None:
    """The file as the scan saw it: mirror, size and ETag."""
    if known is None or known.mirror is None or known.url is None:
        return None
    return Published(known.hour, known.mirror, known.url, None, known.size, known.etag, known.published_at, True)


def _recorded(request: RequestedHour, known: HourRecord | None, got: Downloaded, lost: TilesLost) -> Succeeded:
    """The outcome that records the hour in the catalogue and enqueues its tiles."""
    # A download for one missing tile also enqueues all others that are missing.
    missing = request.missing_tiles(known) & {*known.regions} if known is not None else set()
    regions = list(dict.fromkeys((*request.reached_by(got.messages), *sorted(missing))))
    outdated: list[Event] = [lost] if lost.regions else []
    generation = spool_generation(got.path)
    if known is not None and known.regions and generation > known.generation:
        # Tiles of all regions are outdated now: the hour is complete once each is rebuilt.
        regions = list(dict.fromkeys((*regions, *known.regions)))
        outdated.append(TilesOutdated(request.ref))
    ingested = HourIngested(
        request.ref,
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
        asked=request.regions,
        keep_grib=request.keep_grib,
        generation=generation,
    )
    freed = DiskFreed(str(request.context.root.path))
    events = [*request.run_seen(), ingested, *outdated, *observations(got.health_updates), freed]
    transfer = Transfer(got.requested_bytes, got.bytes)
    if not regions:
        return replace(_nothing_to_cut(request, events), transfer=transfer)
    jobs = tile_jobs(request.ref, regions, live=request.live, tenant=request.tenant)
    return Succeeded(then=jobs, also=effects_of(events), artifacts=(str(got.path),), transfer=transfer)


def _build_missing(
    request: RequestedHour, known: HourRecord, spool: Path | None, missing: set[str], lost: TilesLost
) -> Outcome:
    """The messages are in the spool, or all tiles exist: enqueue only missing tiles."""
    if spool is None or not missing:
        # While this job was pending, no publish job removed the messages.
        then = (publish_job(request.ref),) if spool is not None else ()
        return Succeeded(skipped="all tiles of this hour exist", then=then)
    reached = request.reached_by(read_headers(spool))
    try:
        request.check_reach(reached)
    except WrongFile as error:
        spool.unlink(missing_ok=True)  # the next attempt downloads it again
        return Failed(str(error))
    regions = sorted({*known.regions, *reached})
    wants = RegionsWanted(request.ref, tuple(regions), request.regions, request.keep_grib)
    events: list[Event] = [wants, *([lost] if lost.regions else [])]
    lacking = [region for region in regions if region in missing]
    jobs = tile_jobs(request.ref, lacking, live=request.live, tenant=request.tenant)
    return Succeeded(then=jobs, also=effects_of(events)) if jobs else _nothing_to_cut(request, events)


def _nothing_to_cut(request: RequestedHour, events: Iterable[Event]) -> Succeeded:
    """The file reaches none of the regions: the hour is complete without tiles, and its messages can be removed."""
    return Succeeded(then=(publish_job(request.ref),), also=effects_of([*events, TilesDone(request.ref)]))


@dataclass(frozen=True)
class RequestedHour:
    """What a job requests of one hour's file, from its arguments and the settings."""

    context: Context
    args: IngestGribArgs
    tenant: str | None = None
    """The tenant that requested it, if any."""

    @property
    def ref(self) -> HourRef:
        return self.args.hour_ref

    @property
    def model(self) -> Model:
        return self.context.model(self.args.model_id)

    @property
    def live(self) -> bool:
        """Whether it follows the settings rather than a backfill's request."""
        return self.args.regions is None

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """The regions to cut. Computed once, because the settings may change while the job runs."""
        return self.args.regions or wanted_regions(self.context)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.args.variables or self.model.variables

    @property
    def keep_grib(self) -> bool:
        return self.context.settings.chain.keep_grib if self.args.keep_grib is None else self.args.keep_grib

    def reached_by(self, messages: Iterable[MessageHeader]) -> list[str]:
        """The regions that the file's own grids reach. Fields on unsupported grids are listed in the tile's meta."""
        grids = supported_grids(messages)
        return [name for name in self.regions if any(window(grid, self.context.region(name).box) for grid in grids)]

    def check_reach(self, reached: Iterable[str]) -> None:
        """Raise if the file misses a region that the model's grid reaches: it is on a wrong grid."""
        missed = {*self.context.promised_of(self.model, self.regions)} - {*reached}
        if missed:
            names = ", ".join(sorted(missed))
            grid = f"the grid of {self.model.id} ({self.model.grid})"
            raise WrongFile(f"the file's grid does not reach {names}, which {grid} does")

    def missing_tiles(self, known: HourRecord) -> set[str]:
        """The regions whose tile of this hour is missing or lost, except those that the file does not reach."""
        tiles = self.context.catalogue.tiles(self.ref.run)
        built = {tile.region for tile in tiles if tile.hour == self.ref.hour}
        reached = self.context.regions_of(self.model, self.regions)
        wanted = {*(name for name in reached if name not in known.asked), *known.regions}
        return wanted - (built - {*self.lost_tiles()})

    def lost_tiles(self) -> tuple[str, ...]:
        """The regions whose tile of this hour was built and is now missing or damaged."""
        ref = self.ref
        return lost_tiles(self.context.root, self.context.catalogue, ref.run, ref.hour).get(ref.hour, ())

    def run_seen(self) -> list[Event]:
        """The run of a file that no scan has seen; a backfill requests only some of its hours."""
        run = self.ref.run.time
        if self.model.discovers(run):
            return []
        hours = self.model.hours(run)
        if self.live:
            return [RunSeen(self.ref.run, hours)]
        return [HoursRequested(self.ref.run, (self.ref.hour,), len(hours))]
