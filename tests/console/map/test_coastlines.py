"""Coastlines for the map: the lines of `gribmill.draw` near a box, in whole steps."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from gribmill.console.map.coastline_file import BREAK, coastline_file, steps_of
from gribmill.draw.map.coastlines import coastlines_for, within

KINDS = ("land", "borders", "states")


def lines_of(data: bytes, kind: str) -> np.ndarray[Any, Any]:
    """Longitudes and latitudes as the browser adds them up; NaN between lines."""
    with np.load(io.BytesIO(data)) as npz:
        steps, quantum = npz[kind].astype(np.int64), float(npz["quantum_deg"])
    found, at = [], np.zeros(2, np.int64)
    for step in steps.T:
        if step[0] == BREAK:
            found.append([np.nan, np.nan])
            at = np.zeros(2, np.int64)
        else:
            at = at + step
            found.append(list(at * quantum))
    return np.array(found)


@pytest.mark.parametrize("box", [(-80.0, 38.0, -66.0, 48.0), (170.0, -50.0, -170.0, -30.0), (-5.0, 50.0, 0.0, 53.0)])
def test_the_lines_are_those_of_pictures(box: tuple[float, float, float, float]) -> None:
    west, south, east, north = box
    width = (east - west) % 360
    drawn = coastlines_for(max(width, north - south))
    for kind in KINDS:
        expected = within(getattr(drawn, kind), south, north, west, west + width)
        found = lines_of(coastline_file(*box), kind) if len(expected) else np.empty((0, 2))
        expected = expected[np.isfinite(expected[:, 0])]
        places = found[np.isfinite(found[:, 0])]
        assert len(places) <= len(expected)
        for place in expected[:: max(1, len(expected) // 200)]:
            assert np.abs(places - place).max(axis=1).min() <= 0.00051 + 0.002 * (width > 100)


def test_the_file_is_small() -> None:
    assert len(coastline_file(-180.0, -90.0, 180.0, 90.0)) < 400_000
    assert len(coastline_file(-127.0, 22.0, -64.0, 52.0)) < 100_000


def test_a_box_in_the_open_sea_has_no_lines() -> None:
    data = coastline_file(-150.0, -50.0, -145.0, -45.0)
    assert all(np.load(io.BytesIO(data))[kind].shape[0] == 2 for kind in KINDS)


def test_each_line_begins_from_zero_and_ends_with_a_break() -> None:
    nan = np.nan
    points = np.array([[1.0, 2.0], [1.1, 2.0], [nan, nan], [nan, nan], [-3.0, 4.0], [-3.0, 4.0], [-3.0, 4.2]])
    steps = steps_of(points, 0.1).tolist()
    assert steps == [[10, 1, BREAK, -30, 0], [20, 0, BREAK, 40, 2]]
