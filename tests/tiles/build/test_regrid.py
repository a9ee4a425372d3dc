"""Regridding to a regular grid, compared with plain loops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from gribmill.grib.decode.field import read_fields
from gribmill.regions.box import Box
from gribmill.regions.grids import Grid, LambertGrid, LatLonGrid
from gribmill.regions.region import Region
from gribmill.regions.tile_options import Method
from gribmill.tiles.build.build import build
from gribmill.tiles.build.regrid import Bilinear, Cells, Nearest, Points, Regridder, regridder, target_axes
from gribmill.tiles.errors import TileError
from tests.grib.decode.whole_winds import earth_relative
from tests.local_path import local
from tests.make_grib import make_message, write
from tests.tiles.make_tile import EARTH

GLOBE = LatLonGrid.spanning(nx=72, ny=37, south=-90, north=90, west=0, east=355, earth=EARTH)
LAMBERT = LambertGrid.at_corner(
    30.0, -100.0, nx=60, ny=50, dx=20000.0, dy=20000.0, lov=-95.0, latin1=38.5, latin2=38.5, lad=38.5, earth=EARTH
)
GRIDS: dict[str, Grid] = {"globe": GLOBE, "lambert": LAMBERT}
# The globe is cut across its own seam, between its last column (355°E) and its first (0°).
BOXES = {"globe": Box(-25.0, -35.0, 30.0, 40.0), "lambert": Box(-99.0, 31.0, -88.0, 40.0)}


NEW_YORK = Box(-75.0, 40.5, -72.0, 42.0)


def noise(shape: tuple[int, int], missing: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(5)
    values = rng.normal(280, 10, shape).astype("f4")
    values[rng.random(shape) < missing] = np.nan
    return values


def apply(made: Regridder, values: np.ndarray) -> dict[str, np.ndarray]:
    """Apply a regridder to its window of a field."""
    return made.apply(np.ascontiguousarray(made.window.take(values)))


def test_neighbouring_regions_share_their_points() -> None:
    west, east = target_axes(Box(-10.03, 40, 0, 50), 0.1), target_axes(Box(0, 40, 10, 50), 0.1)
    assert west.lon[-1] == east.lon[0] == 0.0
    assert west.lon[0] == -10.0
    np.testing.assert_array_equal(west.lat, np.round(np.arange(400, 501) * 0.1, 10))


def test_a_box_round_the_globe_has_each_meridian_once() -> None:
    axes = target_axes(Box(-180, -90, 180, 90), 1.0)
    assert axes.shape == (181, 360)


def test_a_resolution_that_leaves_no_point_is_refused() -> None:
    with pytest.raises(TileError, match="no multiple of 30"):
        target_axes(Box(1, 1, 2, 2), 30.0)


def test_a_resolution_that_gives_billions_of_points_is_refused() -> None:
    with pytest.raises(TileError, match="too many"):
        target_axes(Box(-180, -90, 180, 90), 0.001)


@pytest.mark.parametrize("name", GRIDS)
def test_nearest_takes_the_nearest_point_of_all(name: str) -> None:
    grid, box = GRIDS[name], BOXES[name]
    values, axes = noise(grid.shape), target_axes(box, 1.7)
    found = apply(regridder(grid, box, 1.7, "nearest"), values)[""]
    j, i = np.mgrid[: grid.shape[0], : grid.shape[1]]
    for row, y in enumerate(axes.lat):
        for column, x in enumerate(axes.lon):
            a, b = grid.index(y, x)
            inside = -0.5 <= a <= grid.shape[0] - 0.5 and (grid.wraps or -0.5 <= b <= grid.shape[1] - 0.5)
            if not inside:
                assert np.isnan(found[row, column])
                continue
            # Nearest on the grid's own plane: on a sphere cells may differ only where two points tie.
            away = (j - a) ** 2 + np.minimum(
                np.abs(i - b), grid.shape[1] - np.abs(i - b) if grid.wraps else np.inf
            ) ** 2
            nearest = values[np.isclose(away, away.min())]
            assert any(
                found[row, column] == value or (np.isnan(value) and np.isnan(found[row, column])) for value in nearest
            )


@pytest.mark.parametrize("name", GRIDS)
def test_bilinear_reproduces_a_plane_and_its_seam(name: str) -> None:
    grid, box = GRIDS[name], BOXES[name]
    j, i = np.mgrid[: grid.shape[0], : grid.shape[1]].astype(float)
    turn = np.cos(2 * np.pi * i / grid.shape[1]) if grid.wraps else 3 * i
    found = apply(regridder(grid, box, 0.5, "bilinear"), (2 * j + turn).astype("f4"))[""]
    axes = target_axes(box, 0.5)
    a, b = grid.index(axes.lat[:, None], axes.lon[None, :])
    if grid.wraps:
        low, share = np.floor(b), b - np.floor(b)
        columns = grid.shape[1]
        wave = (1 - share) * np.cos(2 * np.pi * low / columns) + share * np.cos(2 * np.pi * (low + 1) / columns)
        expected = 2 * a + wave
    else:
        outside = (a < -0.5) | (a > grid.shape[0] - 0.5) | (b < -0.5) | (b > grid.shape[1] - 0.5)
        clipped = 2 * np.clip(a, 0, grid.shape[0] - 1) + 3 * np.clip(b, 0, grid.shape[1] - 1)
        expected = np.where(outside, np.nan, clipped)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_bilinear_leaves_missing_points_to_the_others_but_not_when_most_are_missing() -> None:
    values = np.full(GLOBE.shape, 10.0, "f4")
    values[18, 0] = np.nan  # 0°N 0°E
    near, far = Box(1.0, 1.0, 1.5, 1.5), Box(3.0, 3.0, 3.5, 3.5)
    assert np.isnan(apply(regridder(GLOBE, near, 1.0, "bilinear"), values)[""][0, 0])
    assert apply(regridder(GLOBE, far, 3.0, "bilinear"), values)[""][0, 0] == 10.0


def test_a_missing_neighbour_without_weight_does_no_harm() -> None:
    values = np.full(GLOBE.shape, 10.0, "f4")
    values[19, :] = np.nan
    found = apply(regridder(GLOBE, Box(-1, -1, 11, 1), 5.0, "bilinear"), values)[""]
    np.testing.assert_array_equal(found, [[10.0, 10.0, 10.0]])


@pytest.mark.parametrize("name", GRIDS)
def test_cells_are_the_mean_minimum_and_maximum_of_their_points(name: str) -> None:
    grid, box, size = GRIDS[name], BOXES[name], {"globe": 12.0, "lambert": 0.7}[name]
    values, axes = noise(grid.shape), target_axes(box, size)
    found = apply(regridder(grid, box, size, "cells"), values)
    j, i = np.mgrid[: grid.shape[0], : grid.shape[1]]
    lat, lon = grid.latlon(j, i)
    checked = 0
    for row, y in enumerate(axes.lat):
        for column, x in enumerate(axes.lon):
            east = (lon - x + 180.0) % 360.0 - 180.0
            edge = 1e-9
            inside = (
                (lat >= y - size / 2 - edge)
                & (lat < y + size / 2 - edge)
                & (east >= -size / 2 - edge)
                & (east < size / 2 - edge)
            )
            if not inside.any():
                continue
            members = values[inside]
            members = members[~np.isnan(members)]
            for suffix, reduce in (("", np.mean), ("_min", np.min), ("_max", np.max)):
                expected = reduce(members.astype("f8")) if members.size else np.nan
                np.testing.assert_allclose(found[suffix][row, column], np.float32(expected), rtol=1e-6)
            checked += 1
    assert checked > 20


def test_cells_of_a_wide_box_across_the_dateline_are_those_round_the_globe() -> None:
    """Its last column is at 440°, which is not a longitude of a box."""
    values, box = noise(GLOBE.shape), Box(147.0, -30.0, 80.0, 30.0)
    found = apply(regridder(GLOBE, box, 10.0, "cells"), values)[""]
    everywhere = apply(regridder(GLOBE, Box(-180, -30, 180, 30), 10.0, "cells"), values)[""]
    columns = ((target_axes(box, 10.0).lon + 180.0) % 360.0 / 10.0).astype(int)
    np.testing.assert_array_equal(found, everywhere[:, columns])


def test_a_cell_finer_than_the_grid_takes_the_nearest_point_and_leaves_no_hole() -> None:
    found = apply(regridder(GLOBE, Box(0, 0, 20, 20), 1.0, "cells"), noise(GLOBE.shape, missing=0.0))
    assert not np.isnan(found[""]).any()
    assert (found["_min"] <= found["_max"]).all()


def test_points_outside_the_source_grid_are_missing() -> None:
    for method in get_args(Method):
        found = apply(regridder(LAMBERT, Box(-130, 20, -80, 50), 1.0, method), noise(LAMBERT.shape, 0.0))[""]
        assert np.isnan(found[0, 0])
        assert not np.isnan(found).all()


def over_the_whole(made: Regridder, grid: Grid) -> Regridder:
    """The same regridder for the whole field instead of its window."""

    def there(points: Points) -> Points:
        rows, columns = made.window.rows.start, made.window.cols[0].start
        return points[0] + rows, (points[1] + columns) % grid.shape[1]

    nearest = replace(made.nearest, points=there(made.nearest.points))
    if isinstance(made, Bilinear):
        return Bilinear(tuple((there(points), weight) for points, weight in made.corners), nearest)
    if isinstance(made, Cells):
        rows, columns = there(np.divmod(made.points, made.window.shape[1]))
        return replace(made, points=rows * grid.shape[1] + columns, nearest=nearest)
    assert isinstance(made, Nearest)
    return nearest


@pytest.mark.parametrize("method", ["nearest", "bilinear", "cells"])
@pytest.mark.parametrize("name", GRIDS)
def test_a_regridder_gives_the_same_bits_from_its_window_as_from_the_whole_grid(name: str, method: Method) -> None:
    grid, values = GRIDS[name], noise(GRIDS[name].shape)
    made = regridder(grid, BOXES[name], 1.7, method)
    assert made.window.points < values.size
    assert len(made.window.cols) == (2 if grid.wraps else 1)
    for one, whole in ((made, over_the_whole(made, grid)), (made.nearest, over_the_whole(made.nearest, grid))):
        expected, found = whole.apply(values), apply(one, values)
        assert {suffix: array.tobytes() for suffix, array in found.items()} == {
            suffix: array.tobytes() for suffix, array in expected.items()
        }


@pytest.mark.parametrize("method", ["nearest", "bilinear", "cells"])
def test_a_region_outside_the_grid_needs_one_point(method: Method) -> None:
    made = regridder(LAMBERT, Box(10, -40, 20, -30), 1.0, method)
    assert made.window.points == 1
    assert all(np.isnan(array).all() for array in apply(made, noise(LAMBERT.shape)).values())


@pytest.mark.parametrize("method", ["nearest", "bilinear"])
def test_winds_are_rotated_in_the_window_as_on_the_whole_grid(tmp_path: Path, method: Method) -> None:
    path = write(tmp_path / "winds.grib2", [make_message("hrrr-ne", name) for name in ("10u", "10v")])
    u, v = read_fields(path)
    made = regridder(u.grid, NEW_YORK, 0.1, method)
    (tile,) = build(path, [Region("ny", NEW_YORK, resolution=0.1, method=method)], tmp_path).tiles
    with np.load(local(tile.path)) as arrays:
        for name, whole in zip(("u10", "v10"), earth_relative(u, v), strict=True):
            assert arrays[name].tobytes() == over_the_whole(made, u.grid).apply(whole)[""].tobytes()
