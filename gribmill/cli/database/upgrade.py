"""`gribmill db init` and `migrate`: the tables of this version."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.pipeline.manage_database import upgrade_database
from gribmill.settings.schema import Settings
from gribmill.views.queue.database import UpgradeView


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
@click.pass_obj
def init(settings: Settings, as_json: bool) -> None:
    """Create the tables in a new database. Existing tables are left alone.

    The PostgreSQL database itself must exist: create it with `createdb gribmill`.
    """
    _report(UpgradeView.of(upgrade_database(settings, new=True)), as_json)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
@click.pass_obj
def migrate(settings: Settings, as_json: bool) -> None:
    """Upgrade the tables to this version of gribmill.

    Migrations only add, so workers of the previous version can keep running. Workers also migrate
    the database when they start.
    """
    _report(UpgradeView.of(upgrade_database(settings, new=False)), as_json)


def _report(done: UpgradeView, as_json: bool) -> None:
    if as_json:
        print_json(done)
    elif done.applied:
        click.echo(f"{done.place}: applied {', '.join(map(str, done.applied))}")
    else:
        click.echo(f"{done.place}: up to date")
