"""`gribmill regions show`."""

from __future__ import annotations

import click
import numpy as np
import numpy.typing as npt

from gribmill.cli.data.regions.region_map import region_map
from gribmill.cli.output import console, print_json, print_table
from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.grids.spec import NamedGrid, named_grids
from gribmill.regions.region import Region, load_regions, region_named
from gribmill.regions.window import Window, window
from gribmill.settings.schema import Settings
from gribmill.views.data.region import BoxWindowsView, RegionWindowsView

MAX_MAP_COLUMNS = 76


@click.command()
@click.argument("name", required=False)
@click.option("--bbox", metavar="W,S,E,N", help="A box instead of a region.")
@click.option("--grid", "grid_name", metavar="GRID", help="Only this grid; its window is drawn on the map.")
@click.option("--no-map", is_flag=True, help="Do not draw the map.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, without the map.")
@click.pass_obj
def show(
    settings: Settings, name: str | None, bbox: str | None, grid_name: str | None, no_map: bool, as_json: bool
) -> None:
    """Show a region on a map, and its window on each model's grid: rows, columns, share of the grid.

    The window is the smallest rectangle of the grid that contains every grid point inside the box.
    On a grid that is not regular in latitude and longitude it also contains points outside the box.
    """
    if (name is None) == (bbox is None):
        raise click.UsageError("name a region, or give --bbox W,S,E,N")
    if bbox is not None:
        region = Region("box", _parse_box(bbox), "A box")
    else:
        region = region_named(load_regions(settings.regions), str(name))
    cuts = [(named, window(named.grid, region.box)) for named in _grids(grid_name)]
    if as_json:
        if bbox is not None:
            print_json(BoxWindowsView.of(region.box, cuts))
        else:
            print_json(RegionWindowsView.with_windows(region, cuts, own=region.name in settings.regions))
        return
    _print_region(region)
    if not no_map:
        _print_map(region.box, cuts[0] if grid_name else None)
    _print_windows(cuts, keep_empty=grid_name is not None)


def _parse_box(text: str) -> Box:
    try:
        return Box.parse(text)
    except RegionError as error:
        raise click.BadParameter(str(error), param_hint="--bbox") from None


def _grids(name: str | None) -> list[NamedGrid]:
    found = [grid for grid in named_grids() if name in (None, grid.name)]
    if not found:
        known = ", ".join(grid.name for grid in named_grids())
        raise click.BadParameter(f"{name!r} is not one of {known}", param_hint="--grid")
    return found


def _print_region(region: Region) -> None:
    box = region.box
    click.echo(f"{region.name}: {region.title}")
    click.echo(f"west {box.west:g}, south {box.south:g}, east {box.east:g}, north {box.north:g}", nl=False)
    click.echo(" (across the dateline)" if box.crosses_dateline else "")
    if region.resolution is not None:
        click.echo(f"tiles on a regular grid of {region.resolution:g}°, resampled by {region.method or 'nearest'}")
    click.echo()


def _print_map(box: Box, drawn: tuple[NamedGrid, Window | None] | None) -> None:
    out = console()
    outline = None
    if drawn is not None and drawn[1] is not None:
        outline = _outline(drawn[0], drawn[1])
    plain = not out.encoding.lower().startswith("utf")
    for line in region_map(box, min(MAX_MAP_COLUMNS, out.width), outline, plain=plain):
        out.print(line)
    click.echo()


def _outline(named: NamedGrid, found: Window) -> npt.NDArray[np.float64]:
    """Longitudes and latitudes along the window's border."""
    lat, lon = found.latlon(named.grid)
    places = np.stack([lon, lat], axis=-1)
    return np.concatenate([places[0], places[:, -1], places[-1, ::-1], places[::-1, 0]])


def _print_windows(cuts: list[tuple[NamedGrid, Window | None]], *, keep_empty: bool) -> None:
    rows = []
    for named, found in cuts:
        ny, nx = named.grid.shape
        if found is not None:
            size = f"{found.shape[0]} × {found.shape[1]}"
            rows.append([named.name, size, f"{found.points:,}", _share(found.points / (ny * nx)), named.title])
        elif keep_empty:
            rows.append([named.name, "none", "0", "", named.title])
    if not rows:
        click.echo("no known grid has a point inside this box")
        return
    numbers = ["rows × columns", "points", "share"]
    print_table(["grid", *numbers, "model"], rows, right=numbers, cut="model")


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0005 else "< 0.1%"
