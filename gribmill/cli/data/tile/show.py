"""`gribmill tile show`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.data.tile.tile_path import TILE
from gribmill.cli.options.scale_options import scale_options
from gribmill.cli.output import console
from gribmill.draw.of_tile import drawable_of, main_variable
from gribmill.draw.terminal.picture import draw_terminal
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.read.tile import read_tile


@click.command()
@click.argument("path", metavar="TILE", type=TILE)
@click.argument("variable", required=False)
@click.option("--width", type=click.IntRange(20, 160), help="Columns to use. [default: those of the terminal]")
@scale_options
@click.option("--no-coast", is_flag=True, help="Do not draw coastlines.")
def show(
    path: StoredPath,
    variable: str | None,
    width: int | None,
    units: Any,
    vmin: float | None,
    vmax: float | None,
    no_coast: bool,
) -> None:
    """Draw a field in the terminal.

    \b
    gribmill tile show data/tiles/hrrr/20230722_06/ne/001.npz t2m
    gribmill tile show data/tiles/hrrr/20230722_06/ne/001.npz t2m --units us --vmin 30 --vmax 90
    """
    opened = read_tile(path)
    field = drawable_of(opened, variable or main_variable(opened), units, (vmin, vmax))
    draw_terminal(field, console(), width, coast=not no_coast)
