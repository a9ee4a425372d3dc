"""`gribmill cut`: cut GRIB files into tiles, without the queue."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace as with_changes
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gribmill.available_cores import available_cores
from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json, print_table
from gribmill.cli.progress import progress_bars
from gribmill.errors import GribmillError, printable, sentence
from gribmill.grib.decode.field import read_fields
from gribmill.grib.names.array_name import is_array_name
from gribmill.grib.names.lexicon import lexicon
from gribmill.identity import check_model_id
from gribmill.regions.box import Box
from gribmill.regions.region import load_regions, region_named
from gribmill.regions.tile_options import ENCODINGS, METHODS
from gribmill.settings.schema import Settings
from gribmill.storage.open_root import root_of
from gribmill.tiles.build.build import box_region, build
from gribmill.tiles.build.describe_fields import lexicon_name
from gribmill.views.data.tile import BuiltTileView

if TYPE_CHECKING:
    from gribmill.regions.region import Region
    from gribmill.tiles.build.tile_builder import BuildResult, FieldProgress


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("-r", "--region", "names", multiple=True, help="A region (see `gribmill regions list`); repeatable.")
@click.option(
    "-b",
    "--bbox",
    "boxes",
    multiple=True,
    metavar="W,S,E,N",
    callback=accepted_by(Box.parse),
    help="A box in degrees; repeatable. W > E crosses 180°.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to. [default: the data root]",
)
@click.option("--model", help="The model's name in the tiles. [default: recognised from the GRIB]")
@click.option("--replace", is_flag=True, help="Replace tiles that were cut from another file, model or member.")
@click.option("--vars", "variables", callback=parse_names, help="Only these variables, such as t2m,u10,v10.")
@click.option(
    "--all", "everything", is_flag=True, help="Cut every message, even if its variable is not in the lexicon."
)
@click.option("--resolution", type=float, metavar="DEG", help="Resample to a regular grid with this spacing.")
@click.option("--method", type=click.Choice(METHODS), help="How values are resampled to the regular grid.")
@click.option(
    "--encoding",
    type=click.Choice(ENCODINGS),
    help="fast; compact: smaller but slower; packed: the GRIB's own integers.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 64),
    help="Number of threads; does not affect the tiles. [default: one per core]",
)
@click.option("--json", "as_json", is_flag=True, help="The tiles written, as JSON.")
@click.pass_context
def cut(
    ctx: click.Context,
    files: tuple[Path, ...],
    names: tuple[str, ...],
    boxes: tuple[str, ...],
    out: Path | None,
    model: str | None,
    replace: bool,
    variables: tuple[str, ...],
    everything: bool,
    resolution: float | None,
    method: str | None,
    encoding: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Cut GRIB files into tiles, without the queue.

    Tiles are written to OUT/tiles/MODEL/RUN/REGION/HOUR.npz. A file with several runs, hours or ensemble members
    gives several tiles (members as MODEL.MEMBER, such as gefs.p01). Cutting a file again gives the same bytes.
    A tile that was cut from another file, model or member is only overwritten with --replace.
    Without --out, tiles go to the data root, where `gribmill prune` and `gribmill run` remove old runs.

    \b
    gribmill cut hrrr.t06z.wrfsfcf01.grib2 --region ne --out tiles-of-today
    gribmill cut *.grib2 --bbox -80,38,-66,48 --bbox 170,-20,-170,-10 --vars t2m,u10,v10
    gribmill cut gfs.f024 --region europe --all
    gribmill cut gfs.f024 --region europe --resolution 0.5 --method cells
    """
    settings: Settings = ctx.obj
    regions = _regions(settings, names, boxes, resolution, method, encoding)
    if model is not None:
        check_model_id(model)
    _check_known(variables, everything)
    cores = threads or available_cores()
    cut_one = partial(build, model=model, variables=variables, everything=everything, written=set(), threads=cores)
    cut_one = partial(cut_one, split_members=True, replace=replace)
    target = out or root_of(settings).tile_root
    outcomes, errors = _cut_each(
        files, lambda path, progress: cut_one(path, regions, target, progress=progress), variables, quiet=as_json
    )
    tiles = [BuiltTileView.of(built) for outcome in outcomes for built in outcome.tiles]
    if as_json:
        print_json(tiles)
    elif tiles:
        _print_tiles(tiles)
        if out is None:
            days = f"{settings.chain.keep_days:g} days"
            click.echo(f"written to the data root, where runs are removed after {days}; --out keeps them", err=True)
    if not tiles and not errors:
        click.echo("no tile was written; see the messages above", err=True)
    ctx.exit(1 if errors or not tiles else 0)


