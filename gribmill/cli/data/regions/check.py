"""`gribmill regions check`."""

from __future__ import annotations

import click

from gribmill.cli.check_chain import check_chain_regions
from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.errors import GribmillError
from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.grids.spec import NamedGrid, named_grids
from gribmill.regions.region import Region, built_in_regions, user_region
from gribmill.regions.window import window
from gribmill.settings.schema import RegionSettings, Settings
from gribmill.views.data.region import RegionCheckView


@click.command()
@AS_JSON
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check your own regions, and report what is wrong with each.

    Exit code 1 if any is invalid, or if [chain] names a region that does not exist.
    """
    settings: Settings = ctx.obj
    views = [_check(name, values) for name, values in settings.regions.items()]
    if as_json:
        print_json(views)
    elif not views:
        click.echo("no regions of your own; [regions.NAME] in gribmill.toml adds one", err=True)
    else:
        rows = [["ok" if one.ok else "INVALID", one.name, one.says] for one in views]
        print_table(["", "region", "remarks"], rows, wrap="remarks")
    if not all(one.ok for one in views):
        ctx.exit(1)
    check_chain_regions(settings)


def _check(name: str, values: RegionSettings) -> RegionCheckView:
    try:
        region = user_region(name, values)
    except GribmillError as error:
        return RegionCheckView.of(name, None, str(error))
    return RegionCheckView.of(name, region.box, _remarks(region))


def _remarks(region: Region) -> str:
    remarks = [str(region.box)]
    if region.name in built_in_regions():
        remarks.append("replaces the built-in region of that name")
    if region.box.crosses_dateline:
        remarks.append("crosses the dateline")
    reached = [named for named in named_grids() if window(named.grid, region.box)]
    if not reached:
        remarks.append("smaller than a grid cell: no known grid has a point inside")
    elif all(_is_global(named) for named in reached):
        remarks.append("WARNING: reaches only global grids" + _swapped(region.box))
    return "; ".join(remarks)


def _is_global(named: NamedGrid) -> bool:
    """Whether the grid has points near the equator on every side of the globe."""
    return all(window(named.grid, Box(west, -10, west + 20, 10)) for west in (-180, -90, 0, 90))


def _swapped(box: Box) -> str:
    """A hint if a box with latitude and longitude exchanged would reach a regional grid."""
    try:
        other = Box(box.south, box.west, box.north, box.east)
    except RegionError:
        return ""
    if any(window(named.grid, other) for named in named_grids() if not _is_global(named)):
        return f"; box is [west, south, east, north]: was {other} meant?"
    return ""
