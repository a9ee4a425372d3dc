"""A data root with small forecasts: HRRR on its own grid around Boston, GFS on latitudes and longitudes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gribmill.regions.box import Box
from gribmill.regions.grids import Grid
from gribmill.regions.region import Region
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest
from gribmill.storage.layout import DataRoot
from tests.tiles.make_tile import GFS, HRRR, Fields, make_tile

LAT, LON = 42.36, -71.06
RUN = "20260901_12"
HOURS = 7
BLOCK = 101
NEW_ENGLAND = Region("new_england", Box(-74.0, 40.0, -68.0, 45.0))
WIND = {"units": "m s-1", "standard_name": None, "level": "10 m above ground"}
SUM = {"units": "kg m-2", "long_name": "Precipitation", "standard_name": "precipitation_amount", "statistic": "accum"}


def make_forecasts(root: Path, run: str = RUN, hours: int = HOURS) -> None:
    """Write the tiles of two models, each with one complete region."""
    for hour in range(hours):
        make_tile(root, fields(HRRR, hour), run=run, minutes=60 * hour)
        make_tile(root, fields(GFS, hour), grid=GFS, region=NEW_ENGLAND, model="gfs", run=run, minutes=60 * hour)
    list_forecasts(root, run, hours)


def list_forecasts(root: Path, run: str, hours: int) -> None:
    """Name the run in `latest.json` of both models."""
    for model, region in (("hrrr", "boston"), ("gfs", "new_england")):
        known = KnownRuns({region: LatestRuns(run, run)}, hours={run: hours})
        publish_latest(DataRoot(root), model, lambda known=known: known)  # type: ignore[misc]


def fields(grid: Grid, hour: int) -> Fields:
    """Values that differ from point to point and from hour to hour; at hour 3 some dew points are missing."""
    random = np.random.default_rng(hour)

    def noise(mean: float, spread: float) -> Any:
        # A block, larger than the regions and repeated over the grid: millions of random numbers take a while.
        rows, columns = grid.shape
        block = random.normal(mean, spread, (BLOCK, BLOCK)).astype(np.float32)
        return np.tile(block, (-(-rows // BLOCK), -(-columns // BLOCK)))[:rows, :columns]

    dew = noise(280, 3)
    if hour == 3:
        dew[:] = np.nan
    found: Fields = {
        "t2m": (noise(285, 5), {}),
        "d2m": (dew, {"long_name": "2 m dew point", "standard_name": "dew_point_temperature"}),
        "u10": (noise(2, 4), {**WIND, "long_name": "Eastward wind"}),
        "v10": (noise(-3, 4), {**WIND, "long_name": "Northward wind"}),
        "sp": (noise(100_000, 500), {"units": "Pa", "long_name": "Surface pressure", "level": "surface"}),
        "tcc": (noise(50, 10), {"units": "%", "long_name": "Total cloud cover", "level": "entire atmosphere"}),
    }
    if hour:
        found["tp"] = (np.full(grid.shape, 0.5 * hour * hour, np.float32), {**SUM, "step_minutes": (0, 60 * hour)})
    return found
