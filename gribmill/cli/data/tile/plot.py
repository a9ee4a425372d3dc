"""`gribmill tile plot`."""

from __future__ import annotations

from pathlib import Path

import click

from gribmill.cli.data.tile.tile_path import TILE
from gribmill.cli.options.png_path import PNG
from gribmill.draw.map.png import draw_png
from gribmill.draw.of_tile import barbs_of, drawable_of, main_variable
from gribmill.tiles.read.tile import read_tile


@click.command()
@click.argument("path", metavar="TILE", type=TILE)
@click.argument("variable", required=False)
@click.option("-o", "--out", type=PNG, help="The PNG file to write. [default: named after the tile, here]")
@click.option("--barbs", is_flag=True, help="Draw wind barbs.")
@click.option("--dpi", type=click.IntRange(40, 600), default=130, show_default=True, help="Dots per inch.")
def plot(path: Path, variable: str | None, out: Path | None, barbs: bool, dpi: int) -> None:
    """Draw a field as a map in a PNG file (needs matplotlib: pip install 'gribmill[plot]').

    \b
    gribmill tile plot data/tiles/hrrr/20230722_06/ne/001.npz t2m --barbs -o boston.png
    """
    opened = read_tile(path)
    name = variable or main_variable(opened)
    meta = opened.meta
    target = out or Path(f"{meta.model}_{meta.run}_{meta.region.name}_{path.stem}_{name}.png")
    draw_png(drawable_of(opened, name), target, barbs_of(opened) if barbs else None, dpi)
    click.echo(target)
