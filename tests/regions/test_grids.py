"""Properties of every grid: known corners, inverse, wind rotation, JSON round trip."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError
from gribmill.regions.grids import (
    Earth,
    GaussianGrid,
    LambertGrid,
    LatLonGrid,
    MercatorGrid,
    PolarStereographicGrid,
    grid_from_spec,
)
from gribmill.regions.grids.grid import Corner
from gribmill.regions.grids.plane import PlaneGrid
from gribmill.regions.grids.spec import named_grids

from .sample_grids import EVERY_GRID, SPHERE, WGS84, every_point

NAMED = {named.name: named.grid for named in named_grids()}
# (latitude, longitude) of the south-west, south-east, north-west and north-east points, as published.
CORNERS: dict[str, list[tuple[float | None, float | None] | None]] = {
    "hrrr": [(21.1381, -122.7195), (21.1405, -72.2897), (47.8386, -134.0955), (47.8422, -60.9172)],
    "nam": [(12.19, -133.459), None, None, (57.328, -49.416)],
    "rrfs_hi": [(18.0727, -161.525), None, None, (23.0878, -153.869)],
    "rrfs_pr": [(15.0, -75.5), None, None, (22.005, -62.509)],
    "hrrr_ak": [(41.6129, -174.8829), None, (None, 156.44), (None, -115.78)],
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners_match_the_published_ones(name: str) -> None:
    ny, nx = NAMED[name].shape
    corners = zip(CORNERS[name], ((0, 0), (0, nx - 1), (ny - 1, 0), (ny - 1, nx - 1)), strict=True)
    for known, (j, i) in corners:
        for expected, found in zip(known or (), NAMED[name].latlon(j, i), strict=False):
            assert expected is None or abs(found - expected) < 5e-3 * (1 if name == "hrrr_ak" else 0.12)


def test_the_plane_of_hrrr_has_its_origin_where_others_put_it() -> None:
    grid = NAMED["hrrr"]
    assert abs(grid.x[0] + 2697520.1425) < 1e-3
    assert abs(grid.y[0] + 1587306.1526) < 1e-3
    assert abs(every_point(grid)[0].max() - 52.6157) < 1e-4


@pytest.mark.parametrize("name", EVERY_GRID)
def test_index_inverts_latlon_everywhere_on_the_grid(name: str) -> None:
    grid = EVERY_GRID[name]
    lat, lon = every_point(grid)
    there = np.isfinite(lat) & (np.abs(lat) < 90 - 1e-9)
    j, i = np.indices(grid.shape)
    found_j, found_i = grid.index(lat, lon)
    millimetre = 1e-6 / grid.cell_km
    assert np.abs(found_j - j)[there].max() < millimetre
    apart = np.abs(found_i - i)[there]
    if name == "lat-lon: 0 and 360 both there":
        apart = np.minimum(apart, np.abs(apart - 36))
    assert apart.max() < millimetre
    assert np.all((lon[np.isfinite(lon)] >= -180) & (lon[np.isfinite(lon)] < 180))


@pytest.mark.parametrize("name", EVERY_GRID | NAMED)
def test_winds_are_rotated_by_the_angle_to_true_north(name: str) -> None:
    """Finite differences: which way on the Earth do small steps along the grid's x and y lead?"""
    grid = (EVERY_GRID | NAMED)[name]
    ny, nx = grid.shape
    j, i = np.meshgrid(np.arange(0, ny, 1 + ny // 300), np.arange(0, nx, 1 + nx // 300), indexing="ij")
    lat, lon = grid.latlon(j, i)
    angle = grid.rotation(lat, lon)
    usable = np.isfinite(lat) & (np.abs(lat) < 89.9)
    if isinstance(grid, LambertGrid):
        usable &= np.abs(grid.lov - lon + 180) % 360 - 180 != -180  # undefined on the cut of the cone
    earth = Earth(*grid.spec()["earth"])
    along_x = _bearing(earth, grid.latlon(j, i - 1e-4), grid.latlon(j, i + 1e-4), lat)
    assert _apart(along_x, np.pi / 2 + angle)[usable].max(initial=0) <= 0.001
    if isinstance(grid, GaussianGrid):
        return  # its rows have no places beyond the last ones
    along_y = _bearing(earth, grid.latlon(j - 1e-4, i), grid.latlon(j + 1e-4, i), lat)
    assert _apart(along_y, angle)[usable].max(initial=0) <= 0.001


def _bearing(earth: Earth, start: tuple[Floats, Floats], end: tuple[Floats, Floats], lat: Floats) -> Floats:
    """Radians clockwise from true north."""
    phi, e2 = np.radians(lat), 1 - (earth.b / earth.a) ** 2
    east = ((end[1] - start[1] + 180) % 360 - 180) * np.cos(phi)
    # On an ellipsoid a degree of latitude is shorter than one along the prime vertical.
    north = (end[0] - start[0]) * (1 - e2) / (1 - e2 * np.sin(phi) ** 2)
    return np.asarray(np.arctan2(east, north))


def _apart(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.abs(np.degrees(np.angle(np.exp(1j * (one - other))))))


@pytest.mark.parametrize("name", EVERY_GRID)
def test_an_invalid_place_has_no_index(name: str) -> None:
    grid = EVERY_GRID[name]
    j, i = grid.index(np.nan, np.nan)
    assert np.isnan(j) and np.isnan(i)
    j, i = grid.index([np.nan, 30.0], [10.0, np.nan])
    assert np.isnan(j + i).all()
    assert np.isfinite(grid.rotation([10.0, 20.0], 30.0)).all() and grid.rotation([10.0, 20.0], 30.0).shape == (2,)


def test_rotation_in_new_york_and_los_angeles_on_hrrr() -> None:
    angle = np.degrees(NAMED["hrrr"].rotation([40.71, 34.05], [-74.0, -118.05]))
    np.testing.assert_allclose(angle, [14.63, -12.79], atol=0.01)


@pytest.mark.parametrize("name", EVERY_GRID)
def test_a_grid_survives_as_json_and_is_equal_and_hashes_equal(name: str) -> None:
    grid = EVERY_GRID[name]
    again = grid_from_spec(json.loads(json.dumps(grid.spec())))
    assert again == grid
    assert hash(again) == hash(grid)


@pytest.mark.parametrize("name", EVERY_GRID)
def test_axes_ascend_without_a_jump_and_fit_the_shape(name: str) -> None:
    grid = EVERY_GRID[name]
    assert (grid.y.size, grid.x.size) == grid.shape
    assert np.all(np.diff(grid.y) > 0) and np.all(np.diff(grid.x) > 0)


@pytest.mark.parametrize("name", EVERY_GRID)
def test_a_part_of_a_grid_has_the_places_of_that_part(name: str) -> None:
    grid = EVERY_GRID[name]
    ny, nx = grid.shape
    if ny == 1:
        pytest.skip("one point has no parts")
    part = grid.part(2, ny - 5, 3, nx - 7)
    whole_lat, whole_lon = every_point(grid)
    lat, lon = every_point(part)
    np.testing.assert_allclose(lat, whole_lat[2:-3, 3:-4], atol=1e-9)
    np.testing.assert_allclose(
        np.cos(np.radians(lon - whole_lon[2:-3, 3:-4])), np.where(np.isnan(lon), np.nan, 1), atol=1e-9
    )
    with pytest.raises(RegionError, match="not a part"):
        grid.part(0, ny + 1, 0, nx)


def test_a_grid_that_wraps_may_be_cut_across_its_seam_and_another_may_not() -> None:
    gfs = NAMED["gfs"]
    np.testing.assert_array_equal(gfs.part(0, 1, 1436, 8).x, np.arange(-1, 1, 0.25))
    with pytest.raises(RegionError, match="not a part"):
        EVERY_GRID["lat-lon: regional"].part(0, 1, 55, 10)


def test_first_point_in_any_corner_places_the_same_grid() -> None:
    values: dict[str, Any] = {"nx": 60, "ny": 40, "dx": 20e3, "dy": 30e3, "earth": WGS84}
    kinds: list[tuple[type[PlaneGrid], dict[str, Any]]] = [
        (LambertGrid, {"lov": 10, "latin1": 40, "latin2": 55, "lad": 45}),
        (PolarStereographicGrid, {"lov": 10, "lad": 60}),
        (MercatorGrid, {"lad": 20, "lon0": 5}),
    ]
    for kind, more in kinds:
        grid = kind.at_corner(45, 8, **values, **more)
        corners: dict[Corner, tuple[int, int]] = {"se": (0, 59), "nw": (39, 0), "ne": (39, 59)}
        for corner, (j, i) in corners.items():
            lat, lon = (float(value) for value in grid.latlon(j, i))
            other = kind.at_corner(lat, lon, corner, **values, **more)
            assert abs(other.x0 - grid.x0) < 1e-6 and abs(other.y0 - grid.y0) < 1e-6, (kind, corner)


def test_global_rows_with_rounded_steps_wrap_and_close_exactly() -> None:
    grid = LatLonGrid(nx=3072, ny=3, south=0, west=0, dlat=0.117188, dlon=0.117188, earth=SPHERE)
    assert grid.wraps and grid.dlon == 360 / 3072
    assert not LatLonGrid(nx=3071, ny=3, south=0, west=0, dlat=0.117188, dlon=0.117188, earth=SPHERE).wraps
    _, i = grid.index([0, 0, 0], [-0.05, 359.99, 180])
    np.testing.assert_allclose(i, [-0.05 / grid.dlon, -0.01 / grid.dlon, 1536])


def test_first_and_last_points_give_truer_steps_than_a_rounded_increment() -> None:
    grid = LatLonGrid.spanning(nx=301, ny=331, south=0, north=55, west=260, east=310, earth=SPHERE)
    assert grid.dlon == pytest.approx(1 / 6, abs=1e-15) and grid.west == -100
    assert (
        LatLonGrid.spanning(nx=1440, ny=721, south=-90, north=90, west=180, east=179.75, earth=SPHERE) == NAMED["ifs"]
    )
    assert LatLonGrid.spanning(nx=1441, ny=721, south=-90, north=90, west=0, east=360, earth=SPHERE).dlon == 0.25


def test_gaussian_rows_match_published_values() -> None:
    grid = GaussianGrid(n=32, first_row=0, ny=64, nx=128, west=0, dlon=2.8125, earth=SPHERE)
    np.testing.assert_allclose(grid.y[-3:], [82.312913, 85.096527, 87.863799], atol=1e-6)
    np.testing.assert_array_equal(grid.y, -grid.y[::-1])
    j, _ = grid.index([grid.y[10], (grid.y[10] + grid.y[11]) / 2, 90, -90], 0)
    assert j[0] == 10 and j[1] == pytest.approx(10.5) and j[2] > 63 and j[3] < 0


def test_points_outside_the_map_of_a_lambert_cone_have_no_latlon() -> None:
    grid = EVERY_GRID["Lambert: with the pole and the tear"]
    lat, lon = every_point(grid)
    assert np.array_equal(np.isnan(lat), np.isnan(lon))
    # On the plane, the empty wedge is due north of the pole and the central meridian due south.
    pole_j, pole_i = grid.index(90.0, 0.0)
    above, below = grid.latlon(pole_j + 5, pole_i), grid.latlon(pole_j - 5, pole_i)
    assert np.isnan(above[0]) and below[1] == pytest.approx(-97.5)


@given(
    lat=st.floats(-80, 80),
    lon=st.floats(-180, 179.9),
    flat=st.sampled_from([0.0, 1 / 298.257, 1 / 150]),
    latin=st.tuples(st.floats(-70, 70), st.floats(-70, 70)),
    lov=st.floats(-180, 180),
)
@settings(max_examples=150, deadline=None)
def test_index_inverts_latlon_on_any_lambert_cone_and_earth(
    lat: float, lon: float, flat: float, latin: tuple[float, float], lov: float
) -> None:
    if abs(latin[0] + latin[1]) < 20 or abs((lon - lov + 180) % 360 - 180) > 179.9:
        return
    earth = Earth(6378137.0, 6378137.0 * (1 - flat))
    grid = LambertGrid(
        nx=10, ny=10, dx=1e3, dy=1e3, x0=0, y0=0, lov=lov, latin1=latin[0], latin2=latin[1], lad=latin[0], earth=earth
    )
    found_lat, found_lon = grid.latlon(*grid.index(lat, lon))
    assert abs(found_lat - lat) < 1e-9
    assert abs((found_lon - lon + 180) % 360 - 180) < 1e-8


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nx": 0}, "nx = 0"),
        ({"ny": 10**9}, "ny = 1000000000"),
        ({"dx": 0.0}, "dx = 0"),
        ({"dx": float("nan")}, "dx = nan"),
        ({"latin1": 10.0, "latin2": -10.0}, "cylinder"),
        ({"latin1": 90.0}, "latin1 = 90"),
        ({"earth": [0.0, 0.0]}, "no Earth"),
        ({"earth": [6371229.0]}, "make no grid"),
        ({"kind": "cube"}, "not 'cube'"),
        ({"surprise": 1}, "make no grid"),
        ({"x0": float("inf")}, "x0 = inf"),
        ({"lov": "east"}, "make no grid"),
    ],
)
def test_values_that_do_not_describe_a_grid_are_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(RegionError, match=reason):
        grid_from_spec({**NAMED["hrrr"].spec(), **change})


def test_row_beyond_a_full_circle_or_a_pole_is_refused() -> None:
    with pytest.raises(RegionError, match="more than once"):
        LatLonGrid(nx=800, ny=3, south=0, west=0, dlat=1, dlon=1, earth=SPHERE)
    with pytest.raises(RegionError, match="north-most"):
        LatLonGrid(nx=8, ny=300, south=0, west=0, dlat=1, dlon=1, earth=SPHERE)
    with pytest.raises(RegionError, match="no place"):
        LambertGrid.at_corner(90, 0, nx=9, ny=9, dx=1e4, dy=1e4, lov=0, latin1=-30, latin2=-30, lad=-30, earth=SPHERE)
