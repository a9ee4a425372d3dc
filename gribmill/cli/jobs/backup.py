"""`gribmill jobs backup`: a consistent copy of jobs.db."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gribmill.database.protocol import FileDatabase
from gribmill.database.sqlite.status import check_copy
from gribmill.errors import GribmillError
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.errors import StoreError
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot


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
