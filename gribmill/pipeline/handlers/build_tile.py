"""build_tile: cuts one hour's GRIB into the tile of one region. Regions of an hour share one decoding."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gribmill.catalogue.events import Event, RegionDropped, TileBuilt, TilesCut, TilesDone
from gribmill.catalogue.reads import is_as_recorded
from gribmill.catalogue.records import HourRecord
from gribmill.identity import HourRef
from gribmill.pipeline.context import Context, context_of
from gribmill.pipeline.effects import effects_of
from gribmill.pipeline.handlers.spooled_hour import fetched_spool, is_left_to_its_host, recorded_spool
from gribmill.pipeline.handlers.wait_for_storage import or_all_wait, wait_for_space, wait_for_store
from gribmill.pipeline.job_arguments import BuildTileArgs
from gribmill.pipeline.job_types import ingest_job, publish_job
from gribmill.queue.model import Failed, Outcome, Snoozed, Succeeded, Transfer
from gribmill.queue.worker.task import Batch, Task
from gribmill.storage.errors import FolderBusy, NoSpace, ObjectStoreUnreachable, Superseded
from gribmill.storage.layout import remove_spool
from gribmill.tiles.build.build import build
from gribmill.tiles.build.tile_builder import BuildResult, FailedRegion
from gribmill.tiles.build.tile_writer import BuiltTile

# Retry delay when the hour's messages changed meanwhile.
AGAIN_SECONDS = 1.0
# Retry delay when another process, possibly suspended, holds the folder's lock.
BUSY_SECONDS = 30.0


def run(batch: Batch) -> None:
    """Decode the hour's messages once and cut them for every region of the batch."""
    or_all_wait(batch, lambda: _run(batch))


def _run(batch: Batch) -> None:
    context = context_of(batch.tasks[0])
    hour = batch.tasks[0].args_as(BuildTileArgs).hour_ref
    record = context.catalogue.hour(hour)
    spool = recorded_spool(context.root, hour, record)
    now = datetime.now(UTC) - context.clock_ahead()
    if spool is None and is_left_to_its_host(context.root, record, now):
        for task in batch.unreported:
            batch.done(task, Snoozed(AGAIN_SECONDS, "waiting briefly for the host that has its messages"))
        return
    spool = spool or fetched_spool(context.root, hour, record)
    if spool is None:
        for task in batch.unreported:
            _fetch_again(context, batch, task)
        return
    _build(context, batch, hour, record, spool)


def _build(context: Context, batch: Batch, hour: HourRef, record: HourRecord | None, spool: Path) -> None:
    by_region = {task.args_as(BuildTileArgs).region: task for task in batch.unreported}
    for name in [name for name in by_region if name not in context.regions]:
        batch.done(by_region.pop(name), _unknown_region(hour, name))
    if not by_region:
        return
    outcome = build(
        spool,
        [context.regions[name] for name in by_region],
        context.root.tile_root,
        model=hour.model_id,
        hour=hour.hour,
        variables=record.variables if record else context.model(hour.model_id).variables,
        url=record.url if record else None,
        etag=record.etag if record else None,
        sha256=_known_sha256(record, spool),
        threads=context.settings.workers.build_threads,
        generation=record.generation if record else 0,
    )
    if _is_overtaken(context, hour, record):
        for task in by_region.values():
            batch.done(task, Snoozed(AGAIN_SECONDS, "other messages were downloaded meanwhile: it is built from them"))
        return
    for failed in outcome.failed:
        task = by_region.pop(failed.region)
        batch.done(task, _failure(hour, spool, failed, task.attempt_no))
    built = {tile.region: tile for tile in outcome.tiles}
    for name in outcome.empty:
        batch.fail(by_region.pop(name), "none of the wanted variables is among the hour's messages", permanent=True)
    for name in [name for name in by_region if name not in built]:
        batch.done(by_region.pop(name), Succeeded(skipped=f"the model's grid does not reach {name}"))
    for left, (name, task) in zip(range(len(by_region), 0, -1), by_region.items(), strict=True):
        batch.done(task, _recorded(hour, built[name], outcome if left == 1 else None))


