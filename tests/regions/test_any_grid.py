"""Random grids and boxes: the window equals the result of testing every point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.grids import (
    Earth,
    GaussianGrid,
    Grid,
    LambertGrid,
    LatLonGrid,
    MercatorGrid,
    PolarStereographicGrid,
    RotatedLatLonGrid,
)
from gribmill.regions.window import window

from .sample_grids import every_point
from .test_window import brute_force

pytestmark = pytest.mark.slow

counts = st.integers(1, 40)
longitudes = st.floats(-180, 180)
steps = st.floats(1e3, 4e5)
earths = st.sampled_from([Earth(6371229.0, 6371229.0), Earth(6378137.0, 6356752.3)])
corners = st.sampled_from(["sw", "se", "nw", "ne"])
plane = {"nx": counts, "ny": counts, "dx": steps, "dy": steps, "earth": earths, "corner": corners, "lon": longitudes}


def latlon_steps(nx: int, ny: int, south: float, share: float) -> dict[str, float]:
    return {"dlat": max(1e-3, (90 - south) / ny * share), "dlon": max(1e-3, 360 / nx * share)}


lambert = st.builds(
    LambertGrid.at_corner,
    lat=st.floats(-60, 60),
    lov=longitudes,
    latin1=st.floats(20, 70),
    latin2=st.floats(20, 70),
    lad=st.floats(20, 70),
    **plane,
)
polar = st.builds(
    PolarStereographicGrid.at_corner,
    lat=st.floats(-60, 60),
    lov=longitudes,
    lad=st.floats(40, 90),
    south_pole=st.booleans(),
    **plane,
)
mercator = st.builds(MercatorGrid.at_corner, lat=st.floats(-60, 60), lad=st.floats(-40, 40), **plane)
latlon = st.builds(
    lambda nx, ny, south, west, share, earth: LatLonGrid(
        nx=nx, ny=ny, south=south, west=west, earth=earth, **latlon_steps(nx, ny, south, share)
    ),
    counts, counts, st.floats(-90, 80), longitudes, st.sampled_from([1.0, 0.7, 0.1]), earths,
)  # fmt: skip
rotated = st.builds(
    lambda nx, ny, south, west, share, pole_lat, pole_lon, angle: RotatedLatLonGrid(
        nx=nx, ny=ny, south=south, west=west, pole_lat=pole_lat, pole_lon=pole_lon, angle=angle,
        earth=Earth(6371229.0, 6371229.0), **latlon_steps(nx, ny, south, share),
    ),
    counts, counts, st.floats(-90, 80), longitudes, st.sampled_from([1.0, 0.7, 0.1]), st.floats(-90, 90), longitudes,
    st.floats(-180, 180),
)  # fmt: skip
gaussian = st.builds(
    lambda n, nx, west: GaussianGrid(
        n=n, first_row=n // 3, ny=n, nx=nx, west=west, dlon=360 / nx, earth=Earth(6371229.0, 6371229.0)
    ),
    st.integers(1, 20), st.integers(1, 40), longitudes,
)  # fmt: skip
boxes = st.builds(
    lambda west, width, south, height: Box(west - 360, south, west - 360 + width, min(90.0, south + height)),
    st.floats(0, 360), st.one_of(st.just(360.0), st.floats(0.01, 359)), st.floats(-90, 89.9), st.floats(0.05, 180),
)  # fmt: skip


@given(grid=st.one_of(lambert, polar, latlon, rotated, gaussian), box=boxes)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_window_of_any_box_on_any_grid_equals_brute_force(grid: Grid, box: Box) -> None:
    inside = box.contains(*every_point(grid))
    assert window(grid, box) == brute_force(inside, grid.wraps)


@given(values=st.data(), box=boxes)
@settings(max_examples=60, deadline=None)
def test_window_of_any_box_on_any_mercator_grid_equals_brute_force(values: st.DataObject, box: Box) -> None:
    try:
        grid = values.draw(mercator)
    except RegionError as error:
        assert "more than once" in str(error)
        return
    inside = box.contains(*every_point(grid))
    assert window(grid, box) == brute_force(inside, grid.wraps)


@given(grid=st.one_of(lambert, polar, latlon, rotated), share_j=st.floats(0, 1), share_i=st.floats(0, 1))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_index_inverts_latlon_at_any_point_of_any_grid(grid: Grid, share_j: float, share_i: float) -> None:
    ny, nx = grid.shape
    j, i = share_j * (ny - 1), share_i * (nx - 1)
    lat, lon = grid.latlon(j, i)
    if not np.isfinite(lat) or abs(lat) > 89.99:
        return
    again_lat, again_lon = grid.latlon(*grid.index(lat, lon))
    assert abs(again_lat - lat) < 1e-9
    assert abs((again_lon - lon + 180) % 360 - 180) * np.cos(np.radians(lat)) < 1e-9
