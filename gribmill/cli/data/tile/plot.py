"""`gribmill tile plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gribmill.cli.data.tile.tile_path import TILE
from gribmill.cli.options.png_path import PNG
from gribmill.cli.options.scale_options import scale_options
from gribmill.draw.map.png import draw_png
from gribmill.draw.of_tile import barbs_of, drawable_of, main_variable
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.read.tile import read_tile


@click.command()
@click.argument("path", metavar="TILE", type=TILE)
@click.argument("variable", required=False)
@click.option("-o", "--out", type=PNG, help="The PNG file to write. [default: named after the tile, here]")
@click.option("--contours", metavar="VARIABLE", help="Draw another variable over it, as lines with their values.")
@click.option("--barbs", is_flag=True, help="Draw wind barbs.")
@scale_options
@click.option(
    "--frame",
    type=click.Choice(["box", "tile"]),
    default="box",
    show_default=True,
    help="box: only the region's box, north up; tile: every point of the tile, on the model's own grid.",
)
@click.option("--dpi", type=click.IntRange(40, 600), default=130, show_default=True, help="Dots per inch.")
def plot(
    path: StoredPath,
    variable: str | None,
    out: Path | None,
    contours: str | None,
    barbs: bool,
    units: Any,
    vmin: float | None,
    vmax: float | None,
    frame: Any,
    dpi: int,
) -> None:
    """Draw a field as a map in a PNG file (needs matplotlib: pip install 'gribmill[plot]').

    The colours cover the range of the field without outliers; an arrow at the end of the colour bar means
    that some values lie beyond it. Codes such as precipitation types have a legend.

    \b
    gribmill tile plot data/tiles/hrrr/20230722_06/ne/001.npz t2m --barbs -o boston.png
    gribmill tile plot data/tiles/gfs/20230722_06/conus/006.npz t2m --contours mslp --units us
    """
    opened = read_tile(path)
    name = variable or main_variable(opened)
    meta = opened.meta
    target = out or Path(f"{meta.model}_{meta.run}_{meta.region.name}_{path.stem}_{name}.png")
    draw_png(
        drawable_of(opened, name, units, (vmin, vmax)),
        target,
        barbs_of(opened) if barbs else None,
        dpi,
        contours=drawable_of(opened, contours, units) if contours else None,
        frame=frame,
    )
    click.echo(target)
