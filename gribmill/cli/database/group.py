"""`gribmill db`: one file per verb."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "init": ("gribmill.cli.database.upgrade:init", "Create the tables in a new database."),
    "migrate": ("gribmill.cli.database.upgrade:migrate", "Bring the tables up to date."),
    "move": ("gribmill.cli.database.move:move", "Copy everything from jobs.db to PostgreSQL, or back."),
    "status": ("gribmill.cli.database.status:status", "Show size, dead rows, open transactions, and what to do."),
}


@click.group(cls=LazyGroup, table=VERBS)
def db() -> None:
    """Create, upgrade, check and move the database of the queue and the catalogue.

    It is jobs.db in the data root, or the PostgreSQL database of the setting `database`
    (GRIBMILL_DATABASE), such as postgresql://gribmill@db.example/gribmill. Keep passwords in
    ~/.pgpass or PGPASSWORD; gribmill never shows them.
    """
