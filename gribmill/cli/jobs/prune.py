"""`gribmill jobs prune`: old finished jobs away."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.settings.schema import Settings
from gribmill.views.job_result import PrunedJobsView

DAYS = click.FloatRange(0, 36_600)


@click.command()
@click.option("--completed-days", type=DAYS, help="Keep completed and cancelled jobs so long (default: settings).")
@click.option("--failed-days", type=DAYS, help="Keep failed jobs so long (default: settings).")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--json", "as_json", is_flag=True, help="The counts as JSON.")
@click.pass_obj
def prune(
    settings: Settings, completed_days: float | None, failed_days: float | None, dry_run: bool, as_json: bool
) -> None:
    """Remove finished jobs and their attempts by age. Workers do it by themselves every hour."""
    from gribmill.pipeline.open_queue import open_queue

    keep_completed = settings.queue.keep_completed_days if completed_days is None else completed_days
    keep_failed = settings.queue.keep_failed_days if failed_days is None else failed_days
    gone = open_queue(settings).maintenance.prune(keep_completed, keep_failed, dry_run=dry_run)
    if as_json:
        print_json(PrunedJobsView.of(gone, dry_run=dry_run))
        return
    verb = "would go" if dry_run else "went"
    click.echo(
        f"{gone.completed} completed or cancelled jobs older than {keep_completed:g} days"
        f" and {gone.failed} failed ones older than {keep_failed:g} days {verb}"
    )
