"""The window of a box is the smallest that holds every grid point inside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gribmill.regions.box import Box
from gribmill.regions.grids import Grid, LambertGrid, LatLonGrid, PolarStereographicGrid, grid_from_spec
from gribmill.regions.grids.spec import named_grids
from gribmill.regions.region import built_in_regions
from gribmill.regions.window import Rectangle, Window, enclosing_columns, reach, window

from .random_boxes import boxes_on, random_boxes
from .sample_grids import EVERY_GRID, SPHERE, every_point

NAMED = {named.name: named.grid for named in named_grids()}


def brute_force(inside: np.ndarray, wraps: bool) -> Window | None:
    """The smallest window, found by testing every point."""
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if rows.size == 0:
        return None
    span = slice(int(rows[0]), int(rows[-1]) + 1)
    if not wraps:
        return Window(span, (slice(int(columns[0]), int(columns[-1]) + 1),))
    nx = inside.shape[1]
    # From each marked column eastward to the last marked one before it comes round again.
    runs = [
        (1 + max((int(other) - int(start)) % nx for other in columns), start != columns[0], int(start))
        for start in columns
    ]
    length, _, start = min(runs)
    if start + length <= nx:
        return Window(span, (slice(start, start + length),))
    return Window(span, (slice(start, nx), slice(0, start + length - nx)))


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_GRID)
def test_the_window_of_a_random_box_is_the_smallest_with_all_its_points(name: str) -> None:
    grid = EVERY_GRID[name]
    lat, lon = every_point(grid)
    boxes = [*random_boxes(120, seed=len(name)), *boxes_on(grid, 120, seed=len(name))]
    for box in boxes:
        expected = brute_force(box.contains(lat, lon), grid.wraps)
        assert window(grid, box) == expected, (name, box)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hrrr", "hrrr_ak", "nbm_co", "rrfs_na", "nbm_oc", "gfs", "ifs"])
def test_windows_on_operational_grids_equal_brute_force(name: str) -> None:
    grid = NAMED[name]
    lat, lon = every_point(grid)
    for box in [*random_boxes(6, seed=7), *boxes_on(grid, 6, seed=8), Box(-125, 24, -66.5, 50), Box(170, 50, -130, 72)]:
        inside = box.contains(lat, lon)
        rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
        found = window(grid, box)
        if rows.size == 0:
            assert found is None, box
            continue
        assert found is not None, box
        assert (found.rows.start, found.rows.stop) == (rows[0], rows[-1] + 1), box
        assert found.take(inside).sum() == inside.sum(), box
        if not grid.wraps:
            assert found.cols == (slice(int(columns[0]), int(columns[-1]) + 1),), box


def test_a_parallel_that_bulges_past_the_corners_of_the_box_loses_no_row() -> None:
    grid, box = NAMED["hrrr"], Box(-115, 30, -80, 45)
    corners_j, _ = grid.index([30, 30, 45, 45], [-115, -80, -115, -80])
    found = window(grid, box)
    assert found is not None
    lowest_j, _ = grid.index(30, -97.5)
    assert found.rows.start == int(np.ceil(lowest_j))
    # Four corners would start the window some sixty rows further north: points lost.
    assert found.rows.start < corners_j.min() - 50


def test_on_a_very_fine_grid_the_bulge_between_two_whole_degrees_is_followed_too() -> None:
    plane: dict[str, Any] = {"nx": 5000, "ny": 60, "dx": 20.0, "dy": 20.0, "earth": SPHERE}
    cone = LambertGrid(x0=-50e3, y0=0, lov=10, latin1=40, latin2=40, lad=40, **plane)
    pole = PolarStereographicGrid(x0=-50e3, y0=-3.4e6, lov=10, lad=60, **plane)
    for grid in (cone, pole):
        lat, lon = every_point(grid)
        middle, _ = grid.latlon(30, 2500)
        box = Box(9.55, float(middle), 10.44, float(middle) + 5)
        assert window(grid, box) == brute_force(box.contains(lat, lon), wraps=False), grid


def test_a_box_around_the_pole_takes_the_pole_on_a_polar_grid() -> None:
    grid = EVERY_GRID["polar stereographic: pole inside"]
    j, i = grid.index(90.0, 0.0)
    found = window(grid, Box(-180, 80, 180, 90))
    assert found is not None and len(found.cols) == 1
    assert found.rows.start < j < found.rows.stop - 1
    assert found.cols[0].start < i < found.cols[0].stop - 1


def test_a_box_across_the_dateline_is_one_piece_on_a_grid_that_crosses_it_too() -> None:
    found = window(EVERY_GRID["lat-lon: over the dateline"], Box(170, -30, -170, -10))
    assert found == Window(slice(7, 21), (slice(16, 33),))


def test_a_box_across_the_seam_of_a_global_grid_is_two_slices_with_longitudes_that_go_on() -> None:
    grid = NAMED["gfs"]
    found = window(grid, Box(-10, 35, 5, 40))
    assert found == Window(slice(500, 521), (slice(1400, 1440), slice(0, 21)))
    assert found.shape == (21, 61)
    part = found.grid(grid)
    np.testing.assert_array_equal(part.x, np.arange(-10, 5.25, 0.25))
    np.testing.assert_array_equal(part.y, np.arange(35, 40.25, 0.25))
    field = np.arange(721 * 1440, dtype=np.float32).reshape(721, 1440)
    expected = np.concatenate([field[500:521, 1400:], field[500:521, :21]], axis=1)
    np.testing.assert_array_equal(found.take(field), expected)
    np.testing.assert_array_equal(found.latlon(grid)[1][0], part.x)


def test_the_same_box_needs_one_slice_where_the_grid_starts_at_the_dateline() -> None:
    assert window(NAMED["ifs"], Box(-10, 35, 5, 40)) == Window(slice(500, 521), (slice(680, 741),))
    across = window(NAMED["ifs"], Box(170, 35, -170, 40))
    assert across == Window(slice(500, 521), (slice(1400, 1440), slice(0, 41)))


def test_edges_that_fall_on_grid_points_take_them_in_spite_of_rounding() -> None:
    grid = LatLonGrid(nx=3600, ny=1801, south=-90, west=0, dlat=0.1, dlon=0.1, earth=SPHERE)
    found = window(grid, Box(-75.3, 40.1, -70.7, 44.9))
    assert found is not None and found.shape == (49, 47)


def test_the_whole_globe_is_the_whole_grid() -> None:
    for name, grid in EVERY_GRID.items():
        found = window(grid, Box(-180, -90, 180, 90))
        whole = every_point(grid)[0]
        if np.isfinite(whole).all():
            ny, nx = grid.shape
            assert found == Window(slice(0, ny), (slice(0, nx),)), name


def test_a_box_between_grid_points_or_off_the_grid_has_no_window() -> None:
    hrrr = NAMED["hrrr"]
    assert window(hrrr, Box(-100, 35, -99.99, 35.001)) is None
    assert window(hrrr, Box(100, 35, 120, 45)) is None
    assert window(hrrr, Box(-100, -60, -90, -40)) is None
    assert window(NAMED["gfs"], Box(0.1, 0.1, 0.2, 0.2)) is None


def test_a_window_is_found_once_per_grid_and_box(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(grid: Grid, box: Box) -> Rectangle | None:
        calls.append(grid)
        return reach(grid, box)

    monkeypatch.setattr("gribmill.regions.window.reach", counted)
    window.cache_clear()
    for _ in range(3):
        window(hrrr_again(), Box(-100, 30, -90, 40))
    assert len(calls) == 1


def hrrr_again() -> Grid:
    """An equal grid, constructed again: the cache compares values."""
    return grid_from_spec(NAMED["hrrr"].spec())


@pytest.mark.slow
def test_a_window_as_a_grid_has_the_places_of_the_window() -> None:
    for name, grid in EVERY_GRID.items():
        for box in boxes_on(grid, 5, seed=3):
            found = window(grid, box)
            if found is None:
                continue
            lat, lon = every_point(found.grid(grid))
            expected_lat, expected_lon = found.latlon(grid)
            np.testing.assert_allclose(lat, expected_lat, atol=1e-9, err_msg=name)
            apart = np.mod(lon - expected_lon + 180, 360) - 180
            # At a pole all longitudes are one place.
            assert np.nanmax(np.abs(apart) * np.cos(np.radians(lat)), initial=0) < 1e-9, name


def test_the_window_on_a_ring_of_columns_omits_the_widest_gap() -> None:
    def marks(text: str) -> np.ndarray:
        return np.array([letter == "x" for letter in text])

    assert enclosing_columns(marks("..xx.x..."), wraps=False) == (slice(2, 6),)
    assert enclosing_columns(marks("..xx.x..."), wraps=True) == (slice(2, 6),)
    assert enclosing_columns(marks("xx.....x."), wraps=True) == (slice(7, 9), slice(0, 2))
    assert enclosing_columns(marks("xx.....x."), wraps=False) == (slice(0, 8),)
    assert enclosing_columns(marks("xxxxxxxxx"), wraps=True) == (slice(0, 9),)
    assert enclosing_columns(marks("x...x..."), wraps=True) == (slice(0, 5),)


def test_every_built_in_region_has_a_window_on_the_global_grids() -> None:
    for region in built_in_regions().values():
        for name in ("gfs", "ifs"):
            found = window(NAMED[name], region.box)
            assert found is not None
            assert abs(found.shape[1] * 0.25 - min(region.box.width, 359.75)) <= 0.5, region


def test_a_step_too_fine_to_be_walked_still_gives_the_exact_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gribmill.regions.window._MOST_STEPS", 50)
    for name in ("Lambert: HRRR, coarse", "rotated: own pole inside", "polar stereographic: pole inside"):
        grid = EVERY_GRID[name]
        lat, lon = every_point(grid)
        window.cache_clear()
        for box in boxes_on(grid, 40, seed=5):
            assert window(grid, box) == brute_force(box.contains(lat, lon), grid.wraps), (name, box)
    window.cache_clear()
