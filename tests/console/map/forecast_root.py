"""A data root with tiles of several models, for tests of the map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gribmill.regions.box import Box
from gribmill.regions.grids import Earth, LambertGrid, LatLonGrid
from gribmill.regions.region import Region
from tests.make_grib import smooth_values
from tests.tiles.make_tile import make_tile

EARTH = Earth(6371229.0, 6371229.0)
COARSE_HRRR = LambertGrid.at_corner(
    21.138123, 237.280472, nx=90, ny=53, dx=60e3, dy=60e3, lov=262.5, latin1=38.5, latin2=38.5, lad=38.5, earth=EARTH
)
COARSE_GFS = LatLonGrid.spanning(nx=180, ny=91, south=-90, north=90, west=0, east=358, earth=EARTH)
EAST = Region("east", Box(-100.0, 28.0, -70.0, 48.0), "The East <b>&</b> more")
WORLD = Region("world", Box(-180.0, -90.0, 180.0, 90.0), "The world")
RUN = "20261118_06"
HOURS = (0, 1, 2, 3)
MEMBERS = ("gefs.c00", "gefs.p01", "gefs.p02", "gefs.p03")
HOSTILE = "<img src=x onerror=alert(1)>"
WIND = {"units": "m s-1", "level": "10 m above ground", "winds": "earth"}


def fields_of(shape: tuple[int, int], seed: int, hour: int) -> Any:
    """Temperature with missing points, wind, pressure, rain, a code, and a name that tries to be markup."""
    since = {"statistic": "accum", "step_minutes": (0, 60 * hour)}
    seed += hour
    t2m = smooth_values(shape, seed=seed).astype(np.float32)
    t2m[::7, ::5] = np.nan
    rain = hour * np.maximum(0, smooth_values(shape, seed=9, mean=2, span=3)).astype(np.float32)
    rain[::11, ::3] = np.nan
    codes = np.indices(shape).sum(axis=0) % 4
    flags = {"flag_values": (0, 1, 2, 3), "flag_meanings": ("no precipitation", "rain", "snow", "freezing rain")}
    return {
        "t2m": (t2m, {}),
        "u10": (smooth_values(shape, seed=seed + 2, mean=5, span=12), {**WIND, "long_name": "Eastward wind"}),
        "v10": (smooth_values(shape, seed=seed + 3, mean=-2, span=12), {**WIND, "long_name": "Northward wind"}),
        "mslp": (
            smooth_values(shape, seed=seed + 4, mean=101300, span=3000),
            {"units": "Pa", "level": "mean sea level", "long_name": "Pressure"},
        ),
        "tp": (rain, {"units": "kg m-2", "level": "surface", "long_name": "Precipitation", **since}),
        "ptype": (codes, {"units": "1", "level": "surface", "long_name": "Precipitation type", **flags}),
        "hostile": (1.0, {"units": HOSTILE, "long_name": HOSTILE, "level": "surface"}),
    }


def make_forecasts(root: Path) -> None:
    """HRRR over one region, GFS over two, and four members of an ensemble."""
    for hour in HOURS:
        hrrr, gfs = fields_of(COARSE_HRRR.shape, 0, hour), fields_of(COARSE_GFS.shape, 50, hour)
        make_tile(root, hrrr, grid=COARSE_HRRR, region=EAST, model="hrrr", run=RUN, minutes=60 * hour)
        for region in (EAST, WORLD):
            make_tile(root, gfs, grid=COARSE_GFS, region=region, model="gfs", run=RUN, minutes=60 * hour)
        for number, member in enumerate(MEMBERS):
            fields: Any = {"t2m": (smooth_values(COARSE_GFS.shape, seed=hour + number), {})}
            make_tile(root, fields, grid=COARSE_GFS, region=EAST, model=member, run=RUN, minutes=60 * hour)
