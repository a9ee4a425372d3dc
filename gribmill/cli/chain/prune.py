"""`gribmill prune`: remove old runs."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json, print_table
from gribmill.errors import GribmillError
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import look_context, make_context
from gribmill.pipeline.old_runs import choose_old_runs, explain_left, prune_now, runs_on_disk
from gribmill.settings.schema import Settings
from gribmill.views.prune import PruneView


@click.command()
@click.argument("model", required=False)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def prune(settings: Settings, model: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove old runs of MODEL (a model or a family), or of all models, by age, number and disk space.

    The limits are in [chain] of the settings. The newest run of a region and its newest complete
    run are never removed. `gribmill run` prunes too; old jobs are removed by workers, or with
    `gribmill jobs prune`.
    """
    context = look_context(settings) if dry_run else make_context(settings)
    runs = runs_on_disk(context.root, context.catalogue, model)
    if model is not None and not runs:  # not the name of any run here: a family, or unknown
        members = models_named(context.models, model)
        runs = [run for one in members for run in runs_on_disk(context.root, context.catalogue, one.id)]
    old = choose_old_runs(runs, settings.chain)
    stuck = [] if dry_run else prune_now(context, old)
    view = PruneView.of((one for one in old if one not in stuck), removed=not dry_run)
    if as_json:
        print_json(view)
    elif view.runs:
        rows = [[one.model, one.run, one.bytes, one.reason] for one in view.runs]
        print_table(["model", "run", "bytes", "reason"], rows, right=["bytes"], wrap="reason")
        click.echo(f"{'would remove' if dry_run else 'removed'} {len(rows)} runs")
    elif not stuck:
        click.echo("no runs are old enough to remove")
    if stuck:
        raise GribmillError(explain_left(context.root, stuck))
