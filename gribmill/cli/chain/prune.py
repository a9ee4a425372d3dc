"""`gribmill prune`: remove old runs."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from gribmill.cli.check_chain import check_chain_models
from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.cli.text.figures import counted
from gribmill.errors import GribmillError
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import make_context, make_context_for_reading
from gribmill.pipeline.retention import decide, explain_left, prune_now, runs_on_disk
from gribmill.pipeline.tenant_retention import decide_tenants, prune_regions_now
from gribmill.settings.schema import Settings
from gribmill.views.chain.prune import PruneView


@click.command()
@click.argument("model", required=False)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed, what would be kept, and why.")
@AS_JSON
@click.pass_obj
def prune(settings: Settings, model: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove old runs of MODEL (a model or a family), or of all models, by age, number and disk space.

    The limits are in [chain] of the settings, and in [retention.MODEL] for single models. Tenants
    may keep less of the regions that are cut for them alone (`gribmill tenants edit`). The
    newest run of a region, its newest complete run and runs that a job needs are never removed.
    `gribmill run` prunes too; old jobs are removed by workers, or with `gribmill jobs prune`.
    """
    check_chain_models(settings)
    context = make_context_for_reading(settings) if dry_run else make_context(settings)
    runs = runs_on_disk(context.root, context.catalogue, model)
    if model is not None and not runs:  # no run has this name: a family, or an unknown model
        members = models_named(context.models, model)
        runs = [run for one in members for run in runs_on_disk(context.root, context.catalogue, one.id)]
    now = datetime.now(UTC) - context.clock_ahead()
    decisions = decide(runs, settings, now)
    gone = [one.run.ref for one in decisions if one.removed]
    chosen = {run.ref.model_id for run in runs} if model is not None else None
    regions = [
        one for one in decide_tenants(context, None, gone, now) if chosen is None or one.tiles.run.model_id in chosen
    ]
    stuck = [] if dry_run else prune_now(context, decisions)
    left = [] if dry_run else prune_regions_now(context, regions)
    view = PruneView.of(
        (one for one in decisions if one not in stuck),
        (one for one in regions if one not in left),
        removed=not dry_run,
    )
    if as_json:
        print_json(view)
    elif view.runs or view.regions or (dry_run and view.kept):
        rows = [[one.model, one.run, one.bytes, "remove", one.reason] for one in view.runs]
        rows += [[one.model, f"{one.run} {one.region}", one.bytes, "remove", one.reason] for one in view.regions]
        if dry_run:
            rows += [[one.model, one.run, one.bytes, "keep", one.reason] for one in view.kept]
        print_table(["model", "run", "bytes", "", "reason"], rows, right=["bytes"], wrap="reason")
        kept = f", and keep {len(view.kept)}" if dry_run else ""
        parts = f", and regions of tenants from {counted(len(view.regions), 'run')}" if view.regions else ""
        click.echo(f"{'would remove' if dry_run else 'removed'} {counted(len(view.runs), 'run')}{parts}{kept}")
    elif not stuck:
        click.echo("no runs are old enough to remove")
    if stuck or left:
        raise GribmillError(
            explain_left(context.root, [*(one.run.ref for one in stuck), *(one.tiles.run for one in left)])
        )
