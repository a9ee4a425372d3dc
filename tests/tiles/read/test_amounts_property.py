"""Random sums over nested, abutting and missing time ranges: amounts are true, disjoint, and add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from gribmill.tiles.read.point.windowed import Amount, Total, TotalIndex, amounts

SOME = settings(max_examples=150, deadline=None, derandomize=True)


@dataclass(frozen=True)
class MadeRun:
    """The precipitation of each quarter of an hour, and the sums published for it."""

    quarters: tuple[int, ...]
    steps: tuple[int, ...]
    totals: tuple[tuple[Total, ...], ...]
    step: float

    def true(self, start: int, end: int) -> float:
        return float(sum(self.quarters[start // 15 : end // 15]))


@st.composite
def made_runs(draw: st.DrawFn, exact: bool) -> MadeRun:
    """Run totals, resetting buckets and fixed windows in any mixture, rounded as packing does; any may be missing."""
    every = draw(st.sampled_from([15, 60, 180, 360]))
    count = draw(st.integers(1, 16))
    reset = every * draw(st.integers(1, 8))
    fixed = draw(st.lists(st.integers(1, 8).map(lambda number: every * number), max_size=2))
    step = 0.0 if exact else draw(st.sampled_from([0.5, 3.0]))
    chance = Random(draw(st.integers(0, 10**6)))
    lacking = draw(st.sampled_from([0.0, 0.2, 0.5]))
    quarters = tuple(chance.choice((0, 0, 1, 7, 20)) for _ in range(every * count // 15))
    steps, rows = [], []
    for end in range(every, every * count + 1, every):
        if chance.random() < lacking:
            continue
        row = []
        for start in {0, (end - 1) // reset * reset, *(end - length for length in fixed)}:
            value = float(sum(quarters[start // 15 : end // 15]))
            value = round(value / step) * step if step else value
            if start >= 0 and chance.random() >= lacking:
                row.append(Total(start, end, math.nan if chance.random() < lacking / 4 else value, step))
        steps.append(end)
        rows.append(tuple(row))
    return MadeRun(quarters, tuple(steps), tuple(rows), step)


def found_in(run: MadeRun) -> list[Amount]:
    found = amounts(run.steps, run.totals)
    assert [step for step, one in zip(run.steps, found, strict=True) if one] == [one.end for one in found if one]
    return [one for one in found if one is not None]


@SOME
@given(made_runs(exact=True))
def test_amounts_are_what_fell_and_no_time_is_counted_twice(run: MadeRun) -> None:
    found = found_in(run)
    assert all(one.value == run.true(one.start, one.end) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@SOME
@given(made_runs(exact=True))
def test_amounts_without_a_gap_add_up_to_the_total_of_the_run(run: MadeRun) -> None:
    found = found_in(run)
    covered = sum(one.end - one.start for one in found)
    if found and covered == found[-1].end:
        assert math.fsum(one.value for one in found) == run.true(0, found[-1].end)


@SOME
@given(made_runs(exact=True))
def test_a_row_has_no_amount_only_if_no_total_gives_one_after_what_is_covered(run: MadeRun) -> None:
    covered = -math.inf
    earlier: set[tuple[int, int]] = set()
    for step, row, one in zip(run.steps, run.totals, amounts(run.steps, run.totals), strict=True):
        usable = [total for total in row if not math.isnan(total.value)]
        begins = {total.start for total in usable} | {
            end for total in usable for start, end in earlier if start == total.start
        }
        fitting = [begin for begin in begins if covered <= begin < step]
        assert (None if one is None else one.start) == min(fitting, default=None)
        earlier |= {(total.start, total.end) for total in usable}
        covered = covered if one is None else step


@SOME
@given(made_runs(exact=False))
def test_rounded_sums_give_no_negative_amount_and_are_right_within_the_packing(run: MadeRun) -> None:
    for one in found_in(run):
        assert one.value >= 0
        assert abs(one.value - run.true(one.start, one.end)) <= run.step * 1.01


@SOME
@given(made_runs(exact=True), st.integers(0, 23), st.integers(1, 24))
def test_any_time_range_that_is_found_is_what_fell_in_it(run: MadeRun, start: int, length: int) -> None:
    found = TotalIndex.of(one for row in run.totals for one in row).amount(start * 60, (start + length) * 60)
    if found is not None:
        assert found.value == run.true(start * 60, (start + length) * 60)
