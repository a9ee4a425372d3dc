"""Times of index lines, as wgrib2 writes them."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.time_range import WGRIB2_STATISTICS, TimeRange, parse_time_range, write_time_range
from gribmill.grib.product.grib1 import STATISTICS1
from gribmill.grib.product.grib2 import STATISTICS2
from gribmill.grib.product.keys import Statistic


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("anl", TimeRange(0, 0)),
        ("495 min fcst", TimeRange(495, 495)),
        ("2 day fcst", TimeRange(2880, 2880)),
        ("0-1 hour min fcst", TimeRange(0, 60, "min")),
        ("480-495 min min fcst", TimeRange(480, 495, "min")),
        ("480-495 min ave fcst", TimeRange(480, 495, "avg")),
        ("0-1 day acc fcst", TimeRange(0, 1440, "accum")),
    ],
)
def test_times_of_index_lines(text: str, time: TimeRange) -> None:
    assert parse_time_range(text) == time


@pytest.mark.parametrize(
    "text",
    [
        "", "8 hour", "8-7 hour acc fcst", "1 month fcst", "-1 hour fcst", "0-1 day acc", "6 hour ave",
        "1-2 hour acc fcst,missing=0",
    ],
)  # fmt: skip
def test_other_times_are_not_understood(text: str) -> None:
    assert parse_time_range(text) is None


@given(st.integers(0, 900), st.integers(0, 60), st.sampled_from(["instant", "accum", "avg", "max", "min"]))
def test_times_written_as_wgrib2_does_read_back(end: int, length: int, statistic: Statistic) -> None:
    start = end if statistic == "instant" else max(end - length, 0)
    time = TimeRange(start * 60, end * 60, statistic)
    assert parse_time_range(write_time_range(time)) == time


def test_messages_index_lines_and_the_lexicon_share_one_vocabulary() -> None:
    words = set(get_args(Statistic))
    assert {*STATISTICS1.values(), *STATISTICS2.values(), *WGRIB2_STATISTICS.values()} <= words
    assert {row.statistic for row in lexicon().rows.values()} == {"instant", *WGRIB2_STATISTICS.values()}
