"""Tiles with more points than a picture are thinned while they are read, keeping their extremes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from gribmill.draw import of_tile
from gribmill.draw.map.extremes import extremes
from gribmill.draw.map.plane import plane_of
from gribmill.draw.of_tile import barbs_of, drawable_of
from gribmill.regions.box import Box
from gribmill.regions.grids import Grid, LambertGrid, LatLonGrid
from gribmill.regions.region import Region
from gribmill.tiles.read.tile import Tile, read_tile
from tests.tiles.make_tile import EARTH, make_tile

SIDE = 401  # not a multiple of the block
GLOBE = Region("globe", Box(-180.0, -90.0, 180.0, 90.0), "")
LAMBERT = LambertGrid.at_corner(
    22.0, -115.0, nx=SIDE, ny=SIDE, dx=9e3, dy=9e3, lov=-97.5, latin1=38.5, latin2=38.5, lad=38.5, earth=EARTH
)
DEGREES = LatLonGrid.spanning(nx=SIDE, ny=SIDE, south=20, north=40, west=-100, east=-80, earth=EARTH)


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_tile, "MOST_POINTS", 10_100)  # blocks of 4 x 4
    monkeypatch.setattr(of_tile, "BAND_POINTS", 20_000)


def tile_of(folder: Path, grid: Grid, **facts: object) -> tuple[Tile, np.ndarray]:
    row, column = np.mgrid[0:SIDE, 0:SIDE]
    values = (270 + row / 20 + column / 40).astype(np.float32)
    values[41, 82] = 200.0
    values[300, 301] = 330.0
    values[120:128, 40:44] = np.nan
    return read_tile(make_tile(folder, {"t2m": (values, dict(facts))}, grid=grid, region=GLOBE)), values


@pytest.mark.parametrize("grid", [LAMBERT, DEGREES], ids=["projected", "regular"])
def test_blocks_become_their_means_and_extremes_stay(tmp_path: Path, grid: Grid) -> None:
    tile, values = tile_of(tmp_path, grid)
    field = drawable_of(tile, "t2m", "si")
    assert field.values.shape == (100, 100)
    assert field.values[50, 60] == pytest.approx(values[200:204, 240:244].mean(), abs=1e-4)
    assert np.isnan(field.values[30:32, 10]).all() and np.isnan(field.values).sum() == 2
    low, high = extremes(field.values, plane_of(field)) or (None, None)
    assert low is not None and high is not None
    assert (low.value, high.value) == (200.0, 330.0)
    lat, lon = tile.latlon()
    assert low.lat == pytest.approx(lat[41, 82], abs=0.3)
    assert low.lon == pytest.approx(lon[41, 82], abs=0.3)


@pytest.mark.parametrize("grid", [LAMBERT, DEGREES], ids=["projected", "regular"])
def test_points_are_where_the_middles_of_their_blocks_are(tmp_path: Path, grid: Grid) -> None:
    tile, _ = tile_of(tmp_path, grid)
    plane = plane_of(drawable_of(tile, "t2m"))
    lat, lon = tile.latlon()
    row, column = plane.project(lat[100:104, 200:204].ravel(), lon[100:104, 200:204].ravel())
    assert row.mean() == pytest.approx(25, abs=1e-3)
    assert column.mean() == pytest.approx(50, abs=1e-3)
    back = plane.locate(np.array([25.0]), np.array([50.0]))
    assert back[0][0] == pytest.approx(lat[100:104, 200:204].mean(), abs=1e-3)
    assert back[1][0] == pytest.approx(lon[100:104, 200:204].mean(), abs=1e-3)


def test_codes_are_not_averaged(tmp_path: Path) -> None:
    codes = np.random.default_rng(1).choice(np.array([1, 3, 5], np.float32), (SIDE, SIDE))
    facts = {"flag_values": (1, 3, 5), "flag_meanings": ("rain", "freezing rain", "snow")}
    tile = read_tile(make_tile(tmp_path, {"ptype": (codes, facts)}, grid=LAMBERT, region=GLOBE))
    assert {*np.unique(drawable_of(tile, "ptype").values)} == {1, 3, 5}


def test_wind_and_barbs_have_the_points_of_the_field(tmp_path: Path) -> None:
    calm = np.full((SIDE, SIDE), 3.0, np.float32)
    tile = read_tile(make_tile(tmp_path, {"u10": (calm, {}), "v10": (calm / 3 * 4, {})}, grid=LAMBERT, region=GLOBE))
    assert drawable_of(tile, "ws10", "si").values == pytest.approx(np.full((100, 100), 5.0))
    assert barbs_of(tile).u.shape == barbs_of(tile).v.shape == (100, 100)


def test_memory_does_not_grow_with_the_points_of_the_tile(tmp_path: Path) -> None:
    tile, values = tile_of(tmp_path, LAMBERT)
    drawable_of(tile, "t2m")  # tables that are read once
    tracemalloc.start()
    drawable_of(tile, "t2m")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * values.nbytes, "latitudes and longitudes of all points alone would take four times as much"
