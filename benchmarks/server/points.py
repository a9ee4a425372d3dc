"""Requests for points, one place at a time and many at once, of gribmill and of FastAPI with xarray."""

from __future__ import annotations

import json
import random
import urllib.request
from collections.abc import Iterator
from typing import Any

from benchmarks.server.contender import Contender
from benchmarks.server.row import Row
from benchmarks.store.stock import LAT, LON
from gribmill.tiles.read.tile import Tile

# Places that are asked for one at a time; places in one request, and how many such requests differ.
PLACES, TOGETHER, REQUESTS = 400, 100, 20
TITLES = {
    "zarr": "FastAPI + xarray over zarr, appended hour by hour",
    "hourly": "FastAPI + xarray over a NetCDF file for each hour",
    "netcdf": "FastAPI + xarray over one NetCDF file, written when the run is complete",
}
NAMES = "t2m,d2m,u10,v10,gust,sp,tp,refc,vis,cape,tcc,csnow"
# The same from the same ten arrays: gribmill's wind is speed and direction, and it adds the relative humidity.
ARRAYS = "t2m,d2m,u10,v10,gust,sp,tp,vis,cape,tcc"
FORECAST = (
    "temperature_2m,dew_point_2m,relative_humidity_2m,wind_speed_10m,wind_direction_10m,wind_gusts_10m,surface_pressure,"
    "precipitation,visibility,cape,cloud_cover"
)
SPAN = "start_hour=2026-09-01T13:00&end_hour=2026-09-03T13:00"
KELVIN, TENTH = 273.15, 0.051


def same_values(contenders: dict[str, Contender], tile: Tile) -> None:
    """Checks that all of them return the same values before anything is measured."""
    row, column = (round(float(one)) for one in tile.locate(LAT, LON))
    ours = _get(contenders["gribmill"], f"/api/v1/point?lat={LAT}&lon={LON}&vars=t2m&units=si")
    expected = [hour["t2m"] for hour in ours["hours"]]
    for key in TITLES:
        theirs = _get(contenders[key], f"/point?row={row}&column={column}")["hourly"]["t2m"]
        if any(abs(one - other) > 1e-4 for one, other in zip(expected, theirs, strict=True)):
            raise SystemExit(f"{key} returns other values: {theirs[:3]} instead of {expected[:3]}")

    ours, theirs = next(_together(tile))
    degrees = [[*place["hourly"]["temperature_2m"]] for place in _get(contenders["gribmill"], ours)]
    for key in TITLES:
        kelvin = _get(contenders[key], theirs)["hourly"]["t2m"]
        for here, there in zip(degrees, kelvin, strict=True):
            if any(abs(one + KELVIN - other) > TENTH for one, other in zip(here, there, strict=True)):
                raise SystemExit(f"{key} returns other values: {there[:3]} K instead of {here[:3]} °C")


def points(contenders: dict[str, Contender], tile: Tile) -> list[Row]:
    """The same places for all; the peers get their rows and columns."""
    choose = random.Random(5)
    places = [(choose.randrange(tile.shape[0]), choose.randrange(tile.shape[1])) for _ in range(PLACES)]
    lat, lon = tile.latlon()
    ours = [f"/api/v1/point?lat={lat[at]:.4f}&lon={lon[at]:.4f}&vars={NAMES}" for at in places]
    theirs = [f"/point?row={row}&column={column}" for row, column in places]
    return [
        Row("**gribmill**, one place", contenders["gribmill"], ours[:1]),
        Row(f"**gribmill**, {PLACES} places", contenders["gribmill"], ours),
        Row(TITLES["netcdf"], contenders["netcdf"], theirs),
        # A response takes long: with more connections, none would complete in a round.
        Row(TITLES["hourly"], contenders["hourly"], theirs, 2, 8.0),
        Row(TITLES["zarr"], contenders["zarr"], theirs, 2, 8.0),
    ]


def places_together(contenders: dict[str, Contender], tile: Tile) -> list[Row]:
    """Many places in one request, the same for all."""
    ours, theirs = zip(*_together(tile), strict=True)
    binary = [f"{path}&format=flatbuffers" for path in ours]
    return [
        Row("**gribmill**, JSON", contenders["gribmill"], [*ours]),
        Row("**gribmill**, FlatBuffers", contenders["gribmill"], binary),
        *(Row(TITLES[key], contenders[key], [*theirs], 2, 8.0) for key in ("netcdf", "hourly", "zarr")),
    ]


def _together(tile: Tile) -> Iterator[tuple[str, str]]:
    """The paths of each request: gribmill's, and that of its peers."""
    choose = random.Random(6)
    lat, lon = tile.latlon()
    for _ in range(REQUESTS):
        at = [(choose.randrange(tile.shape[0]), choose.randrange(tile.shape[1])) for _ in range(TOGETHER)]
        lats, lons = (",".join(f"{axis[one]:.4f}" for one in at) for axis in (lat, lon))
        rows, columns = (",".join(str(one[axis]) for one in at) for axis in (0, 1))
        ours = f"/v1/forecast?latitude={lats}&longitude={lons}&hourly={FORECAST}&{SPAN}"
        yield ours, f"/points?rows={rows}&columns={columns}&names={ARRAYS}"


def _get(contender: Contender, path: str) -> Any:
    with urllib.request.urlopen(contender.url + path, timeout=60) as answer:
        return json.load(answer)
