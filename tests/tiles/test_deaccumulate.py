"""Precipitation per interval: the amount between two rows, or NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from gribmill.tiles.read.point.series import Total, deaccumulate, interval_lengths


def hours(*values: int) -> list[int]:
    return [value * 60 for value in values]


def total(start: int, end: int, value: float, precision: float = 0.0) -> Total:
    return Total(start * 60, end * 60, value, precision)


def each(totals: Sequence[Total | None]) -> list[list[Total]]:
    return [[] if one is None else [one] for one in totals]


def values(steps: list[int], totals: Sequence[Total | None]) -> list[float]:
    return [amount.value for amount in deaccumulate(steps, each(totals))]


def test_run_totals_are_differenced() -> None:
    totals = [total(0, 1, 1.0), total(0, 2, 1.5), total(0, 3, 4.0)]
    assert values(hours(1, 2, 3), totals) == [1.0, 0.5, 2.5]


def test_hour_zero_has_no_interval() -> None:
    found = values(hours(0, 1, 2), [total(0, 0, 0.0), total(0, 1, 2.0), total(0, 2, 5.0)])
    assert math.isnan(found[0])
    assert found[1:] == [2.0, 3.0]


def test_buckets_that_restart_every_six_hours() -> None:
    steps = hours(4, 5, 6, 7, 8, 9)
    totals = [
        total(0, 4, 4.0),
        total(0, 5, 5.0),
        total(0, 6, 7.0),
        total(6, 7, 0.5),
        total(6, 8, 1.5),
        total(6, 9, 1.5),
    ]
    found = values(steps, totals)
    assert math.isnan(found[0])  # hours 1 to 3 are not there
    assert found[1:] == [1.0, 2.0, 0.5, 1.0, 0.0]


def test_a_missing_hour_gives_nan_after_it_and_never_a_two_hour_sum() -> None:
    found = values(hours(1, 2, 4, 5), [total(0, 1, 1.0), total(0, 2, 2.0), total(0, 4, 9.0), total(0, 5, 10.0)])
    assert found[:2] == [1.0, 1.0]
    assert math.isnan(found[2])
    assert found[3] == 1.0


def test_an_hourly_bucket_is_right_even_after_a_missing_hour() -> None:
    found = values(hours(1, 2, 4), [total(0, 1, 1.0), total(1, 2, 2.0), total(3, 4, 0.5)])
    assert found == [1.0, 2.0, 0.5]


def test_a_bucket_helps_where_the_run_total_cannot() -> None:
    both = [[total(0, 1, 1.0)], [], [total(0, 3, 9.0), total(2, 3, 0.5)]]
    assert [amount.value for amount in deaccumulate(hours(1, 2, 3), both)][2] == 0.5


def test_a_damaged_hour_gives_nan_there_and_after_it() -> None:
    found = values(hours(1, 2, 3, 4), [total(0, 1, 1.0), None, total(0, 3, 4.0), total(0, 4, 5.0)])
    assert found[0] == 1.0
    assert math.isnan(found[1])
    assert math.isnan(found[2])
    assert found[3] == 1.0


def test_the_change_from_hourly_to_three_hourly_steps() -> None:
    steps = hours(119, 120, 123, 126)
    totals = [total(0, 119, 1.0), total(0, 120, 2.0), total(0, 123, 5.0), total(0, 126, 5.0)]
    assert [amount.minutes for amount in deaccumulate(steps, each(totals))][1:] == hours(1, 3, 3)
    assert values(steps, totals)[1:] == [1.0, 3.0, 0.0]


def test_rounding_of_the_packing_never_shows_as_negative_rain() -> None:
    assert values(hours(1, 2), [total(0, 1, 1.0, 0.1), total(0, 2, 0.9, 0.1)]) == [1.0, 0.0]


def test_a_total_that_falls_is_not_turned_into_a_number() -> None:
    found = values(hours(1, 2), [total(0, 1, 5.0, 0.1), total(0, 2, 1.0, 0.1)])
    assert math.isnan(found[1])


def test_a_total_of_another_time_is_not_used() -> None:
    assert math.isnan(values(hours(2), [total(0, 1, 1.0)])[0])


def test_missing_values_stay_missing() -> None:
    found = values(hours(1, 2, 3), [total(0, 1, 1.0), total(0, 2, math.nan), total(0, 3, 4.0)])
    assert math.isnan(found[1])
    assert math.isnan(found[2])


@pytest.mark.parametrize(
    ("steps", "lengths"),
    [
        ((6,), (6,)),
        ((1, 2, 3), (1, 1, 1)),
        ((3, 4, 5), (1, 1, 1)),
        ((1, 2, 5), (1, 1, 1)),
        ((3, 6, 12, 15), (3, 3, 3, 3)),
    ],
)
def test_interval_lengths(steps: tuple[int, ...], lengths: tuple[int, ...]) -> None:
    assert interval_lengths(steps) == list(lengths)
