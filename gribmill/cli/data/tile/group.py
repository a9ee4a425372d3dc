"""`gribmill tile`: inspect, draw, compare and verify tiles."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "diff": ("gribmill.cli.data.tile.diff:diff", "Compare two tiles."),
    "info": ("gribmill.cli.data.tile.info:info", "Show what a tile contains: run, grid, variables, source."),
    "plot": ("gribmill.cli.data.tile.plot:plot", "Draw a field as a map in a PNG file."),
    "show": ("gribmill.cli.data.tile.show:show", "Draw a field in the terminal."),
    "verify": ("gribmill.cli.data.tile.verify:verify", "Check tiles in full, and against their GRIB file."),
}


@click.group(cls=LazyGroup, table=VERBS, context_settings={"help_option_names": ["-h", "--help"]})
def tile() -> None:
    """Inspect, draw, compare and verify tiles.

    A tile is one region at one hour: tiles/MODEL/RUN/REGION/HOUR.npz under the data root.
    """
