"""`gribmill jobs verify`: the queue's promises, checked on the live database."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json, print_table
from gribmill.settings.schema import Settings
from gribmill.views.job_result import ViolationView


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The violations as JSON.")
@click.pass_obj
def verify(settings: Settings, as_json: bool) -> None:
    """Check every invariant of the queue and the database file itself, while workers go on.

    Exit code 1 when a promise is broken, with the rows that break it.
    """
    from gribmill.pipeline.open_queue import open_queue

    violations = open_queue(settings).verify()
    if as_json:
        print_json([ViolationView.of(violation) for violation in violations])
    elif violations:
        rows = [[one.invariant, one.job_id, one.detail] for one in violations]
        print_table(["invariant", "job", "detail"], rows, right=["job"])
    else:
        click.echo("every promise holds")
    if violations:
        raise SystemExit(1)
