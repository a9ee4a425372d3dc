"""publish: after the tiles of an hour, moves latest.json forward and removes messages that are no longer needed."""

from __future__ import annotations

from gribmill.catalogue.reads import Catalogue
from gribmill.identity import HourRef, RunRef
from gribmill.pipeline.context import Context, context_of
from gribmill.pipeline.job_types import PublishArgs, ingest_job, tile_jobs
from gribmill.queue.model import Succeeded
from gribmill.queue.worker.task import Task
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest
from gribmill.storage.layout import remove_spool


def run(task: Task) -> Succeeded:
    """Look at the catalogue as it is now. Running it twice does no harm."""
    hour = task.args_as(PublishArgs).hour_ref
    context = context_of(task)
    # First what frees the disk: on a full one nothing else works. All hours: another one's publish may have failed.
    for spent in spent_hours(context, hour.run):
        remove_spool(context.root.spool(spent))
    publish_latest(context.root, hour.model_id, lambda: known_runs(context.catalogue, hour.model_id))
    return Succeeded()


def spent_hours(context: Context, run: RunRef) -> list[HourRef]:
    """The hours whose messages may go: not to be kept, all tiles built, and no job works on them.

    While a job of the hour is active, its messages may just have been fetched again for a region that was added, or are
    being read. Jobs are looked for after the hours: messages fetched since then still have a job, or all their tiles.
    """
    spent = []
    for hour, record in context.catalogue.hours(run).items():
        ref = run.hour(hour)
        if record.state != "built" or record.keep_grib or not context.root.spool(ref).is_file():
            continue
        users = (ingest_job(ref, live=True), *tile_jobs(ref, record.regions, live=True))
        if not context.jobs.any_active(users):
            spent.append(ref)
    return spent


def known_runs(catalogue: Catalogue, model_id: str) -> KnownRuns:
    """What the catalogue knows of each region of a model."""
    runs = {
        region: LatestRuns(newest, catalogue.newest_complete_run(model_id, region))
        for region, newest in catalogue.newest_runs(model_id).items()
    }
    return KnownRuns(runs, catalogue.lost_runs(model_id))