def _cut_each(
    files: Sequence[Path], cut_one: Callable[[Path, FieldProgress], BuildResult], wanted: Sequence[str], *, quiet: bool
) -> tuple[list[BuildResult], int]:
    """The outcome of each file, and the number of errors; an error in one file does not stop the others."""
    outcomes, errors = [], 0
    with progress_bars("items", quiet=quiet) as add_bar:
        for number, path in enumerate(files, 1):
            label = path.name if len(files) == 1 else f"{number}/{len(files)} {path.name}"
            try:
                outcome = cut_one(path, add_bar(label[-60:]))
            except GribmillError as error:
                errors += 1
                _say(f"error: {sentence(str(error))}")
                continue
            outcomes.append(outcome)
            errors += len(outcome.failed)
            for note in _notes(path, outcome, wanted):
                _say(note)
    return outcomes, errors


def _say(text: str) -> None:
    """Print a line on stderr, above the progress bar if there is one; click.echo would corrupt the bar."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def _print_tiles(tiles: list[BuiltTileView]) -> None:
    columns = ("model", "run", "hour", "region", "vars", "bytes", "tile")
    rows = [
        (tile.model, tile.run, tile.hour, tile.region, len(tile.variables), tile.bytes, tile.path) for tile in tiles
    ]
    print_table(
        columns, rows, right=("hour", "vars", "bytes"), drop=("vars", "bytes", "model", "run", "hour", "region")
    )


def _regions(
    settings: Settings,
    names: tuple[str, ...],
    boxes: tuple[str, ...],
    resolution: float | None,
    method: Any,
    encoding: Any,
) -> list[Region]:
    if not names and not boxes:
        raise click.UsageError("give at least one --region or --bbox; `gribmill regions list` lists the regions")
    if method and resolution is None:
        raise click.UsageError("--method needs --resolution; without it the model's own grid is kept")
    known = load_regions(settings.regions)
    chosen = [region_named(known, name) for name in names] + [box_region(Box.parse(text)) for text in boxes]
    changes: dict[str, Any] = {}
    if resolution is not None:
        changes |= {"resolution": resolution, "method": method or "nearest"}
    if encoding is not None:
        changes["encoding"] = encoding
    return [with_changes(region, **changes) for region in dict.fromkeys(chosen)]


def _check_known(names: Sequence[str], everything: bool) -> None:
    """Refuse a misspelt name, which would otherwise be reported as absent from the file."""

    for name in names:
        if everything or is_array_name(name) or lexicon().get(name) or lexicon().get(name.split("_")[0]):
            continue
        near = difflib.get_close_matches(name, lexicon().rows, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "`gribmill grib ls` lists the fields of a file"
        raise click.UsageError(f"there is no variable {name} in the lexicon; {hint}")


def _notes(path: Path, outcome: BuildResult, wanted: Sequence[str]) -> Iterator[str]:
    for name in outcome.unrecognised:
        yield f"{path.name}: the model is not recognised, so the tiles are named {name}; use --model to name it"
    for words in dict.fromkeys(note for built in outcome.tiles for note in built.meta.notes):
        yield f"{path.name}: {words}"
    for failure in outcome.failed:
        yield sentence(f"error: {path.name}: region {failure.region}: {failure.error}")
    if outcome.outside:
        yield f"{path.name}: no point of its grid is inside {', '.join(outcome.outside)}"
    for hour, absent in sorted(
        {(built.minutes / 60, built.meta.absent) for built in outcome.tiles if built.meta.absent}
    ):
        yield f"{path.name}: not in the file at +{hour:g} h: {', '.join(absent)}"
    for note in outcome.skipped:
        yield f"{path.name}: {note.name} (message {note.message}) is skipped: {note.reason}"
    if outcome.empty and not outcome.skipped:
        yield f"{path.name}: none of the requested variables has a point in {', '.join(outcome.empty)}"
    elif not outcome.tiles and not outcome.failed and not outcome.outside and not outcome.skipped:
        yield f"{path.name}: {_why_nothing(path, wanted)}"


def _why_nothing(path: Path, wanted: Sequence[str]) -> str:
    has = sorted({name for item in read_fields(path) if (name := lexicon_name(item))})
    if not wanted or not has:
        return "none of its messages is in the lexicon; use --all to cut them"
    return f"does not contain {', '.join(wanted)}; it contains {', '.join(has)}"
