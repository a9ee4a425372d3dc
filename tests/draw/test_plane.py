"""Where places fall on a tile's map, and which way its axes point."""

from dataclasses import replace

import numpy as np
import pytest

from gribmill.draw.drawable import Barbs, Drawable
from gribmill.draw.errors import DrawError
from gribmill.draw.map.coastlines import coastlines
from gribmill.draw.map.graticule import extent_of, graticule
from gribmill.draw.map.layers import along_map_axes, map_barbs
from gribmill.draw.map.plane import plane_of
from tests.draw.make_fields import northeast, polar, regular


def test_a_regular_tile_places_its_own_points() -> None:
    plane = plane_of(regular(np.zeros((11, 21))))
    row, column = plane.project(np.array([41.0, 45.0]), np.array([-9.5, 350.0]))
    assert row.tolist() == pytest.approx([2, 10]) and column.tolist() == pytest.approx([1, 0])


def test_a_tile_across_the_dateline_is_one_piece() -> None:
    plane = plane_of(regular(np.zeros((20, 60)), west=170.0, south=50.0))
    _, column = plane.project(np.array([55.0, 55.0]), np.array([179.5, -179.5]))
    assert column.tolist() == pytest.approx([19, 21])
    drawn = plane.lines(coastlines().land)
    assert np.nanmax(np.abs(np.diff(drawn[:, 0]))) < plane.seam_columns


def test_longitudes_that_jump_at_the_dateline_are_made_continuous() -> None:
    lon = np.array([178.0, 179.0, -180.0, -179.0])
    plane = plane_of(Drawable(np.zeros((2, 4)), np.array([0.0, 1.0]), lon))
    assert plane.project(np.array([0.0]), np.array([-179.0]))[1][0] == pytest.approx(3)


def test_cells_of_a_regular_tile_are_narrower_in_the_north() -> None:
    assert plane_of(regular(np.zeros((5, 5)), south=59)).aspect == pytest.approx(2, abs=0.1)
    assert plane_of(regular(np.zeros((5, 5)), south=-1)).aspect == pytest.approx(1, abs=0.01)


def test_cells_of_a_lambert_tile_are_square() -> None:
    assert plane_of(northeast()).aspect == pytest.approx(1, abs=0.02)


def test_a_projected_field_without_its_grid_is_refused() -> None:
    with pytest.raises(DrawError, match="projected grid"):
        plane_of(replace(northeast(), grid=None))


def test_barbs_on_a_lambert_map_rotate_with_the_meridians() -> None:
    """Independent of the code under test: a cone's parallels lean by sin(38.5°) of the longitude from its middle."""
    field = northeast()
    east = Barbs(np.full(field.values.shape, 10.0), np.zeros(field.values.shape))
    barbs = map_barbs(east, plane_of(field))
    assert len(barbs.u) > 200
    lon = field.lon[barbs.row.astype(int), barbs.column.astype(int)]
    expected = np.sin(np.radians(38.5)) * ((lon + 180) % 360 - 180 + 97.5)
    assert np.abs(np.degrees(np.arctan2(barbs.v, barbs.u)) - expected).max() < 0.1
    assert expected.min() > 8
    assert np.hypot(barbs.u, barbs.v) == pytest.approx(10 * 3600 / 1852)


def test_east_of_the_upright_meridian_an_east_wind_vector_points_up_the_map() -> None:
    field = northeast()
    shape = field.values.shape
    barbs = map_barbs(Barbs(np.full(shape, 10.0), np.zeros(shape)), plane_of(field))
    # Moving east from New England keeps the latitude; on HRRR's map that path bends upward.
    row, _ = plane_of(field).project(np.array([43.0, 43.0]), np.array([-75.0, -70.0]))
    assert row[1] > row[0] and (barbs.v > 0).all()


def test_barbs_keep_their_direction_on_a_regular_map_and_flip_south_of_the_equator() -> None:
    field = regular(np.zeros((40, 40)), south=-10)
    ones = np.ones(field.values.shape)
    barbs = map_barbs(Barbs(3 * ones, 4 * ones), plane_of(field))
    assert np.degrees(np.arctan2(barbs.v, barbs.u)) == pytest.approx(np.degrees(np.arctan2(4, 3)), abs=1e-6)
    lat = field.lat[barbs.row.astype(int)]
    assert (barbs.flip == (lat < 0)).all() and barbs.flip.any() and not barbs.flip.all()


def test_missing_winds_have_no_barbs() -> None:
    field = regular(np.zeros((10, 10)))
    nothing = np.full((10, 10), np.nan)
    assert len(map_barbs(Barbs(nothing, nothing), plane_of(field)).u) == 0


def test_turning_axes_by_a_right_angle_makes_east_minus_y() -> None:
    u, v = along_map_axes(np.array([1.0]), np.array([0.0]), np.array([np.pi / 2]))
    assert u[0] == pytest.approx(0, abs=1e-12) and v[0] == pytest.approx(-1)


def test_the_graticule_names_round_degrees_at_their_places() -> None:
    plane = plane_of(regular(np.zeros((21, 41))))  # 10°W to 10°E, 40°N to 50°N
    labels = {label.text: label for label in graticule(plane).labels}
    assert labels["44°N"].edge == "left" and labels["44°N"].y == pytest.approx(8, abs=0.1)
    assert labels["0°"].edge == "bottom" and labels["0°"].x == pytest.approx(20, abs=0.1)
    assert "5°W" in labels and "5°E" in labels


def test_the_graticule_crosses_the_dateline_once() -> None:
    plane = plane_of(regular(np.zeros((20, 80)), west=165.0, south=50.0))
    texts = [label.text for label in graticule(plane).labels]
    assert texts.count("180°") == 1 and "170°E" in texts and "170°W" in texts


def test_a_polar_tile_knows_that_the_pole_is_inside() -> None:
    extent = extent_of(plane_of(polar()))
    assert extent.north == 90 and extent.east - extent.west == 360


def test_coordinates_of_another_shape_are_refused() -> None:
    with pytest.raises(DrawError, match="different grids"):
        Drawable(np.zeros((3, 4)), np.zeros(4), np.zeros(3))
    with pytest.raises(DrawError, match="only a 2-D field"):
        Drawable(np.zeros(3), np.zeros(3), np.zeros(3))
