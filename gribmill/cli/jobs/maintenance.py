"""`gribmill jobs backup`, `prune` and `verify`: what keeps the queue in order."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gribmill.cli.options.number_range import NumberRange
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import counted
from gribmill.database.protocol import FileDatabase
from gribmill.database.sqlite.status import check_copy
from gribmill.errors import GribmillError
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading, output_logs
from gribmill.queue.errors import StoreError
from gribmill.queue.worker.output import orphaned_logs, remove_orphans
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.views.queue.job_result import PrunedJobsView, ViolationView

DAYS = NumberRange(0, 36_600)


@click.command()
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.pass_obj
def backup(settings: Settings, target: Path, force: bool) -> None:
    """Copy the queue to FILE while workers run, and check the copy.

    Do not copy jobs.db with cp: its newest commits are in the log beside it.
    """
    _check_target(target, DataRoot(settings.data_root).jobs_db, force)
    store = open_queue(settings)
    # Replace an older backup only after the new one has been read back.
    staging = target.with_name(f".{target.name}.{os.getpid()}.unchecked")
    try:
        if not isinstance(store.database, FileDatabase):
            raise GribmillError("the queue is not in a file; back it up with the tools of its database")
        store.database.backup(staging)
        count = check_copy(staging)
        staging.replace(target)
    except StoreError as error:
        raise GribmillError(f"the backup failed: {str(error).replace(str(staging), str(target))}") from None
    except OSError as error:
        raise GribmillError(f"cannot write the backup {target}: {error.strerror or error}") from None
    finally:
        staging.unlink(missing_ok=True)
    click.echo(f"{target}: {count} jobs, {target.stat().st_size / 1e6:.1f} MB, checked")


def _check_target(target: Path, database: Path, force: bool) -> None:
    if not target.parent.is_dir():
        raise GribmillError(f"there is no folder {target.parent} for the backup")
    if target.exists() and database.exists() and target.samefile(database):
        raise GribmillError(f"{target} is the queue itself; choose another file")
    if target.exists() and not force:
        raise GribmillError(f"{target} exists already; --force replaces it")


@click.command()
@click.option(
    "--completed-days", type=DAYS, help="Days to keep completed and cancelled jobs. [default: from the settings]"
)
@click.option("--failed-days", type=DAYS, help="Days to keep failed jobs. [default: from the settings]")
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
    unused = sum(map(len, orphaned_logs(store, logs)) if dry_run else remove_orphans(store, logs))
    if as_json:
        print_json(PrunedJobsView.of(gone, logs=unused, dry_run=dry_run))
        return
    verb = "would remove" if dry_run else "removed"
    click.echo(
        f"{verb} {gone.completed} completed or cancelled jobs older than {keep_completed:g} days"
        f" and {gone.failed} failed jobs older than {keep_failed:g} days"
        + (f", and {counted(unused, 'log')} of jobs that are gone" if unused else "")
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The violations as JSON.")
@click.pass_obj
def verify(settings: Settings, as_json: bool) -> None:
    """Check every invariant of the queue, and the database file, while workers run.

    Exit code 1 if an invariant is violated, with the rows that violate it.
    """
    violations = open_queue_for_reading(settings).verify()
    if as_json:
        print_json([ViolationView.of(violation) for violation in violations])
    elif violations:
        rows = [[one.invariant, one.job_id, one.detail] for one in violations]
        print_table(["invariant", "job", "detail"], rows, right=["job"], wrap="detail")
    else:
        click.echo("all invariants hold")
    if violations:
        raise SystemExit(1)
