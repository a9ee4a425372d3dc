"""`gribmill definitions remove`."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionView


@click.command()
@click.argument("key", metavar="TYPE")
@click.option("--json", "as_json", is_flag=True, help="The removed definition as JSON.")
@click.pass_obj
def remove(settings: Settings, key: str, as_json: bool) -> None:
    """Remove a job type that was added with `gribmill definitions add`.

    The type must have no jobs (not even finished ones), triggers or templates. If it has any,
    deactivate it instead: its jobs are then neither accepted nor run.
    """
    store = open_queue(settings)
    found = store.definitions.get(key).definition
    store.definitions.remove(key)
    if as_json:
        print_json(DefinitionView.of(found))
    else:
        click.echo(f"job type {key} is removed")
