"""publish: updates latest.json after an hour's tiles, and removes messages that are no longer needed."""

from __future__ import annotations

from gribmill.catalogue.reads import Catalogue
from gribmill.identity import HourRef
from gribmill.pipeline.context import Context, context_of
from gribmill.pipeline.handlers.spooled_hour import remove_spent, remove_spent_here
from gribmill.pipeline.handlers.wait_for_storage import or_wait, wait_for_space
from gribmill.pipeline.job_arguments import PublishArgs
from gribmill.pipeline.job_types import tile_jobs
from gribmill.queue.model import NewJob, Outcome, Succeeded
from gribmill.queue.worker.task import Task
from gribmill.storage.errors import FolderBusy, NoSpace
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest
from gribmill.tiles.format.meta_member import generation_of

# The runs in latest.json are among the newest, unless a backfill is older.
RUNS_LOOKED_AT = 100


def run(task: Task) -> Outcome:
    """Publish the catalogue's current state. Idempotent."""
    return or_wait(task, lambda: _publish(task))


def _publish(task: Task) -> Outcome:
    hour = task.args_as(PublishArgs).hour_ref
    context = context_of(task)
    # Free disk space first: nothing else works on a full disk. For all hours, because another publish may have failed.
    remove_spent(context, hour.run)
    remove_spent_here(context)
    try:
        publish_latest(context.root, hour.model_id, lambda: known_runs(context.catalogue, hour.model_id))
    except (NoSpace, FolderBusy) as error:
        return wait_for_space(str(error), task.attempt_no)
    return Succeeded(then=overtaken_tiles(context, hour))


def overtaken_tiles(context: Context, hour: HourRef) -> tuple[NewJob, ...]:
    """Jobs that rebuild tiles cut from an earlier generation while a newer one was recorded.

    The newer download could not enqueue them, because their jobs were still running, so no job is left for them.
    """
    record = context.catalogue.hour(hour)
    if record is None or record.state != "ingested":
        return ()
    built = {tile.region for tile in context.catalogue.tiles(hour.run) if tile.hour == hour.hour}
    jobs = tile_jobs(hour, (name for name in record.regions if name not in built), live=True)
    return tuple(
        job
        for job in jobs
        if 0 < generation_of(context.root.tile(hour.tile(str(job.args["region"])))) < record.generation
        and not context.jobs.any_active([job])
    )


def known_runs(catalogue: Catalogue, model_id: str) -> KnownRuns:
    """The catalogue's runs for each region of a model."""
    runs = {
        region: LatestRuns(newest, catalogue.newest_complete_run(model_id, region))
        for region, newest in catalogue.newest_runs(model_id).items()
    }
    hours = {one.run_id: len(one.hours) for one in catalogue.runs(model_id, RUNS_LOOKED_AT) if one.hours}
    return KnownRuns(runs, catalogue.lost_runs(model_id), hours)
