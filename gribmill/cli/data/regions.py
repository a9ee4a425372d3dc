"""`gribmill regions`: named places, their boxes, and the windows they cut from each model's grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gribmill.cli.output import console, print_json, print_table
from gribmill.errors import GribmillError
from gribmill.settings.schema import Settings
from gribmill.views.region import BoxWindowsView, RegionCheckView, RegionView, RegionWindowsView

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gribmill.regions.box import Box
    from gribmill.regions.named_grid import NamedGrid
    from gribmill.regions.region import Region
    from gribmill.regions.window import Window

_MOST_MAP_COLUMNS = 76


@click.group()
def regions() -> None:
    """Named places: which there are, what they cut, and whether yours are sound.

    Your own go into gribmill.toml: [regions.NAME] with box = [west, south, east, north], or with
    geojson = "file".
    """


@regions.command(name="list")
@click.option("--at", metavar="LAT,LON", help="Only regions that hold this place.")
@click.option("--json", "as_json", is_flag=True, help="Every region as JSON.")
@click.pass_obj
def list_regions(settings: Settings, at: str | None, as_json: bool) -> None:
    """Every region: built in, and your own."""
    from gribmill.regions.region import load_regions

    found = list(load_regions(settings.regions).values())
    if at is not None:
        lat, lon = _place(at)
        found = [region for region in found if region.box.contains(lat, lon)]
    if as_json:
        print_json([RegionView.of(region, own=region.name in settings.regions) for region in found])
        return
    rows = [
        [region.name, *(f"{edge:g}" for edge in region.box.as_list()), region.title, _origin(region, settings)]
        for region in found
    ]
    print_table(["region", "west", "south", "east", "north", "title", "from"], rows, right=_EDGES)


@regions.command()
@click.argument("name", required=False)
@click.option("--bbox", metavar="W,S,E,N", help="A box instead of a region.")
@click.option("--grid", "grid_name", metavar="GRID", help="Only this model's grid; its window is drawn on the map.")
@click.option("--no-map", is_flag=True, help="The table alone.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, without the map.")
@click.pass_obj
def show(
    settings: Settings, name: str | None, bbox: str | None, grid_name: str | None, no_map: bool, as_json: bool
) -> None:
    """Draw a region and tell its window on each model's grid: rows, columns, share of the grid.

    A window is the smallest rectangle of the grid that holds every grid point inside the box; on
    a grid that is not regular in latitude and longitude it holds some points around it as well.
    """
    from gribmill.regions.region import Region, load_regions, region_named

    if (name is None) == (bbox is None):
        raise click.UsageError("Name a region, or give --bbox W,S,E,N.")
    if bbox is not None:
        region = Region("box", _parse_box(bbox), "A box")
    else:
        region = region_named(load_regions(settings.regions), str(name))
    cuts = [(grid, _window(grid, region.box)) for grid in _grids(grid_name)]
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


@regions.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check your own regions and say what is wrong with each; exit code 1 if any is."""
    from gribmill.regions.region import user_region

    settings: Settings = ctx.obj
    findings = []
    for name, values in settings.regions.items():
        try:
            region = user_region(name, values)
        except GribmillError as error:
            findings.append(RegionCheckView.of(name, None, str(error)))
        else:
            findings.append(RegionCheckView.of(name, region.box, _remark(region)))
    if as_json:
        print_json(findings)
    elif not findings:
        click.echo("no regions of your own; [regions.NAME] in gribmill.toml adds one", err=True)
    else:
        print_table(["", "region", "says"], [["ok" if one.ok else "BAD", one.name, one.says] for one in findings])
    if not all(one.ok for one in findings):
        ctx.exit(1)


_EDGES = ["west", "south", "east", "north"]


def _place(text: str) -> tuple[float, float]:
    try:
        lat, lon = (float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not LAT,LON such as 40.7,-74", param_hint="--at") from None
    if not (-90 <= lat <= 90 and -360 <= lon <= 360):
        raise click.BadParameter(f"{text} is no place: latitude first, then longitude", param_hint="--at")
    return lat, lon


def _parse_box(text: str) -> Box:
    from gribmill.regions.box import Box
    from gribmill.regions.errors import RegionError

    try:
        return Box.parse(text)
    except RegionError as error:
        raise click.BadParameter(str(error), param_hint="--bbox") from None


def _grids(name: str | None) -> list[NamedGrid]:
    from gribmill.regions.named_grid import named_grids

    found = [grid for grid in named_grids() if name in (None, grid.name)]
    if not found:
        known = ", ".join(grid.name for grid in named_grids())
        raise click.BadParameter(f"{name!r} is not one of {known}", param_hint="--grid")
    return found


def _window(named: NamedGrid, box: Box) -> Window | None:
    from gribmill.regions.window import window

    return window(named.grid, box)


def _origin(region: Region, settings: Settings) -> str:
    return "yours" if region.name in settings.regions else "built in"


def _remark(region: Region) -> str:
    from gribmill.regions.named_grid import named_grids
    from gribmill.regions.region import built_in_regions

    remarks = [str(region.box)]
    if region.name in built_in_regions():
        remarks.append("replaces the built-in region of that name")
    if region.box.crosses_dateline:
        remarks.append("crosses the dateline")
    if not any(_window(named, region.box) for named in named_grids()):
        remarks.append("smaller than a cell: no known grid has a point inside")
    return "; ".join(remarks)


def _print_region(region: Region) -> None:
    box = region.box
    click.echo(f"{region.name}: {region.title}")
    click.echo(f"west {box.west:g}, south {box.south:g}, east {box.east:g}, north {box.north:g}", nl=False)
    click.echo(" (across the dateline)" if box.crosses_dateline else "")
    if region.resolution is not None:
        click.echo(f"tiles on a regular grid of {region.resolution:g}°, by {region.method or 'nearest'}")
    click.echo()


def _print_map(box: Box, drawn: tuple[NamedGrid, Window | None] | None) -> None:
    from gribmill.cli.data.region_map import region_map

    out = console()
    outline = None
    if drawn is not None and drawn[1] is not None:
        outline = _outline(drawn[0], drawn[1])
    plain = not out.encoding.lower().startswith("utf")
    for line in region_map(box, min(_MOST_MAP_COLUMNS, out.width), outline, plain=plain):
        out.print(line)
    click.echo()


def _outline(named: NamedGrid, found: Window) -> npt.NDArray[np.float64]:
    """Longitudes and latitudes along the window's border."""
    import numpy as np

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
    print_table(["grid", *numbers, "model"], rows, right=numbers)


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0005 else "< 0.1%"
