"""`gribmill db status`: the state of the database itself."""

from __future__ import annotations

import sys

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import format_duration, format_size
from gribmill.pipeline.manage_database import database_status
from gribmill.settings.schema import Settings
from gribmill.views.queue.database import DatabaseStatusView, IndexView, TableView

SHOWN = 12


@click.command()
@click.option("--indexes", "with_indexes", is_flag=True, help="Also list the indexes and how often each was used.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@click.pass_obj
def status(settings: Settings, with_indexes: bool, as_json: bool) -> None:
    """Show the engine and version, sizes, dead rows and wasted space, the oldest open transaction, and advice.

    Wasted space is estimated from the statistics of the last ANALYZE: pages beyond those that the rows
    or entries would fill. New rows fill it first; the advice says when it is worth getting rid of.

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
        rows = [[one.name, one.rows, _dead(one), _size(one.bytes), _wasted(one)] for one in tables]
        print_table(["table", "rows", "dead", "size", "wasted"], rows, right=["rows", "dead", "size", "wasted"])
    if with_indexes:
        uses = [[one.name, one.table, one.scans, format_size(one.bytes), _wasted(one)] for one in found.indexes]
        print_table(["index", "table", "uses", "size", "wasted"], uses, right=["uses", "size", "wasted"])
    for sentence in found.advice:
        click.echo(f"- {sentence}")
    if not found.advice:
        click.echo("nothing to do")


def _size(count: int) -> str:
    """The size of a table, if known: SQLite does not report it."""
    return format_size(count) if count else ""


def _dead(table: TableView) -> str:
    share = f" ({table.dead_share:.0%})" if table.dead_rows else ""
    return f"{table.dead_rows}{share}"


def _wasted(one: TableView | IndexView) -> str:
    return "" if one.wasted_bytes is None else f"~{format_size(one.wasted_bytes)}"
