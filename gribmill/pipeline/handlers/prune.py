"""prune: removes old runs."""

from __future__ import annotations

from datetime import UTC, datetime

from gribmill.pipeline.context import context_of
from gribmill.pipeline.effects import effects_of
from gribmill.pipeline.handlers.wait_for_storage import or_wait
from gribmill.pipeline.job_arguments import PruneArgs
from gribmill.pipeline.retention import decide, explain_left, remove_runs, runs_on_disk
from gribmill.pipeline.tenant_retention import decide_tenants, remove_regions
from gribmill.queue.model import Failed, Outcome, Succeeded
from gribmill.queue.worker.task import Task


def run(task: Task) -> Outcome:
    """Remove the files, then the catalogue's rows together with the completion, so that a crash in between is safe."""
    return or_wait(task, lambda: _prune(task))


def _prune(task: Task) -> Outcome:
    args = task.args_as(PruneArgs)
    context = context_of(task)
    now = datetime.now(UTC) - context.clock_ahead()
    decisions = decide(runs_on_disk(context.root, context.catalogue, args.model_id), context.settings, now)
    gone = [one.run.ref for one in decisions if one.removed]
    regions = decide_tenants(context, args.model_id, gone, now)
    left, events = remove_runs(context.root, decisions)
    left_regions, region_events = remove_regions(context.root, regions)
    also = effects_of([*events, *region_events])
    stuck = [*(one.run.ref for one in left), *(one.tiles.run for one in left_regions)]
    return Failed(explain_left(context.root, stuck), also=also) if stuck else Succeeded(also=also)
