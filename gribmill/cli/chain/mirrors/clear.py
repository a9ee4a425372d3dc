"""`gribmill mirrors clear`."""

from __future__ import annotations

import difflib

import click

from gribmill.catalogue.events import MirrorCleared
from gribmill.cli.output import print_json
from gribmill.pipeline.context import make_context_for_reading
from gribmill.settings.schema import Settings


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="The names of the mirrors that were cleared, as JSON.")
@click.pass_obj
def clear(settings: Settings, names: tuple[str, ...], as_json: bool) -> None:
    """Close the circuit breakers of the named mirrors, or of all, so that they are used again at once.

    \b
    gribmill mirrors clear
    gribmill mirrors clear aws-hrrr gcs-hrrr
    """
    context = make_context_for_reading(settings)
    known = {mirror.name for model in context.models.values() for mirror in model.mirrors}
    health = context.catalogue.mirrors()
    for name in names:
        if name not in known | health.keys():
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean {near[0]}?" if near else "`gribmill mirrors list --all` shows them all"
            raise click.BadParameter(f"there is no mirror {name!r}; {hint}", param_hint="NAME")
    wanted = [name for name in names or sorted(health) if name in health]
    cleared = [name for name in wanted if health[name].failures or health[name].open_until]
    if cleared:
        context.catalogue.record(MirrorCleared(name) for name in cleared)
    if as_json:
        print_json(cleared)
    else:
        click.echo(f"cleared: {', '.join(cleared)}" if cleared else "no mirror is failing")
