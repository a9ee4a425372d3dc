"""Maps of projected grids, cropped to the box that was asked for."""

from dataclasses import replace

import numpy as np
import pytest

from gribmill.draw.map.graticule import graticule
from gribmill.draw.map.page import in_box, page_of
from gribmill.draw.map.plane import plane_of
from tests.draw.make_fields import northeast, regular

CAPE_COD = (-74.0, 41.0, -70.0, 43.0)


def test_the_page_of_a_tilted_tile_is_the_box_with_north_up() -> None:
    field = replace(northeast(), box=CAPE_COD)
    page = page_of(field, plane_of(field))
    assert page
    ny, nx = page.plane.shape
    west, east = page.outline[:, 0].min(), page.outline[:, 0].max()
    assert west == pytest.approx(-0.5, abs=0.6) and east == pytest.approx(nx - 0.5, abs=0.6)
    assert np.degrees(page.plane.axis_angle([ny / 2], [nx / 2]))[0] == pytest.approx(0, abs=0.05)
    assert 0.9 < page.inside.mean() < 1
    assert np.degrees(plane_of(field).axis_angle([30.0], [30.0]))[0] != pytest.approx(0, abs=5)


def test_places_come_back_from_the_page() -> None:
    field = replace(northeast(), box=CAPE_COD)
    page = page_of(field, plane_of(field))
    assert page
    rows, columns = page.plane.project(np.array([41.5, 42.9]), np.array([-73.9, 289.5]))
    lat, lon = page.plane.locate(rows, columns)
    assert lat == pytest.approx([41.5, 42.9], abs=1e-9) and lon == pytest.approx([-73.9, -70.5], abs=1e-9)


def test_values_are_sampled_where_they_are() -> None:
    field = northeast()
    field = replace(field, values=field.lat.astype(np.float32), box=CAPE_COD)
    page = page_of(field, plane_of(field))
    assert page
    rows, columns = np.meshgrid(*(np.arange(n, dtype=float) for n in page.plane.shape), indexing="ij")
    lat, _ = page.plane.locate(rows, columns)
    assert np.abs(page.sample(field.values) - lat)[page.inside].max() < 0.01
    assert np.abs(page.sample(field.values, nearest=True) - lat)[page.inside].max() < 0.25
    assert np.isnan(page.sample(field.values, cropped=True)[~page.inside]).all()


def test_a_missing_point_stays_missing_and_does_not_spread() -> None:
    field = northeast()
    values = np.full(field.values.shape, 7.0, np.float32)
    values[np.hypot(field.lat - 42, field.lon + 72) < 0.3] = np.nan
    field = replace(field, values=values, box=CAPE_COD)
    page = page_of(field, plane_of(field))
    assert page
    sampled = page.sample(values)[page.inside]
    assert 0.01 < np.isnan(sampled).mean() < 0.1 and np.abs(sampled - 7.0)[np.isfinite(sampled)].max() < 1e-9


def test_parallels_and_meridians_are_named_at_the_edges_of_the_box() -> None:
    field = replace(northeast(), box=CAPE_COD)
    page = page_of(field, plane_of(field))
    assert page
    labels = {label.text: label for label in graticule(page.plane, page.box).labels}
    assert {"41°N", "42°N", "43°N", "74°W", "72°W", "70°W"} <= labels.keys()
    row, column = page.plane.project(np.array([42.0]), np.array([-74.0]))
    assert (labels["42°N"].x, labels["42°N"].y) == pytest.approx((column[0], row[0]))


@pytest.mark.parametrize(
    "box",
    [None, (-180.0, -90.0, 180.0, 90.0), (-74.0, 10.0, -20.0, 43.0), (-74.0, 41.0, -74.0, 43.0)],
    ids=["no box", "the globe", "mostly beyond the grid", "no width"],
)
def test_the_tiles_own_grid_is_drawn_where_the_box_cannot_be(box: tuple[float, float, float, float] | None) -> None:
    field = replace(northeast(), box=box)
    assert page_of(field, plane_of(field)) is None


def test_a_regular_tile_is_its_box_already() -> None:
    field = regular(np.zeros((5, 5)), box=(-10.0, 40.0, -8.0, 42.0))
    assert page_of(field, plane_of(field)) is None
    assert in_box(field).all() and not in_box(replace(field, box=(-9.5, 40.0, -8.0, 42.0)))[:, 0].any()
