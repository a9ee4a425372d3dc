"""publish: after the tiles of an hour, moves latest.json forward and removes messages that nobody needs any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gribmill.identity import Hour, HourRef, ModelId, RunRef
from gribmill.pipeline.ids import PublishedRunId
from gribmill.pipeline.priority import PUBLISH as PUBLISH_PRIORITY
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import NewJob, Succeeded
from gribmill.queue.worker.task import Task

if TYPE_CHECKING:
    from gribmill.catalogue.reads import Catalogue
    from gribmill.pipeline.context import Context
    from gribmill.storage.latest import LatestRuns


class PublishArgs(Args):
    """Which hour has new tiles."""

    model_id: ModelId
    run_id: PublishedRunId
    hour: Hour


def publish_job(model_id: str, run_id: str, hour: int) -> NewJob:
    """Enqueued with the completion of a tile. Never deduplicated: one that runs may have looked already."""
    args = {"model_id": model_id, "run_id": run_id, "hour": hour}
    return NewJob("publish", args, priority=PUBLISH_PRIORITY, source="system")


def run(task: Task) -> Succeeded:
    """Look at the catalogue as it is now; whatever it says, doing this twice does no harm."""
    from gribmill.pipeline.context import context_of
    from gribmill.storage.latest import publish_latest
    from gribmill.storage.layout import remove_spool

    args = task.args_as(PublishArgs)
    context = context_of(task)
    # First what frees the disk: on a full one nothing else works. All hours: another one's publish may have failed.
    for hour in spent_hours(context, RunRef(args.model_id, args.run_id)):
        remove_spool(context.root.spool(hour))
    publish_latest(context.root, args.model_id, latest_runs(context.catalogue, args.model_id))
    return Succeeded()


def spent_hours(context: Context, run: RunRef) -> list[HourRef]:
    """The hours with messages in the spool that nobody asked to keep, whose tiles are all built, and no job works on.

    While a job of the hour is active, its messages may just have come again, for a region that was added, or be read.
    Jobs are looked for after the hours: what has come again since then still has one, or its tiles.
    """
    spent = []
    for hour, record in context.catalogue.hours(run.model_id, run.run_id).items():
        if record.state != "built" or record.keep_grib:
            continue
        if not context.root.spool(run.hour(hour)).is_file():
            continue
        if not context.jobs.any_active(_jobs_of(run.hour(hour), record.regions)):
            spent.append(run.hour(hour))
    return spent


def latest_runs(catalogue: Catalogue, model_id: str) -> dict[str, LatestRuns]:
    """What the catalogue knows of each region of a model."""
    from gribmill.storage.latest import LatestRuns

    return {
        region: LatestRuns(newest, catalogue.newest_complete_run(model_id, region))
        for region, newest in catalogue.newest_runs(model_id).items()
    }


def _jobs_of(hour: HourRef, regions: Iterable[str]) -> Iterator[NewJob]:
    """Those that write or read the messages of an hour."""
    args = {"model_id": hour.model_id, "run_id": hour.run_id, "hour": hour.hour}
    yield NewJob("ingest_grib", args)
    for region in regions:
        yield NewJob("build_tile", {**args, "region": region})


PUBLISH = JobType(
    key="publish",
    description="Moves latest.json forward and removes messages whose tiles are all built.",
    args=PublishArgs,
    lane="fetch",
    handler="gribmill.pipeline.handlers.publish:run",
    timeout_seconds=120,
    max_attempts=5,
    backoff_base_s=5.0,
    backoff_cap_s=60.0,
)
