"""Tiles made straight from arrays, for tests of everything that reads tiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gribmill.regions.box import Box
from gribmill.regions.grids import Earth, Grid, LambertGrid, LatLonGrid
from gribmill.regions.region import Region
from gribmill.storage.layout import TileFolder
from gribmill.tiles.build.region_cut import region_cut
from gribmill.tiles.build.tile_writer import TileWriter
from gribmill.tiles.format.meta import SourceFile, VariableMeta, VariableText
from tests.local_path import local

EARTH = Earth(6371229.0, 6371229.0)
HRRR = LambertGrid.at_corner(
    21.138123,
    237.280472,
    nx=1799,
    ny=1059,
    dx=3000.0,
    dy=3000.0,
    lov=262.5,
    latin1=38.5,
    latin2=38.5,
    lad=38.5,
    earth=EARTH,
)
GFS = LatLonGrid.spanning(nx=360, ny=181, south=-90, north=90, west=0, east=359, earth=EARTH)
BOSTON = Region("boston", Box(-72.0, 41.8, -70.4, 43.0), "Boston")
Fields = dict[str, tuple[np.ndarray | float, dict[str, Any]]]
SOURCE = SourceFile(name="made.grib2", bytes=4, sha256="0" * 64)


def quantity(**changes: Any) -> dict[str, Any]:
    """The facts of a variable."""
    return {
        "units": "K",
        "long_name": "2 m temperature",
        "standard_name": "air_temperature",
        "level": "2 m above ground",
        "statistic": "instant",
        "step_minutes": (60, 60),
        "message": 1,
        "field": 1,
        "offset": 0,
        "length": 100,
        "packing": {"name": "simple", "bits": 12, "step": 0.1},
        "winds": None,
        "method": None,
        **changes,
    }


def make_tile(
    root: Path,
    fields: Fields,
    *,
    grid: Grid = HRRR,
    region: Region = BOSTON,
    model: str = "hrrr",
    run: str = "20230722_06",
    minutes: int = 60,
) -> Path:
    """Write one tile; each field is a whole-grid array (or a number) with changes to `quantity()`."""
    cut = region_cut(grid, region)
    assert cut is not None
    folder = TileFolder(root, model, run, region.name)
    writer = TileWriter(folder, minutes, cut, region.encoding)
    for name, (values, changes) in fields.items():
        whole = np.broadcast_to(np.asarray(values, np.float32), grid.shape)
        facts = quantity(
            step_minutes=(minutes, minutes), **{key: value for key, value in changes.items() if key != "step_minutes"}
        )
        if "step_minutes" in changes:
            facts["step_minutes"] = changes["step_minutes"]
        for suffix, part in cut.cut(np.ascontiguousarray(cut.window.take(whole))).items():
            writer.add(name + suffix, part, VariableText(VariableMeta(**facts)))
    return local(writer.write(SOURCE, frozenset(), None).path)
