"""`gribmill tile verify`."""

from __future__ import annotations

from pathlib import Path

import click

from gribmill.cli.data.tile.tile_path import TILE, without_grid
from gribmill.cli.output import print_json, print_table
from gribmill.settings.schema import Settings
from gribmill.storage.layout import root_of_tile
from gribmill.tiles.check.verify import verify as check_tile
from gribmill.views.tile import TileCheckView


@click.command()
@click.argument("paths", metavar="TILE...", nargs=-1, required=True, type=TILE)
@click.option("--grib", type=TILE, help="The GRIB file to compare with. [default: the one in the data root]")
@click.option("--json", "as_json", is_flag=True, help="Every check, as JSON.")
@click.pass_context
def verify(ctx: click.Context, paths: tuple[Path, ...], grib: Path | None, as_json: bool) -> None:
    """Check tiles in full, and against their GRIB file if it is available.

    Checks checksums, shapes, coordinates and statistics, then every value against the message that it was cut from.
    Exit code 1 if a check fails.

    \b
    gribmill tile verify data/tiles/hrrr/20230722_06/ne/*.npz
    gribmill tile verify 001.npz --grib hrrr.t06z.wrfsfcf01.grib2
    """
    settings: Settings = ctx.obj
    views = [TileCheckView.of(path, check_tile(path, grib, _data_root(path, settings))) for path in without_grid(paths)]
    if as_json:
        print_json(views)
    else:
        _print_checks(views)
    ctx.exit(0 if all(view.good for view in views) else 1)


def _data_root(path: Path, settings: Settings) -> Path:
    """The data root that contains the tile, or that of the settings."""
    root = root_of_tile(path)
    return root.path if root else settings.data_root


def _print_checks(views: list[TileCheckView]) -> None:
    words = {True: "ok", False: "FAILED", None: "-"}
    rows = []
    for view in views:
        for number, check in enumerate(view.checks):
            rows.append((view.tile if number == 0 else "", words[check.good], check.what, check.detail))
    print_table(("tile", "", "what", "detail"), rows)
