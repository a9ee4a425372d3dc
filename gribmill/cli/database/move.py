"""`gribmill db move`: from jobs.db to PostgreSQL, or back."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.progress import progress_bars
from gribmill.pipeline.manage_database import move_database
from gribmill.settings.schema import Settings
from gribmill.views.queue.database import MoveView


@click.command()
@click.option(
    "--to",
    "target",
    required=True,
    metavar="URL|FILE",
    help="The target: postgresql://user@host/name, or a jobs.db file.",
)
@click.option("--json", "as_json", is_flag=True, help="The copied tables as JSON.")
@click.pass_obj
def move(settings: Settings, target: str, as_json: bool) -> None:
    """Copy the queue and the catalogue to another database, and compare every row.

    The source is the database in the settings. It is locked during the move and not changed. Stop all
    workers first: the move does not start while one is running. The target must be empty. If the move
    is interrupted, run the same command to resume it. Afterwards, change the setting `database` and
    start the workers again.
    """
    with progress_bars("items", quiet=as_json) as add_bar:
        bar = add_bar("copying")
        moved = MoveView.of(move_database(settings, target, lambda name, rows: bar(rows, None, name)))
    if as_json:
        print_json(moved)
        return
    rows = [[table.name, table.rows] for table in moved.tables if table.rows]
    print_table(["table", "rows"], rows, right=["rows"])
    click.echo(f"{sum(table.rows for table in moved.tables)} rows are the same in {moved.source} and {moved.target}")
    click.echo(moved.next_step)
