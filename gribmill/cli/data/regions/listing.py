"""`gribmill regions list`."""

from __future__ import annotations

import click

from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.regions.region import load_regions
from gribmill.settings.schema import Settings
from gribmill.views.data.region import RegionView

EDGES = ["west", "south", "east", "north"]


@click.command("list")
@click.option("--at", metavar="LAT,LON", help="Only regions that contain this place.")
@AS_JSON
@click.pass_obj
def list_regions(settings: Settings, at: str | None, as_json: bool) -> None:
    """List the regions: built in, and your own."""
    found = list(load_regions(settings.regions).values())
    if at is not None:
        lat, lon = _parse_place(at)
        found = [region for region in found if region.box.contains(lat, lon)]
    views = [RegionView.of(region, own=region.name in settings.regions) for region in found]
    if as_json:
        print_json(views)
        return
    rows = [[view.name, *(f"{edge:g}" for edge in view.box), view.title, view.origin] for view in views]
    print_table(["region", *EDGES, "title", "from"], rows, right=EDGES, cut="title", drop=["from"])


def _parse_place(text: str) -> tuple[float, float]:
    try:
        lat, lon = (float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not LAT,LON such as 40.7,-74", param_hint="--at") from None
    if not (-90 <= lat <= 90 and -360 <= lon <= 360):
        raise click.BadParameter(f"{text} is out of range; give latitude, then longitude", param_hint="--at")
    return lat, lon
