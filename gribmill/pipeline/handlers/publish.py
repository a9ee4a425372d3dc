"""publish: after the tiles of an hour, moves latest.json forward and removes messages that nobody needs any more."""

from __future__ import annotations

from gribmill.identity import Hour, ModelId
from gribmill.pipeline.ids import PublishedRunId
from gribmill.pipeline.priority import PUBLISH as PUBLISH_PRIORITY
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import NewJob, Succeeded
from gribmill.queue.worker.task import Task


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
    from gribmill.storage.spool import remove_spool, spool_path

    args = task.args_as(PublishArgs)
    context = context_of(task)
    # First what frees the disk: on a full one nothing else works. All hours: another one's publish may have failed.
    for hour in context.catalogue.spent_hours(args.model_id, args.run_id):
        remove_spool(spool_path(context.data, args.model_id, args.run_id, hour))
    publish_latest(context.catalogue, context.data, args.model_id)
    return Succeeded()


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
