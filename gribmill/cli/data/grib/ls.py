"""`gribmill grib ls`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.output import one_line, print_json
from gribmill.errors import GribmillError, sentence
from gribmill.grib.inventory import inventory
from gribmill.grib.product.keys import identity_text

if TYPE_CHECKING:
    from gribmill.grib.inventory import InventoryEntry

COLUMNS = ("#", "byte", "name", "level", "step", "grid", "packing", "size")
# Shown if any field has an identity: ECMWF's labels, a member, a statistic of an ensemble, a threshold.
IDENTITY_COLUMN = "of"
STATS_COLUMNS = ("min", "mean", "max", "missing")
RIGHT = {"#", "byte", "size", *STATS_COLUMNS}
# Columns to leave out on a narrow terminal, in this order; after that, the text of levels is shortened.
DROP = ("packing", "byte", "grid", "size", "mean", "missing")
ELASTIC = "level"
LEAST_LEVEL = 16


@click.command("ls")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--stats", is_flag=True, help="Decode each field, and show minimum, mean, maximum and missing points.")
@click.option("--json", "as_json", is_flag=True, help="All details, as JSON.")
@click.pass_context
def list_fields(ctx: click.Context, paths: tuple[Path, ...], stats: bool, as_json: bool) -> None:
    """List the fields of GRIB files: any edition, grid or packing.

    Names are those of the arrays in tiles, as used by `gribmill cut --vars`. For fields that are not in the
    lexicon, the name that NCEP or ecCodes uses is shown in brackets. A damaged message is listed with the
    reason, and the exit code is 1.
    """
    _use_own_variables(ctx.find_root().params.get("config_file"))
    whole, listed = True, []
    for path in paths:
        entries, problem = [], None
        try:
            entries = list(inventory(path, stats=stats))
        except GribmillError as error:
            problem = str(error)
        whole = whole and problem is None and not any(entry.reason for entry in entries)
        if as_json:
            listed.append((path, problem, entries))
        else:
            _print(path, entries, problem, stats, several=len(paths) > 1)
    if as_json:
        # Imported late: only this option needs pydantic, because the command reads no settings.
        from gribmill.views.data.grib import GribFileView

        print_json([GribFileView.of(*one) for one in listed])
    if not whole:
        sys.exit(1)


def _use_own_variables(config_file: Path | None) -> None:
    """Use the names of user-defined variables too. Files can be listed even if the settings cannot be read."""
    from gribmill.config_file import find_config, read_config

    try:
        path = find_config(config_file)
        if path is None or read_config(path).keys().isdisjoint({"variables", "variables_file"}):
            return
        # Imported late: they load pydantic, and most files are listed without settings.
        from gribmill.pipeline.models import use_configured_variables
        from gribmill.settings.load import load_settings

        use_configured_variables(load_settings(path))
    except GribmillError as error:
        click.echo(f"warning: without your own variables: {error}", err=True)


def _print(path: Path, entries: list[InventoryEntry], problem: str | None, stats: bool, *, several: bool) -> None:
    if several:
        click.echo(f"{path}")
    if problem:
        click.echo(f"error: {sentence(str(problem))}", err=True)
    if entries:
        of_what = [identity_text(entry.identity or {}, whole=False) for entry in entries]
        columns = COLUMNS + (STATS_COLUMNS if stats else ()) + ((IDENTITY_COLUMN,) if any(of_what) else ())
        rows = [[*_row(entry, stats), text][: len(columns)] for entry, text in zip(entries, of_what, strict=True)]
        shown, cells, dropped = _fitted(columns, rows, _width())
        click.echo("\n".join(_lines(shown, cells)))
        if dropped:
            click.echo(f"not shown: {', '.join(dropped)}; a wider terminal or --json shows all", err=True)
    for entry in entries:
        if entry.reason:
            click.echo(f"damaged: message {entry.number} at byte {entry.offset}: {entry.reason}", err=True)
    if several:
        click.echo()


def _width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _fitted(
    columns: Sequence[str], rows: list[list[Any]], width: int | None
) -> tuple[list[str], list[list[str]], list[str]]:
    """The columns and cells that fit, and the names of those left out. In a pipe, everything fits."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = {
        column: max(len(column), *map(len, texts))
        for column, texts in zip(columns, zip(*cells, strict=True), strict=True)
    }
    if width is None:
        return [*columns], cells, []
    dropped: list[str] = []

    def excess(level: int) -> int:
        left = [size for column, size in widths.items() if column != ELASTIC and column not in dropped]
        return sum(left) + level + 2 * len(left) - width

    for column in (column for column in DROP if column in widths):
        if excess(min(widths[ELASTIC], LEAST_LEVEL)) <= 0:
            break
        dropped.append(column)
    level = max(LEAST_LEVEL, widths[ELASTIC] - max(0, excess(widths[ELASTIC])))
    kept = [at for at, column in enumerate(columns) if column not in dropped]
    at_level = columns.index(ELASTIC)
    for row in cells:
        row[at_level] = one_line(row[at_level], level)
    return [columns[at] for at in kept], [[row[at] for at in kept] for row in cells], dropped


def _lines(columns: Sequence[str], rows: list[list[str]]) -> list[str]:
    """Aligned columns, without rich: a file may have thousands of fields, and rich takes a millisecond for each."""
    table = [columns, *rows]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    places = [(width, column in RIGHT) for width, column in zip(widths, columns, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, (width, right) in zip(row, places, strict=True)
        ).rstrip()
        for row in table
    ]


def _row(entry: InventoryEntry, stats: bool) -> list[Any]:
    name = entry.name or "damaged"
    if entry.short_name:
        name += f" ({entry.short_name})"
    row = [entry.number, entry.offset, name, entry.level, entry.step, entry.grid, entry.packing, entry.length]
    if stats:
        numbers = entry.stats
        row += [f"{n:.6g}" for n in (numbers.minimum, numbers.mean, numbers.maximum)] if numbers else [None] * 3
        row.append(numbers.missing if numbers else None)
    return row
