"""`gribmill jobs prune`: remove old finished jobs."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue, output_logs
from gribmill.queue.worker.output import orphaned_logs, remove_orphans
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import PrunedJobsView

DAYS = click.FloatRange(0, 36_600)


@click.command()
@click.option(
    "--completed-days", type=DAYS, help="Days to keep completed and cancelled jobs (default: from the settings)."
)
@click.option("--failed-days", type=DAYS, help="Days to keep failed jobs (default: from the settings).")
@click.option("--dry-run", is_flag=True, help="Only count them.")
@click.option("--json", "as_json", is_flag=True, help="The counts as JSON.")
@click.pass_obj
def prune(
    settings: Settings, completed_days: float | None, failed_days: float | None, dry_run: bool, as_json: bool
) -> None:
    """Remove old finished jobs, their attempts and their logs. Workers do this every hour."""
    keep_completed = settings.queue.keep_completed_days if completed_days is None else completed_days
    keep_failed = settings.queue.keep_failed_days if failed_days is None else failed_days
    store = open_queue(settings)
    gone = store.maintenance.prune(keep_completed, keep_failed, dry_run=dry_run)
    logs = output_logs(settings)
    unused = len(orphaned_logs(store, logs)) if dry_run else remove_orphans(store, logs)
    if as_json:
        print_json(PrunedJobsView.of(gone, logs=unused, dry_run=dry_run))
        return
    verb = "would remove" if dry_run else "removed"
    click.echo(
        f"{verb} {gone.completed} completed or cancelled jobs older than {keep_completed:g} days"
        f" and {gone.failed} failed jobs older than {keep_failed:g} days"
        + (f", and {counted(unused, 'log')} of jobs that are gone" if unused else "")
    )
