"""`gribmill jobs verify`: check the invariants of the queue on the live database."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json, print_table
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import ViolationView


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
