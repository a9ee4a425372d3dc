"""Sums over time ranges as amounts that add up: no time is counted twice, and each amount has its own time range."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gribmill.tiles.read.point.windowed import Amount, Total, TotalIndex, amounts, extreme_over


def hours(*values: int) -> list[int]:
    return [value * 60 for value in values]


def total(start: int, end: int, value: float, precision: float = 0.0) -> Total:
    return Total(start * 60, end * 60, value, precision)


def each(totals: Sequence[Total | None]) -> list[list[Total]]:
    return [[] if one is None else [one] for one in totals]


def shown(found: Sequence[Amount | None]) -> list[tuple[float, float, float] | None]:
    return [None if one is None else (one.start / 60, one.end / 60, one.value) for one in found]


def values(steps: list[int], totals: Sequence[Total | None]) -> list[float | None]:
    return [None if one is None else one.value for one in amounts(steps, each(totals))]


def test_run_totals_are_differenced() -> None:
    totals = [total(0, 1, 1.0), total(0, 2, 1.5), total(0, 3, 4.0)]
    assert values(hours(1, 2, 3), totals) == [1.0, 0.5, 2.5]


def test_hour_zero_has_no_amount() -> None:
    assert values(hours(0, 1, 2), [total(0, 0, 0.0), total(0, 1, 2.0), total(0, 2, 5.0)]) == [None, 2.0, 3.0]


def test_buckets_that_restart_every_six_hours() -> None:
    totals = [
        total(0, 4, 4.0),
        total(0, 5, 5.0),
        total(0, 6, 7.0),
        total(6, 7, 0.5),
        total(6, 8, 1.5),
        total(6, 9, 1.5),
    ]
    assert values(hours(4, 5, 6, 7, 8, 9), totals) == [4.0, 1.0, 2.0, 0.5, 1.0, 0.0]


def test_after_a_missing_hour_the_amount_covers_both_hours_and_says_so() -> None:
    totals = each([total(0, 1, 1.0), total(0, 2, 2.0), total(0, 4, 9.0), total(0, 5, 10.0)])
    found = shown(amounts(hours(1, 2, 4, 5), totals))
    assert found == [(0, 1, 1.0), (1, 2, 1.0), (2, 4, 7.0), (4, 5, 1.0)]


def test_a_fixed_bucket_after_a_missing_hour_leaves_that_hour_out() -> None:
    found = shown(amounts(hours(1, 2, 4), each([total(0, 1, 1.0), total(1, 2, 2.0), total(3, 4, 0.5)])))
    assert found == [(0, 1, 1.0), (1, 2, 2.0), (3, 4, 0.5)]


def test_a_total_that_overlaps_what_is_covered_is_not_counted_again() -> None:
    found = shown(amounts(hours(1, 2, 3), each([total(0, 1, 1.0), total(1, 2, 1.0), total(0, 3, 9.0)])))
    assert found == [(0, 1, 1.0), (1, 2, 1.0), None]


def test_sums_of_six_hours_between_hourly_ones_are_kept_whole() -> None:
    rows = [[total(34, 35, 0.5)], [total(35, 36, 1.0), total(30, 36, 4.0)], [], [total(36, 42, 10.5)]]
    assert shown(amounts(hours(35, 36, 39, 42), rows)) == [(34, 35, 0.5), (35, 36, 1.0), None, (36, 42, 10.5)]


def test_the_change_from_hourly_to_three_hourly_steps() -> None:
    totals = [total(0, 119, 1.0), total(0, 120, 2.0), total(0, 123, 5.0), total(0, 126, 5.0)]
    found = shown(amounts(hours(119, 120, 123, 126), each(totals)))
    assert found[1:] == [(119, 120, 1.0), (120, 123, 3.0), (123, 126, 0.0)]


def test_rounding_of_the_packing_never_shows_as_negative_rain() -> None:
    assert values(hours(1, 2), [total(0, 1, 1.0, 0.1), total(0, 2, 0.9, 0.1)]) == [1.0, 0.0]


def test_a_total_that_falls_is_not_turned_into_a_number() -> None:
    assert values(hours(1, 2), [total(0, 1, 5.0, 0.1), total(0, 2, 1.0, 0.1)]) == [5.0, None]


def test_a_total_of_another_time_is_not_used() -> None:
    assert values(hours(2), [total(0, 1, 1.0)]) == [None]


def test_missing_values_stay_missing_and_are_covered_by_the_next_total() -> None:
    found = shown(amounts(hours(1, 2, 3), each([total(0, 1, 1.0), total(0, 2, float("nan")), total(0, 3, 4.0)])))
    assert found == [(0, 1, 1.0), None, (1, 3, 3.0)]


@pytest.mark.parametrize(
    ("start", "end", "value"),
    [(0, 6, 6.0), (6, 9, 3.0), (3, 9, 6.0), (6, 12, 9.0), (9, 12, 6.0), (0, 12, 15.0), (0, 24, None), (1, 6, None)],
)
def test_any_time_range_that_the_totals_determine_is_found(start: int, end: int, value: float | None) -> None:
    index = TotalIndex.of([total(0, 3, 3.0), total(0, 6, 6.0), total(6, 9, 3.0), total(6, 12, 9.0)])
    found = index.amount(start * 60, end * 60)
    assert (None if found is None else found.value) == value


def test_the_extreme_of_a_day_needs_all_its_parts() -> None:
    parts = [total(0, 6, 3.0), total(6, 12, 9.0), total(9, 18, 4.0), total(18, 24, 1.0)]
    assert extreme_over(parts, 0, 24 * 60, highest=True) == Amount(0, 24 * 60, 9.0)
    assert extreme_over(parts, 0, 24 * 60, highest=False) == Amount(0, 24 * 60, 1.0)
    assert extreme_over(parts[1:], 0, 24 * 60, highest=True) is None
    assert extreme_over(parts[:2] + parts[3:], 0, 24 * 60, highest=True) is None
