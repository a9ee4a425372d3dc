"""Grids of enormous size: refused before anything is allocated, or cut in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.regions.box import Box
from gribmill.regions.grids import MOST_POINTS, LambertGrid, LatLonGrid, RotatedLatLonGrid
from gribmill.regions.region import Region
from gribmill.regions.tile_options import Method
from gribmill.tiles.build.build import build
from gribmill.tiles.build.region_cut import region_cut
from gribmill.tiles.build.regrid import Cells, target_axes
from gribmill.tiles.errors import TileError
from gribmill.tiles.format import tile_grid
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.tile_grid import window_latlon
from gribmill.tiles.read.tile import read_tile
from tests.real_files import REAL_GRIB
from tests.tiles.make_tile import EARTH, make_tile

GLOBE = Box(-180.0, -90.0, 180.0, 90.0)
HUGE = LatLonGrid.spanning(nx=43200, ny=21600, south=-90, north=90, west=-180, east=179.99, earth=EARTH)
BOMB = REAL_GRIB / "adversarial" / "ALLOCATION-BOMB-orog_1km-196B.grib2"


def lambert(side: int) -> LambertGrid:
    """A grid of side × side points over the United States."""
    cell = 4_000_000.0 / side
    return LambertGrid.at_corner(
        22.0, -115.0, nx=side, ny=side, dx=cell, dy=cell, lov=-97.5, latin1=38.5, latin2=38.5, lad=38.5, earth=EARTH
    )


def peak_bytes(work: Callable[[], Any]) -> int:
    """The peak memory of the call, including NumPy's arrays."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", ["nearest", "bilinear", "cells", None])
def test_grid_beyond_the_limit_is_refused_before_allocation(method: Method | None) -> None:
    region = Region("globe", GLOBE, "", 1.0 if method else None, method)

    def cut() -> None:
        with pytest.raises(TileError, match=f"= 933120000 points is more than the limit of {MOST_POINTS}"):
            region_cut(HUGE, region)

    assert peak_bytes(cut) < 1_000_000


@pytest.mark.skipif(not BOMB.exists(), reason="the collection of real files is not there")
def test_a_file_that_claims_an_enormous_grid_fails_with_a_sentence(tmp_path: Path) -> None:
    result = build(BOMB, [Region("globe", GLOBE, "", 1.0, "cells")], tmp_path, model="orog", everything=True)
    assert [str(failed.error) for failed in result.failed] == [
        f"a grid of 21600 × 43200 = 933120000 points is more than the limit of {MOST_POINTS}"
    ]
    assert result.outside == () and result.tiles == ()


def test_a_rotated_grid_round_the_globe_is_not_searched_beyond_the_limit() -> None:
    grid = RotatedLatLonGrid(
        nx=200_000,
        ny=100_000,
        west=0.0,
        south=-89.99,
        dlon=0.0018,
        dlat=0.0017,
        pole_lat=40.0,
        pole_lon=10.0,
        earth=EARTH,
    )
    with pytest.raises(TileError, match="more than the limit"):
        region_cut(grid, Region("box", Box(0.0, 40.0, 10.0, 50.0)))


@pytest.mark.slow
def test_cells_of_a_large_grid_take_a_small_multiple_of_its_field() -> None:
    grid, box = lambert(3000), Box(-110.0, 25.0, -80.0, 50.0)
    assert peak_bytes(lambda: Cells.of(grid, target_axes(box, 0.25), 0.25)) < 4 * 9_000_000 * 5


@pytest.mark.slow
def test_places_of_a_large_grid_take_no_more_than_their_arrays() -> None:
    cut = region_cut(lambert(2000), Region("all", Box(-140.0, 10.0, -50.0, 70.0)))
    assert cut is not None
    points = cut.record.shape[0] * cut.record.shape[1]
    assert peak_bytes(lambda: window_latlon(cut.record, "a tile")) < 16 * points * 1.9


def test_bands_of_cells_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    from gribmill.tiles.build import cell_points

    grid, axes = lambert(300), target_axes(Box(-110.0, 25.0, -80.0, 50.0), 0.5)
    whole = Cells.of(grid, axes, 0.5)
    field = np.random.default_rng(5).normal(280, 9, whole.window.shape).astype("f4")
    field[field > 295] = np.nan
    expected, codes = whole.apply(field), whole.most_frequent(np.rint(field))
    monkeypatch.setattr(cell_points, "BAND_POINTS", 1000)
    monkeypatch.setattr(cell_points, "BLOCK_POINTS", 700)
    parts = Cells.of(grid, axes, 0.5)
    assert (parts.points == whole.points).all() and (parts.starts == whole.starts).all()
    assert {key: array.tobytes() for key, array in parts.apply(field).items()} == {
        key: array.tobytes() for key, array in expected.items()
    }
    assert parts.most_frequent(np.rint(field)).tobytes() == codes.tobytes()


def test_places_of_very_many_points_are_not_stored_but_still_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = read_tile(make_tile(tmp_path / "a", {"t2m": (280.0, {})}))
    monkeypatch.setattr(tile_grid, "MOST_STORED", 100)
    bare = read_tile(make_tile(tmp_path / "b", {"t2m": (280.0, {})}))
    assert set(Archive(bare.path.parent / "grid.npz").entries) == {"meta", "y", "x"}
    for one, other in zip(stored.latlon(), bare.latlon(), strict=True):
        np.testing.assert_array_equal(one, other)
