"""`gribmill tile verify`: check files, or all recorded tiles of a model or a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gribmill.cli.data.tile.tile_path import GRIB, TILE, without_grid
from gribmill.cli.output import print_json, print_table
from gribmill.cli.progress import progress_bars
from gribmill.cli.text.figures import counted
from gribmill.cli.text.plain_lines import line, print_lines
from gribmill.errors import GribmillError, printable
from gribmill.identity import TileRef, check_run_id
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.checkup.recorded_tiles import TileOnRecord, runs_of, tiles_of_run
from gribmill.pipeline.checkup.repair import has_worker, start_repair, wait_for_repair, work_on_repair
from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.storage.layout import root_of_tile
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.check.verify import TileCheck
from gribmill.tiles.check.verify import verify as check_file
from gribmill.views.data.tile import TileCheckView

if TYPE_CHECKING:
    from gribmill.pipeline.checkup.repair import Repair


@dataclass(frozen=True, slots=True)
class CheckedTile:
    """A tile and the results of its checks."""

    path: StoredPath
    ref: TileRef | None
    checks: Sequence[TileCheck]

    @property
    def good(self) -> bool:
        return not any(check.good is False for check in self.checks)


@click.command()
@click.argument("names", metavar="MODEL [RUN] | TILE...", nargs=-1, required=True)
@click.option("--grib", type=GRIB, help="The GRIB file to compare with. [default: the one in the data root]")
@click.option("--all", "everything", is_flag=True, help="Show every check, not only damaged tiles.")
@click.option("--repair", is_flag=True, help="Rebuild damaged tiles of MODEL from the spool, or download them again.")
@click.option(
    "--json", "as_json", is_flag=True, help="The checks as JSON; for a model only damaged tiles, unless --all."
)
@click.pass_context
def verify(
    ctx: click.Context, names: tuple[str, ...], grib: Path | None, everything: bool, repair: bool, as_json: bool
) -> None:
    """Check tiles in full, and against their GRIB file if it is available.

    With MODEL, checks all tiles in the catalogue or on disk, of all its runs or of RUN (YYYYMMDD_HH):
    whether each exists with the recorded size, generation and variables. Then, as for single files,
    checks checksums, shapes, coordinates and statistics, and every value against the message that
    it was cut from. Only damaged tiles and a summary are shown.

    --repair enqueues jobs that rebuild damaged tiles, and waits for the workers; if none is running,
    the jobs run here. Exit code 1 if a tile is damaged and was not repaired.

    \b
    gribmill tile verify hrrr
    gribmill tile verify hrrr 20230722_06 --repair
    gribmill tile verify data/tiles/hrrr/20230722_06/ne/*.npz
    gribmill tile verify 001.npz --grib hrrr.t06z.wrfsfcf01.grib2
    """
    settings: Settings = ctx.obj
    of_files = _is_file_name(names[0])
    if of_files and repair:
        raise click.UsageError("--repair needs a MODEL: the records of its tiles say how to rebuild them")
    context = None if of_files else make_context(settings)
    with progress_bars("items", quiet=as_json) as add_bar:
        bar = add_bar("tiles")
        tiles = _files(names) if context is None else _recorded(context, names)
        checked = []
        for number, tile in enumerate(tiles):
            bar(number, len(tiles))
            checked.append(CheckedTile(tile.path, tile.ref, _checks(tile, grib, settings, of_files=of_files)))
    wrong = [tile for tile in checked if not tile.good]
    repaired = _repair(context, wrong, quiet=as_json) if context is not None and repair and wrong else {}
    if as_json:
        shown = checked if everything or of_files else wrong
        print_json([TileCheckView.of(tile.path, tile.checks, repaired.get(tile.path)) for tile in shown])
    else:
        _print(checked, wrong, repaired, everything=everything)
    ctx.exit(0 if all(repaired.get(tile.path) for tile in wrong) else 1)


def _is_file_name(name: str) -> bool:
    return "/" in name or name.endswith(".npz") or Path(name).is_file()


def _files(names: Sequence[str]) -> list[TileOnRecord]:
    paths = tuple(TILE.convert(name, None, None) for name in names)
    return [TileOnRecord(path, None, None) for path in without_grid(paths)]


def _recorded(context: Context, names: Sequence[str]) -> list[TileOnRecord]:
    if len(names) > 2:
        raise click.UsageError("give a MODEL and at most one RUN, or the paths of tiles")
    run_id = check_run_id(names[1]) if len(names) == 2 else None
    models = models_named(context.models, names[0])
    runs = [run for model in models for run in runs_of(context, model.id, run_id)]
    if not runs:
        raise GribmillError(
            f"there is no run {run_id} of {names[0]} here" if run_id else f"{names[0]} has no runs here"
        )
    return [tile for run in runs for tile in tiles_of_run(context, run)]


def _checks(tile: TileOnRecord, grib: Path | None, settings: Settings, *, of_files: bool) -> list[TileCheck]:
    if not of_files:
        return tile.check(settings.data_root)
    root = root_of_tile(tile.path)
    return check_file(tile.path, grib, root.path if root else settings.data_root)


def _repair(context: Context, wrong: Sequence[CheckedTile], *, quiet: bool) -> dict[StoredPath, bool]:
    """Repair the tiles; returns for each path whether the tile is now good."""
    store = open_queue(context.settings)
    started = start_repair(context, store, [tile.ref for tile in wrong if tile.ref is not None])
    here = not has_worker(context, store)
    if not quiet:
        for line in _plan(started, here=here):
            click.echo(line, err=True)
    with progress_bars("items", quiet=quiet) as add_bar:
        bar = add_bar("jobs")
        if here:
            work_on_repair(context, store, started, bar)
        else:
            wait_for_repair(store, started, bar)
    again = {
        tile.path: tile
        for run in {tile.ref.hour_ref.run for tile in wrong if tile.ref}
        for tile in tiles_of_run(context, run)
    }
    return {
        tile.path: tile.path in again and CheckedTile(tile.path, None, again[tile.path].check(context.root.path)).good
        for tile in wrong
    }


def _plan(started: Repair, *, here: bool) -> Iterator[str]:
    where = "in this process" if here else "by the workers"
    ways = [
        f"{counted(started.from_spool, 'hour')} from downloaded messages" if started.from_spool else "",
        f"{counted(started.fetched, 'hour')} fetched again" if started.fetched else "",
    ]
    yield f"repairing {counted(len(started.tiles), 'tile')} {where}: {', '.join(filter(None, ways)) or 'nothing to do'}"


def _print(
    checked: Sequence[CheckedTile], wrong: Sequence[CheckedTile], repaired: dict[StoredPath, bool], *, everything: bool
) -> None:
    if everything:
        words = {True: "ok", False: "FAILED", None: "-"}
        for tile in checked:
            click.echo(printable(str(tile.path)))
            rows = [(words[check.good], check.what, _without_path(check.detail, tile)) for check in tile.checks]
            print_table(("", "what", "detail"), rows, wrap="detail")
    else:
        faults = [f"{tile.path}: FAILED: {_first_faults(tile)}{_fate(repaired.get(tile.path))}" for tile in wrong]
        print_lines([line(fault) for fault in faults])
    right = len(checked) - len(wrong)
    count = sum(repaired.values())
    tail = f", {count} of them repaired" if repaired else ""
    click.echo(f"{counted(len(checked), 'tile')}: {right} right, {len(wrong)} wrong{tail}")


def _first_faults(tile: CheckedTile) -> str:
    """The first faults, on one line."""
    faults = [f"{check.what}: {_without_path(check.detail, tile)}" for check in tile.checks if check.good is False]
    more = f" (and {counted(len(faults) - 2, 'more fault')})" if len(faults) > 2 else ""
    return "; ".join(faults[:2]) + more


def _without_path(detail: str, tile: CheckedTile) -> str:
    """The detail without the tile's path, which is already shown before it."""
    return detail.replace(f"{tile.path} ", "it " if detail.startswith(f"{tile.path} ") else "")


def _fate(repaired: bool | None) -> str:
    return {True: " (repaired)", False: " (not repaired)", None: ""}[repaired]
