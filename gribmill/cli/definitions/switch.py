"""`gribmill definitions activate` and `deactivate`."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionView

KEYS = click.argument("keys", nargs=-1, required=True, metavar="TYPE...")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="The definitions as JSON.")


@click.command()
@KEYS
@AS_JSON
@click.pass_obj
def activate(settings: Settings, keys: tuple[str, ...], as_json: bool) -> None:
    """Accept and run jobs of these types again."""
    _switch(settings, keys, active=True, as_json=as_json)


@click.command()
@KEYS
@AS_JSON
@click.pass_obj
def deactivate(settings: Settings, keys: tuple[str, ...], as_json: bool) -> None:
    """Stop accepting and starting jobs of these types. Running jobs continue; pending ones wait.

    `gribmill jobs pause` also stops starting jobs, but still accepts them.
    """
    _switch(settings, keys, active=False, as_json=as_json)


def _switch(settings: Settings, keys: tuple[str, ...], *, active: bool, as_json: bool) -> None:
    store = open_queue(settings)
    for key in keys:
        store.definitions.get(key)  # fail before changing anything if one does not exist
    made = [store.definitions.set_active(key, active=active, changed_by=current_user()) for key in keys]
    if as_json:
        print_json([DefinitionView.of(one) for one in made])
        return
    for one in made:
        click.echo(f"{one.key} is {'active' if active else 'inactive'}")
