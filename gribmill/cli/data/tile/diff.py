"""`gribmill tile diff`."""

from __future__ import annotations

import click

from gribmill.cli.data.tile.tile_path import TILE
from gribmill.cli.output import print_json, print_table
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.check.diff import diff as find_differences
from gribmill.tiles.read.tile import read_tile
from gribmill.views.data.tile import TileDifferenceView


@click.command()
@click.argument("one", metavar="TILE", type=TILE)
@click.argument("other", metavar="OTHER", type=TILE)
@click.option("--json", "as_json", is_flag=True, help="The differences as JSON.")
@click.pass_context
def diff(ctx: click.Context, one: StoredPath, other: StoredPath, as_json: bool) -> None:
    """Compare two tiles. Exit code 0 if their contents are equal, 1 if they differ.

    \b
    gribmill tile diff data/tiles/hrrr/20230722_06/ne/00{1,2}.npz
    """
    found = find_differences(read_tile(one), read_tile(other))
    if as_json:
        print_json([TileDifferenceView.of(item) for item in found])
    elif not found:
        click.echo("the tiles are equal")
    else:
        rows = [(item.name, item.points or "", _number(item.largest), _number(item.mean), item.why) for item in found]
        columns = ("what", "points", "largest", "mean", "why")
        print_table(columns, rows, right=("points", "largest", "mean"), wrap="why")
    ctx.exit(1 if found else 0)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
