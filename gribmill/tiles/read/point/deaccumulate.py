"""Amounts per interval from accumulations: totals since the run are differenced, buckets are recognized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """The accumulation from `start` to `end` (minutes since the run); `precision` is that of its packing."""

    start: int
    end: int
    value: float
    precision: float = 0.0


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount in the `minutes` before a row; NaN if it cannot be derived."""

    minutes: int
    value: float


def deaccumulate(steps: Sequence[int], totals: Sequence[Sequence[Total]]) -> list[Amount]:
    """One amount per step, from all totals (since the run, bucket) that end there.

    NaN if the totals do not give exactly the amount of the step's own interval.
    """
    by_window = {(total.start, total.end): total for each in totals for total in each}
    found = []
    for step, length, ending_here in zip(steps, interval_lengths(steps), totals, strict=True):
        values = [_within(total, step - length, by_window) for total in ending_here if total.end == step and length > 0]
        found.append(Amount(length, next((value for value in values if not math.isnan(value)), math.nan)))
    return found


def interval_lengths(steps: Sequence[int]) -> list[int]:
    """The interval in minutes before each step: the gap, or the usual gap if a step is missing.

    A step is missing where the next gap is shorter (hourly data do not become three-hourly for one step), or, at the
    end of the series, where the gap before is shorter.
    """
    gaps = [step - before for before, step in zip([0, *steps], steps, strict=False)]
    lengths = []
    for number, gap in enumerate(gaps):
        if number + 1 < len(gaps):
            lengths.append(min(gap, gaps[number + 1]))
        elif number > 0 and gaps[number - 1] > 0:
            lengths.append(min(gap, gaps[number - 1]))
        else:
            lengths.append(gap)
    return lengths


def _within(total: Total, start: int, by_window: dict[tuple[int, int], Total]) -> float:
    if total.start == start:
        return total.value
    before = by_window.get((total.start, start))
    if before is None or total.start > start:
        return math.nan
    difference = total.value - before.value
    # Packing rounds both totals: a decrease of up to a step of each is rounding, a larger one is an invalid series.
    if difference < -(total.precision + before.precision) * 1.001:
        return math.nan
    return max(difference, 0.0) if not math.isnan(difference) else math.nan
