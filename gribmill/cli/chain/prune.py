"""`gribmill prune`: old runs go."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json, print_table
from gribmill.errors import GribmillError
from gribmill.settings.schema import Settings
from gribmill.views.prune import PruneView


@click.command()
@click.argument("model", required=False)
@click.option("--dry-run", is_flag=True, help="Only tell what would go.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def prune(settings: Settings, model: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove old runs of MODEL (a model or a family), or of all models: by age, count and disk, as [chain] says.

    The newest run of a region and its newest complete one are never removed. `gribmill run`
    prunes by itself; old jobs are pruned by workers, or with `gribmill jobs prune`.
    """
    from gribmill.ingest.models.registry import models_named
    from gribmill.pipeline.context import make_context
    from gribmill.pipeline.old_runs import choose_old_runs, explain_left, prune_now, runs_on_disk

    context = make_context(settings)
    runs = runs_on_disk(context.root, context.catalogue, model)
    if model is not None and not runs:  # nothing here is called so: a family, or a name that nobody knows
        members = models_named(context.models, model)
        runs = [run for one in members for run in runs_on_disk(context.root, context.catalogue, one.id)]
    old = choose_old_runs(runs, settings.chain)
    stuck = [] if dry_run else prune_now(context, old)
    view = PruneView.of((one for one in old if one not in stuck), removed=not dry_run)
    if as_json:
        print_json(view)
    elif view.runs:
        rows = [[one.model, one.run, one.bytes, one.reason] for one in view.runs]
        print_table(["model", "run", "bytes", "reason"], rows, right=["bytes"])
        click.echo(f"{len(rows)} runs {'would go' if dry_run else 'removed'}")
    elif not stuck:
        click.echo("nothing is old enough to go")
    if stuck:
        raise GribmillError(explain_left(context.root, stuck))
