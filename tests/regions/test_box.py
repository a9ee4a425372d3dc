"""Boxes: what is refused and why, and which points are inside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2,3", "has 3"),
        ("1,2,3,four", "is not"),
        ("", "has 1"),
        ("nan,0,10,10", "west of a box"),
        ("0,0,inf,10", "east of a box"),
        ("-80,48,-66,38", "south 48 is north of north 38"),
        ("-80,40,-66,40", "no height"),
        ("10,0,10,5", "no width"),
        ("-170,0,190,5", None),
        ("-190,0,190,5", "more than once"),
        ("38,-80,48,-66", None),
        ("0,-91,10,10", "not a latitude"),
        ("40,-100,50,-90.5", "order is west, south, east, north"),
        ("-400,0,10,10", "not a longitude"),
        ("-180,0,180,10", None),
        ("350,0,-10,10", "same meridian"),
    ],
)
def test_a_bad_box_is_refused_with_a_reason_and_a_good_one_is_not(text: str, reason: str | None) -> None:
    if reason is None:
        Box.parse(text)
        return
    with pytest.raises(RegionError, match=reason):
        Box.parse(text)


def test_longitudes_may_use_either_range() -> None:
    assert Box(190, 0, 230, 10) == Box(-170, 0, -130, 10)
    assert Box(170, 0, 190, 10) == Box(170, 0, -170, 10)
    assert Box(0, -90, 360, 90) == Box(-180, -90, 180, 90)
    assert Box(180, 0, 190, 10) == Box(-180, 0, -170, 10)
    assert Box(170, 0, -180, 10) == Box(170, 0, 180, 10)


def test_numbers_that_are_fine_stay_as_they_were_written() -> None:
    assert Box(-74.123, 40.1, 74.7, 41.3).as_list() == [-74.123, 40.1, 74.7, 41.3]
    assert str(Box(-74.5, 40, -70.25, 41.3)) == "-74.5,40,-70.25,41.3"
    assert Box.parse(" -74.5, 40 ,-70.25,41.3") == Box(-74.5, 40, -70.25, 41.3)


def test_box_across_the_dateline_has_its_width_and_points() -> None:
    box = Box(170, 50, -130, 72)
    assert box.crosses_dateline and box.width == 60 and box.centre == (61, -160)
    lon = [169.9, 170, 179.9, -180, 180, -130, -129.9, 0, 230]
    assert box.contains(60, lon).tolist() == [False, True, True, True, True, True, False, False, True]


def test_edges_are_inside_the_box_and_nan_is_not() -> None:
    box = Box(-180, -90, 180, 90)
    assert box.all_longitudes and box.contains([90, -90, 0], [0, 180, -180]).all()
    assert not box.contains([np.nan, 0], [0, np.nan]).any()
    assert not Box(0, 0, 10, 10).contains([np.nan, 5], [5, np.nan]).any()


@given(
    west=st.floats(-180, 180),
    width=st.floats(0.001, 359.9),
    south=st.floats(-90, 89),
    height=st.floats(0.001, 180),
    across=st.floats(0, 1),
    up=st.floats(0, 1),
    turns=st.integers(-1, 1),
)
def test_points_between_the_edges_are_inside_at_any_longitude_wrap(
    west: float, width: float, south: float, height: float, across: float, up: float, turns: int
) -> None:
    north = min(90.0, south + height)
    west = west if west + width <= 360 else west - 360
    box = Box(west, south, west + width, north)
    lat = south + up * (north - south)
    assert box.contains(lat, west + across * width + 360 * turns)
    assert not box.contains(lat, west + width + 1e-5 + across * (360 - width - 2e-5))
    assert abs(box.width - width) < 1e-9
