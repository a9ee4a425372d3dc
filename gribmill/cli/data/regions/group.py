"""`gribmill regions`: named boxes, and the windows they cut from each model's grid."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "check": ("gribmill.cli.data.regions.check:check", "Check your own regions."),
    "list": ("gribmill.cli.data.regions.listing:list_regions", "List the regions: built in, and your own."),
    "show": ("gribmill.cli.data.regions.show:show", "Show a region on a map, and its window on each model's grid."),
}


@click.group(cls=LazyGroup, table=VERBS)
def regions() -> None:
    """List, show and check regions.

    Add your own in gribmill.toml: [regions.NAME] with box = [west, south, east, north], or with
    geojson = "file".
    """