def _is_overtaken(context: Context, hour: HourRef, record: HourRecord | None) -> bool:
    """Whether the hour's content changed while its tiles were built."""
    now = context.catalogue.hour(hour)
    return now is not None and record is not None and now.generation > record.generation


def _failure(hour: HourRef, spool: Path, failed: FailedRegion, attempt_no: int) -> Outcome:
    error = failed.error
    if isinstance(error, NoSpace):
        return wait_for_space(str(error), attempt_no)
    if isinstance(error, ObjectStoreUnreachable):
        return wait_for_store(error, attempt_no)
    if isinstance(error, Superseded):
        # The catalogue was restored from a backup and lacks the newer content. A new download gets a later generation.
        remove_spool(spool)
        return Succeeded(skipped=str(error), then=(ingest_job(hour, live=True, regions=(failed.region,)),))
    if isinstance(error, FolderBusy):
        return Snoozed(BUSY_SECONDS, str(error))
    return Failed(str(error))


def _known_sha256(record: HourRecord | None, spool: Path) -> str | None:
    """The checksum that the download computed; None if the file may not be the recorded one."""
    status = spool.stat()
    if record is None or record.ingested_at is None or record.bytes != status.st_size:
        return None
    # A file is recorded only when it is complete, so one that is newer than the record is not the recorded one.
    return record.sha256 if status.st_mtime <= record.ingested_at.timestamp() else None


def _unknown_region(hour: HourRef, region: str) -> Failed:
    """A region that was removed from the settings: the hour is complete without it."""
    also = effects_of([RegionDropped(hour.tile(region))])
    return Failed(f"there is no region {region!r} in these settings", permanent=True, also=also)


def _recorded(hour: HourRef, tile: BuiltTile, batch: BuildResult | None) -> Succeeded:
    """The outcome that records a tile in the catalogue together with the completion of its job.

    The last tile of a `batch` may complete the hour, and so the run. Reports are stored in order: if the worker dies
    before the last one, that job runs again and is then the last.
    """
    meta = tile.meta
    built = TileBuilt(hour.tile(tile.region), tile.bytes, meta.generation or 0, tuple(sorted(meta.variables)))
    events: list[Event] = [built]
    if batch is not None:
        events += [_cut_together(hour, batch), TilesDone(hour)]
    then = (publish_job(hour),) if batch is not None else ()
    wrote = Transfer(written=tile.bytes)
    return Succeeded(then=then, also=effects_of(events), artifacts=(str(tile.path),), transfer=wrote)


def _cut_together(hour: HourRef, batch: BuildResult) -> TilesCut:
    regions = tuple(tile.region for tile in batch.tiles)
    size = sum(tile.bytes for tile in batch.tiles)
    return TilesCut(hour, regions, size, round(batch.decode_seconds, 6), round(batch.encode_seconds, 6))


def _fetch_again(context: Context, batch: Batch, task: Task) -> None:
    """The spool file is gone: unless the tile exists, download its messages again, which enqueues the tile."""
    args = task.args_as(BuildTileArgs)
    run, tiles = args.hour_ref.run, context.catalogue.tiles(args.hour_ref.run)
    known = next((tile for tile in tiles if (tile.hour, tile.region) == (args.hour, args.region)), None)
    if known is not None and is_as_recorded(context.root, run, known):
        batch.done(task, Succeeded(skipped="the tile is there already"))
        return
    record = context.catalogue.hour(args.hour_ref)
    variables = (record.variables if record else ()) or None
    again = ingest_job(args.hour_ref, live=True, regions=(args.region,), variables=variables)
    batch.done(
        task, Succeeded(skipped="its messages are gone: they are fetched again, then it is built", then=(again,))
    )
