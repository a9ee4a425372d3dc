"""`gribmill tile`: look into tiles, draw them, compare them, check them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gribmill.cli.options.png_path import PNG
from gribmill.cli.output import console, print_json, print_table
from gribmill.settings.schema import Settings
from gribmill.views.tile import TileCheckView, TileDifferenceView, TileView

if TYPE_CHECKING:
    from gribmill.tiles.check.verify import TileCheck
    from gribmill.tiles.read.tile import Tile

TILE = click.Path(dir_okay=False, path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def tile() -> None:
    """Look into tiles: info, show, plot, diff, verify.

    A tile is one region at one hour: tiles/MODEL/RUN/REGION/HOUR.npz under the data root.
    """


@tile.command()
@click.argument("paths", metavar="TILE...", nargs=-1, required=True, type=TILE)
@click.option("--json", "as_json", is_flag=True, help="Everything the tile says about itself, as JSON.")
def info(paths: tuple[Path, ...], as_json: bool) -> None:
    """What a tile holds: run, grid, variables, source.

    \b
    gribmill tile info data/tiles/hrrr/20230722_06/ne/001.npz
    """
    from gribmill.tiles.read.tile import read_tile

    tiles = [read_tile(path) for path in _without_grid(paths)]
    if as_json:
        found = [TileView.of(item) for item in tiles]
        print_json(found[0] if len(found) == 1 else found)
        return
    for item in tiles:
        _print_info(item)


@tile.command()
@click.argument("path", metavar="TILE", type=TILE)
@click.argument("variable", required=False)
@click.option("--width", type=click.IntRange(20, 160), help="Columns to use; as many as the terminal has otherwise.")
@click.option("--no-coast", is_flag=True, help="Leave the coastlines out.")
def show(path: Path, variable: str | None, width: int | None, no_coast: bool) -> None:
    """Draw a field in the terminal.

    \b
    gribmill tile show data/tiles/hrrr/20230722_06/ne/001.npz t2m
    """
    from gribmill.draw.of_tile import drawable_of, main_variable
    from gribmill.draw.terminal.picture import draw_terminal
    from gribmill.tiles.read.tile import read_tile

    opened = read_tile(path)
    field = drawable_of(opened, variable or main_variable(opened))
    draw_terminal(field, console(), width, coast=not no_coast)


@tile.command()
@click.argument("path", metavar="TILE", type=TILE)
@click.argument("variable", required=False)
@click.option("-o", "--out", type=PNG, help="The PNG to write; beside you, named after the tile, otherwise.")
@click.option("--barbs", is_flag=True, help="Wind barbs on top.")
@click.option("--dpi", type=click.IntRange(40, 600), default=130, show_default=True, help="Dots per inch.")
def plot(path: Path, variable: str | None, out: Path | None, barbs: bool, dpi: int) -> None:
    """Draw a field as a map in a PNG (needs matplotlib: pip install 'gribmill[plot]').

    \b
    gribmill tile plot data/tiles/hrrr/20230722_06/ne/001.npz t2m --barbs -o boston.png
    """
    from gribmill.draw.map.png import draw_png
    from gribmill.draw.of_tile import barbs_of, drawable_of, main_variable
    from gribmill.tiles.read.tile import read_tile

    opened = read_tile(path)
    name = variable or main_variable(opened)
    meta = opened.meta
    target = out or Path(f"{meta.model}_{meta.run}_{meta.region.name}_{path.stem}_{name}.png")
    draw_png(drawable_of(opened, name), target, barbs_of(opened) if barbs else None, dpi)
    click.echo(target)


@tile.command()
@click.argument("one", metavar="TILE", type=TILE)
@click.argument("other", metavar="OTHER", type=TILE)
@click.option("--json", "as_json", is_flag=True, help="The differences as JSON.")
@click.pass_context
def diff(ctx: click.Context, one: Path, other: Path, as_json: bool) -> None:
    """How two tiles differ. Exit code 1 where they do, 0 where they say the same.

    \b
    gribmill tile diff data/tiles/hrrr/20230722_06/ne/00{1,2}.npz
    """
    from gribmill.tiles.check.diff import diff as find_differences
    from gribmill.tiles.read.tile import read_tile

    found = find_differences(read_tile(one), read_tile(other))
    if as_json:
        print_json([TileDifferenceView.of(item) for item in found])
    elif not found:
        click.echo("the tiles say the same")
    else:
        rows = [(item.name, item.points or "", _number(item.largest), _number(item.mean), item.why) for item in found]
        columns = ("what", "points", "largest", "mean", "why")
        print_table(columns, rows, right=("points", "largest", "mean"))
    ctx.exit(1 if found else 0)


@tile.command()
@click.argument("paths", metavar="TILE...", nargs=-1, required=True, type=TILE)
@click.option("--grib", type=TILE, help="The GRIB file to check against; the one in the spool otherwise.")
@click.option("--json", "as_json", is_flag=True, help="Every check as JSON.")
@click.pass_context
def verify(ctx: click.Context, paths: tuple[Path, ...], grib: Path | None, as_json: bool) -> None:
    """Read tiles again in full and check them, against their GRIB where it is at hand.

    Checksums, shapes, coordinates and statistics; then every value against the message that it was cut from.
    Exit code 1 where anything is wrong.

    \b
    gribmill tile verify data/tiles/hrrr/20230722_06/ne/*.npz
    gribmill tile verify 001.npz --grib hrrr.t06z.wrfsfcf01.grib2
    """
    settings: Settings = ctx.obj
    from gribmill.tiles.check.verify import verify as check_tile

    found = {path: check_tile(path, grib, _root_of(path, settings)) for path in _without_grid(paths)}
    bad = any(check.good is False for checks in found.values() for check in checks)
    if as_json:
        print_json([TileCheckView.of(path, checks) for path, checks in found.items()])
    else:
        _print_checks(found)
    ctx.exit(1 if bad else 0)


def _without_grid(paths: tuple[Path, ...]) -> list[Path]:
    """`ne/*.npz` takes the grid file in, which is no tile. Named alone, it is told so."""
    from gribmill.storage.layout import GRID_FILE

    return [path for path in paths if path.name != GRID_FILE] or list(paths)


def _root_of(path: Path, settings: Settings) -> Path:
    """The data root that a tile lies in, or the settings' one."""
    from gribmill.storage.layout import root_of_tile

    root = root_of_tile(path)
    return root.path if root else settings.data_root


def _print_checks(found: dict[Path, list[TileCheck]]) -> None:
    words = {True: "ok", False: "WRONG", None: "-"}
    rows = []
    for path, checks in found.items():
        for number, check in enumerate(checks):
            rows.append((path if number == 0 else "", words[check.good], check.what, check.detail))
    print_table(("tile", "", "what", "detail"), rows)


def _print_info(opened: Tile) -> None:
    meta = opened.meta
    rows, columns = opened.shape
    grid = meta.grid.mapping.get("grid_mapping_name", meta.grid.kind)
    out = console()
    out.print(f"[bold]{opened.path}[/bold]  {opened.archive.size:,} bytes", soft_wrap=True)
    facts = [
        ("model", f"{meta.model}  run {meta.run}  +{meta.minutes / 60:g} h"),
        ("valid", f"{meta.valid_time:%Y-%m-%d %H:%M} UTC"),
        ("region", f"{meta.region.name}  {meta.region.title}  {', '.join(f'{edge:g}' for edge in meta.region.box)}"),
        ("grid", f"{rows} × {columns} points, {grid}, {meta.grid.cell_km:.3g} km"),
        ("source", f"{meta.source.url or meta.source.name}  {meta.source.bytes:,} bytes"),
    ]
    if meta.absent:
        facts.append(("absent", ", ".join(meta.absent)))
    facts += [("skipped", f"{note.name} (message {note.message}): {note.reason}") for note in meta.skipped]
    facts += [("also", f"{note.name} (message {note.message}): {note.reason}") for note in meta.duplicates]
    if meta.attribution:
        facts.append(("licence", meta.attribution))
    print_table(("", ""), facts)
    _print_variables(opened)


def _print_variables(opened: Tile) -> None:
    rows = []
    for name in opened.names:
        item = opened.meta.variables[name]
        start, end = (minutes / 60 for minutes in item.step_minutes)
        step = f"{end:g}" if start == end else f"{start:g}-{end:g} {item.statistic}"
        rows.append(
            (name, item.units, item.level, step, _number(item.min), _number(item.mean), _number(item.max),
             item.missing or "", item.message if item.field == 1 else f"{item.message}.{item.field}", item.packing.name)
        )  # fmt: skip
    columns = ("name", "units", "level", "hour", "min", "mean", "max", "missing", "msg", "packing")
    print_table(columns, rows, right=("min", "mean", "max", "missing", "msg"))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
