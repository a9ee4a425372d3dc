"""`gribmill jobs pause` and `resume`: pause and resume job types."""

from __future__ import annotations

import click

from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings


@click.command()
@click.argument("type_keys", nargs=-1, required=True, metavar="TYPE...")
@click.pass_obj
def pause(settings: Settings, type_keys: tuple[str, ...]) -> None:
    """Stop starting jobs of these types until they are resumed. Running jobs continue."""
    store = open_queue(settings)
    keys = [store.registry[key].key for key in type_keys]
    for key in keys:
        store.types.pause(key)
        click.echo(f"{key} is paused; `gribmill jobs resume {key}` resumes it")


@click.command()
@click.argument("type_keys", nargs=-1, required=True, metavar="TYPE...")
@click.pass_obj
def resume(settings: Settings, type_keys: tuple[str, ...]) -> None:
    """Start jobs of paused types again."""
    store = open_queue(settings)
    keys = [store.registry[key].key for key in type_keys]
    for key in keys:
        store.types.resume(key)
        click.echo(f"{key} is resumed")
