"""`gribmill db migrate`: upgrade the tables to this version."""

from __future__ import annotations

import click

from gribmill.cli.database.init import report
from gribmill.pipeline.manage_database import upgrade_database
from gribmill.settings.schema import Settings
from gribmill.views.queue.database import UpgradeView


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
@click.pass_obj
def migrate(settings: Settings, as_json: bool) -> None:
    """Upgrade the tables to this version of gribmill.

    Migrations only add, so workers of the previous version can keep running. Workers also migrate
    the database when they start.
    """
    report(UpgradeView.of(upgrade_database(settings, new=False)), as_json)
