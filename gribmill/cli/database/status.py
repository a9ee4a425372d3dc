"""`gribmill db status`: the database itself."""

from __future__ import annotations

import sys

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.format_duration import format_duration
from gribmill.cli.text.format_size import format_size
from gribmill.pipeline.manage_database import database_status
from gribmill.settings.schema import Settings
from gribmill.views.queue.database import DatabaseStatusView

SHOWN = 12


@click.command()
@click.option("--indexes", "with_indexes", is_flag=True, help="Also list the indexes and how often each was used.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@click.pass_obj
def status(settings: Settings, with_indexes: bool, as_json: bool) -> None:
    """Show the engine and version, sizes, dead rows, the oldest open transaction, and advice.

    Exit code 1 if the tables are missing or older than this version of gribmill.
    """
    found = DatabaseStatusView.of(database_status(settings))
    if as_json:
        print_json(found)
    else:
        _print(found, with_indexes)
    if found.missing_migrations:
        sys.exit(1)


def _print(found: DatabaseStatusView, with_indexes: bool) -> None:
    schema = f"schema {found.migrations[-1]}" if found.migrations else "no tables yet"
    unused = f", {format_size(found.free_bytes)} unused" if found.free_bytes else ""
    click.echo(f"{found.engine} {found.version}, {found.place}: {format_size(found.bytes)}{unused}, {schema}")
    if found.connections is not None:
        click.echo(f"connections: {found.connections} of {found.max_connections}")
        old = found.oldest_transaction
        open_for = f"{format_duration(old.seconds)} (process {old.pid}, {old.state})" if old else "none"
        click.echo(f"oldest open transaction: {open_for}")
    tables = [table for table in found.tables if table.rows or table.dead_rows][:SHOWN]
    if tables:
        rows = [[one.name, one.rows, one.dead_rows, format_size(one.bytes) if one.bytes else ""] for one in tables]
        print_table(["table", "rows", "dead", "size"], rows, right=["rows", "dead", "size"])
    if with_indexes:
        uses = [[one.name, one.table, one.scans, format_size(one.bytes)] for one in found.indexes]
        print_table(["index", "table", "uses", "size"], uses, right=["uses", "size"])
    for sentence in found.advice:
        click.echo(f"- {sentence}")
    if not found.advice:
        click.echo("nothing to do")
