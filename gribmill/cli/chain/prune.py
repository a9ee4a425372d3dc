"""`gribmill prune`: remove old runs."""

from __future__ import annotations

import click

from gribmill.cli.check_chain import check_chain_models
from gribmill.cli.output import print_json, print_table
from gribmill.errors import GribmillError
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import look_context, make_context
from gribmill.pipeline.retention.old_runs import explain_left, prune_now, runs_on_disk
from gribmill.pipeline.retention.retention import decide
from gribmill.settings.schema import Settings
from gribmill.views.chain.prune import PruneView


@click.command()
@click.argument("model", required=False)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed, what would be kept, and why.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def prune(settings: Settings, model: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove old runs of MODEL (a model or a family), or of all models, by age, number and disk space.

    The limits are in [chain] of the settings, and in [retention.MODEL] for single models. The
    newest run of a region, its newest complete run and runs that a job needs are never removed.
    `gribmill run` prunes too; old jobs are removed by workers, or with `gribmill jobs prune`.
    """
    check_chain_models(settings)
    context = look_context(settings) if dry_run else make_context(settings)
    runs = runs_on_disk(context.root, context.catalogue, model)
    if model is not None and not runs:  # not the name of any run here: a family, or unknown
        members = models_named(context.models, model)
        runs = [run for one in members for run in runs_on_disk(context.root, context.catalogue, one.id)]
    decisions = decide(runs, settings)
    stuck = [] if dry_run else prune_now(context, decisions)
    view = PruneView.of((one for one in decisions if one not in stuck), removed=not dry_run)
    if as_json:
        print_json(view)
    elif view.runs or (dry_run and view.kept):
        rows = [[one.model, one.run, one.bytes, "remove", one.reason] for one in view.runs]
        if dry_run:
            rows += [[one.model, one.run, one.bytes, "keep", one.reason] for one in view.kept]
        print_table(["model", "run", "bytes", "", "reason"], rows, right=["bytes"], wrap="reason")
        kept = f", and keep {len(view.kept)}" if dry_run else ""
        click.echo(f"{'would remove' if dry_run else 'removed'} {len(view.runs)} runs{kept}")
    elif not stuck:
        click.echo("no runs are old enough to remove")
    if stuck:
        raise GribmillError(explain_left(context.root, stuck))
