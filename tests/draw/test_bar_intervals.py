"""Bars of a meteogram cover the time range of their amount, which may include rows without an amount."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np

from gribmill.draw.meteogram.curves import Curves, bar_at

START = datetime(2026, 9, 1, tzinfo=UTC)


def test_a_sum_of_six_hours_is_drawn_over_the_empty_row_between() -> None:
    curves = Curves(
        times=[START + timedelta(hours=hour) for hour in (36, 39, 42, 45)],
        values={"tp": [0.5, math.nan, 10.5, math.nan]},
        units={"tp": "mm"},
        minutes={"tp": [60, 0, 360, 0]},
    )
    moments = np.array([(START + timedelta(hours=hour)).timestamp() for hour in (34, 35.5, 36, 37, 39, 42, 43, 45)])
    found = bar_at(curves, "tp", moments)
    expected = [math.nan, 0.5, 0.5, 10.5, 10.5, 10.5, math.nan, math.nan]
    np.testing.assert_array_equal(found, expected)
