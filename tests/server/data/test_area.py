"""Which grid points an area has."""

from __future__ import annotations

from pathlib import Path

from gribmill.regions.box import Box
from gribmill.regions.grids import LatLonGrid
from gribmill.regions.region import Region
from gribmill.settings.schema import Settings
from tests.server.live_server import serving
from tests.tiles.make_tile import EARTH, make_tile

TENTHS = LatLonGrid.spanning(nx=3600, ny=1801, south=-90, north=90, west=0, east=359.9, earth=EARTH)


def test_box_includes_the_points_on_its_edges(tmp_path: Path) -> None:
    # The longitudes of this grid are not the decimals of the box to the last bit.
    region = Region("bay", Box(-72.1, 41.3, -70.3, 42.7))
    make_tile(tmp_path, {"t2m": (280.0, {})}, grid=TENTHS, region=region)
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        whole, box = (
            client.get("/api/v1/area", params={"vars": "t2m", "run": "newest", **query}).json()["points"]
            for query in ({"region": "bay"}, {"bbox": "-72.1,41.3,-70.3,42.7"})
        )
    assert (whole, box) == (19 * 15, 19 * 15)
