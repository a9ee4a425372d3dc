"""`gribmill tile info`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.data.tile.tile_path import TILE, without_grid
from gribmill.cli.output import console, print_json, print_table, styled
from gribmill.errors import printable
from gribmill.grib.product.keys import identity_text
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.tile import Tile, read_tile
from gribmill.views.data.tile import TileView


@click.command()
@click.argument("paths", metavar="TILE...", nargs=-1, required=True, type=TILE)
@click.option("--json", "as_json", is_flag=True, help="All metadata of the tiles, as JSON.")
def info(paths: tuple[StoredPath, ...], as_json: bool) -> None:
    """Show what tiles contain: run, grid, variables, source.

    \b
    gribmill tile info data/tiles/hrrr/20230722_06/ne/001.npz
    """
    tiles = [read_tile(path) for path in without_grid(paths)]
    if as_json:
        found = [TileView.of(item) for item in tiles]
        print_json(found[0] if len(found) == 1 else found)
        return
    for item in tiles:
        _print_info(item)


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
    if meta.identity:
        facts.append(("identity", identity_text(meta.identity)))
    facts += [("note", note) for note in meta.notes]
    if meta.absent:
        facts.append(("absent", ", ".join(meta.absent)))
    facts += [("skipped", f"{note.name} (message {note.message}): {note.reason}") for note in meta.skipped]
    facts += [("also", f"{note.name} (message {note.message}): {note.reason}") for note in meta.duplicates]
    facts += [("codes", f"{name}: {codes_text(item.flags)}") for name, item in meta.variables.items() if item.flags]
    facts += [("no value", _fill_text(name, item)) for name, item in meta.variables.items() if item.filled]
    if meta.attribution:
        facts.append(("licence", meta.attribution))
    wide = max(len(name) for name, _ in facts)
    for name, value in facts:
        out.print(styled(f"{name:<{wide}}  {printable(value)}"), soft_wrap=True)  # do not break URLs
    click.echo()
    _print_variables(opened)


def _print_variables(opened: Tile) -> None:
    rows: list[tuple[Any, ...]] = []
    for name in opened.names:
        item = opened.meta.variables[name]
        start, end = (minutes / 60 for minutes in item.step_minutes)
        step = f"{end:g}" if start == end else f"{start:g}-{end:g} {item.statistic}"
        # The mean of codes is meaningless.
        mean = "" if item.flags else _number(item.mean)
        rows.append(
            (name, item.units, item.level, step, _number(item.min), mean, _number(item.max),
             item.missing or "", item.message if item.field == 1 else f"{item.message}.{item.field}", item.packing.name)
        )  # fmt: skip
    columns: tuple[str, ...] = ("name", "units", "level", "hour", "min", "mean", "max", "missing", "msg", "packing")
    of_what = [identity_text(opened.meta.variables[name].identity) for name in opened.names]
    if any(of_what):
        columns = (*columns, "of")
        rows = [(*row, text) for row, text in zip(rows, of_what, strict=True)]
    numbers = ("min", "mean", "max", "missing", "msg")
    print_table(columns, rows, right=numbers, wrap="level", drop=("packing", "msg", "missing", "mean"), least=16)


def _fill_text(name: str, item: VariableMeta) -> str:
    numbers = [f"{number:g}" for number in item.fill_values]
    if item.valid_min is not None:
        numbers.append(f"less than {item.valid_min:g}")
    return f"{name}: {item.filled} points of the GRIB that are {' or '.join(numbers)}"


def codes_text(flags: dict[int, str]) -> str:
    """`0 no, 1 yes`."""
    return ", ".join(f"{value} {meaning}" for value, meaning in flags.items())


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
