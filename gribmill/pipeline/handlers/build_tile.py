"""build_tile: cuts one hour's GRIB into the tile of one region. Siblings of an hour are decoded once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.identity import Hour, HourRef, ModelId, RegionName, TileRef
from gribmill.pipeline.ids import PublishedRunId
from gribmill.pipeline.priority import file_priority
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import Failed, NewJob, Snoozed, Succeeded
from gribmill.queue.worker.task import Batch, Task

if TYPE_CHECKING:
    from gribmill.catalogue.records import HourRecord
    from gribmill.pipeline.context import Context
    from gribmill.tiles.build.tile_writer import BuiltTile

log = logging.getLogger("gribmill.build_tile")

# How long a tile waits for messages that have to be fetched again.
REFETCH_SECONDS = 30.0


class BuildTileArgs(Args):
    """Which tile: one region of one hour of a run."""

    model_id: ModelId
    run_id: PublishedRunId
    hour: Hour
    region: RegionName


def group_of(args: BuildTileArgs) -> str:
    """The file that all regions of an hour are cut from; zero-padded, so that keys sort by hour."""
    return str(HourRef(args.model_id, args.run_id, args.hour))


def run(batch: Batch) -> None:
    """Decode the hour's messages once and cut them for every region of the batch."""
    from gribmill.pipeline.context import context_of

    context = context_of(batch.tasks[0])
    first = batch.tasks[0].args_as(BuildTileArgs)
    spool = context.root.spool(HourRef(first.model_id, first.run_id, first.hour))
    if not spool.is_file():
        for task in batch.unreported:
            _fetch_again(context, batch, task)
        return
    _build(context, batch, first, spool)


def _build(context: Context, batch: Batch, first: BuildTileArgs, spool: Path) -> None:
    from gribmill.tiles.build.build import build

    by_region = {task.args_as(BuildTileArgs).region: task for task in batch.unreported}
    for name in [name for name in by_region if name not in context.regions]:
        batch.done(by_region.pop(name), _unknown_region(first, name))
    if not by_region:
        return
    record = context.catalogue.hour(first.model_id, first.run_id, first.hour)
    outcome = build(
        spool,
        [context.regions[name] for name in by_region],
        context.root.path,
        model=first.model_id,
        hour=first.hour,
        variables=(*record.found, *record.missing) if record else context.model(first.model_id).variables,
        url=record.url if record else None,
        etag=record.etag if record else None,
        sha256=_known_sha256(record, spool),
        threads=context.settings.workers.build_threads,
    )
    for failed in outcome.failed:
        batch.fail(by_region.pop(failed.region), str(failed.error))
    built = {tile.region: tile for tile in outcome.tiles}
    for name in outcome.empty:
        batch.fail(by_region.pop(name), "none of the wanted variables is among the hour's messages", permanent=True)
    for name in [name for name in by_region if name not in built]:
        batch.done(by_region.pop(name), Succeeded(skipped=f"the model's grid does not reach {name}"))
    for left, (name, task) in zip(range(len(by_region), 0, -1), by_region.items(), strict=True):
        batch.done(task, _recorded(first, name, built[name], last=left == 1))


def _known_sha256(record: HourRecord | None, spool: Path) -> str | None:
    """The download's own checksum of the file. None where the file may be another than the one on record."""
    facts = spool.stat()
    if record is None or record.ingested_at is None or record.bytes != facts.st_size:
        return None
    # A file is on record only after it is whole: one that is newer than its record has not been recorded yet.
    return record.sha256 if facts.st_mtime <= record.ingested_at.timestamp() else None


def _unknown_region(args: BuildTileArgs, region: str) -> Failed:
    """A region that is gone from the settings: the hour is whole without it."""
    from gribmill.catalogue.events import RegionDropped
    from gribmill.pipeline.effects import effects_of

    also = effects_of([RegionDropped(TileRef(args.model_id, args.run_id, args.hour, region))])
    return Failed(f"there is no region {region!r} in these settings", permanent=True, also=also)


def _recorded(args: BuildTileArgs, region: str, tile: BuiltTile, *, last: bool) -> Succeeded:
    """The tile enters the catalogue with the completion of its job.

    With the last one of a batch the hour may be whole, and the run. Reports are stored in their order: should a crash
    come before the last one's, that job runs again, and is then the last.
    """
    from gribmill.catalogue.events import Event, TileBuilt, TilesDone
    from gribmill.pipeline.effects import effects_of
    from gribmill.pipeline.handlers.publish import publish_job

    hour = HourRef(args.model_id, args.run_id, args.hour)
    events: list[Event] = [TileBuilt(hour.tile(region), tile.bytes)]
    then: tuple[NewJob, ...] = ()
    if last:
        events.append(TilesDone(hour))
        then = (publish_job(args.model_id, args.run_id, args.hour),)
    return Succeeded(then=then, also=effects_of(events), artifacts=(str(tile.path),))


def _fetch_again(context: Context, batch: Batch, task: Task) -> None:
    """The spool file is gone. Either the tile is there and nothing is to do, or the messages have to come again."""
    from gribmill.identity import run_time
    from gribmill.storage.layout import TileFolder

    args = task.args_as(BuildTileArgs)
    folder = TileFolder(context.root.path, args.model_id, args.run_id, args.region)
    if folder.tile(args.hour * 60).is_file():
        batch.done(task, Succeeded(skipped="the tile is there already"))
        return
    again = NewJob(
        "ingest_grib",
        {"model_id": args.model_id, "run_id": args.run_id, "hour": args.hour, "regions": [args.region]},
        priority=file_priority(run_time(args.run_id), args.hour, live=True),
        source="system",
    )
    batch.done(task, Snoozed(REFETCH_SECONDS, "its messages are gone and are fetched again", then=(again,)))


BUILD_TILE = JobType(
    key="build_tile",
    description="Cuts one hour's GRIB into the NPZ tile of one region.",
    args=BuildTileArgs,
    lane="build",
    handler="gribmill.pipeline.handlers.build_tile:run",
    timeout_seconds=900,
    max_attempts=3,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    batch_max=64,
    group_by=group_of,
    dedupe=True,
)
