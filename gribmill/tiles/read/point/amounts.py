"""Sums over the time ranges of messages as amounts that add up: each counted once, each with its own time range."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

# Packing rounds every total: a decrease of up to a step of each is rounding, a larger one is an invalid series.
ROUNDING = 1.001


@dataclass(frozen=True, slots=True)
class Total:
    """The sum from `start` to `end` (minutes since the run); `precision` is that of its packing."""

    start: int
    end: int
    value: float
    precision: float = 0.0

    @property
    def usable(self) -> bool:
        """False for a missing value, and for the empty time range at the start of a run."""
        return self.start < self.end and not math.isnan(self.value)


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount from `start` to `end`, which is that of a row."""

    start: int
    end: int
    value: float


@dataclass(slots=True)
class _Sequence:
    """Totals with the same start, in order of their ends."""

    ends: list[int] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)

    def append(self, total: Total) -> None:
        if not self.ends or total.end > self.ends[-1]:
            self.ends.append(total.end)
            self.totals.append(total)

    def rest_of(self, total: Total, covered: float, signed: bool) -> Amount | None:
        """The part of a total after an earlier one that ends at `covered` or as soon after as possible."""
        for before in self.totals[bisect_left(self.ends, covered) :]:
            value = _checked(total.value - before.value, total.precision + before.precision, signed)
            if value is not None:
                return Amount(before.end, total.end, value)
        return None


def amounts(steps: Sequence[int], totals: Sequence[Sequence[Total]], *, signed: bool = False) -> list[Amount | None]:
    """One amount per step, from all totals that end there; None where there is none that was not counted before.

    An amount begins where the one before it ended, if a total or the difference of two totals with the same start
    allows it, otherwise as soon after as possible. No two overlap. Only `signed` quantities may decrease.
    """
    by_start: dict[int, _Sequence] = defaultdict(_Sequence)
    covered = -math.inf
    found: list[Amount | None] = []
    for step, ending in zip(steps, totals, strict=True):
        usable = sorted((one for one in ending if one.end == step and one.usable), key=lambda one: -one.start)
        best: Amount | None = None
        for total in usable:
            if total.start >= covered:
                amount: Amount | None = Amount(total.start, step, total.value)
            else:
                amount = by_start[total.start].rest_of(total, covered, signed)
            if amount is not None and (best is None or amount.start < best.start):
                best = amount
        for total in usable:
            by_start[total.start].append(total)
        if best is not None:
            covered = step
        found.append(best)
    return found


@dataclass(slots=True)
class TotalIndex:
    """All totals of a run, to find the amount of any time range that they determine."""

    edges: dict[int, list[tuple[int, float, float]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, totals: Iterable[Total]) -> TotalIndex:
        index = cls()
        for total in totals:
            if total.usable:
                index.edges[total.start].append((total.end, total.value, total.precision))
                index.edges[total.end].append((total.start, -total.value, total.precision))
        return index

    def amount(self, start: int, end: int, *, signed: bool = False) -> Amount | None:
        """The amount from the fewest totals, added or subtracted; None where they do not give it exactly."""
        queue = deque([(start, 0.0, 0.0)])
        seen = {start}
        while queue:
            moment, value, precision = queue.popleft()
            if moment == end:
                checked = _checked(value, precision, signed)
                return None if checked is None else Amount(start, end, checked)
            for other, change, rounding in self.edges.get(moment, ()):
                if other not in seen:
                    seen.add(other)
                    queue.append((other, value + change, precision + rounding))
        return None


def extreme_over(windows: Iterable[Total], start: int, end: int, *, highest: bool) -> Amount | None:
    """The extreme of a time range from extremes of its parts, which may overlap; None if they leave a gap."""
    inside = sorted((one for one in windows if one.usable and start <= one.start and one.end <= end), key=_start)
    covered = start
    for one in inside:
        if one.start > covered:
            return None
        covered = max(covered, one.end)
    if not inside or covered < end:
        return None
    return Amount(start, end, (max if highest else min)(one.value for one in inside))


def _start(total: Total) -> int:
    return total.start


def _checked(value: float, precision: float, signed: bool) -> float | None:
    """A difference of sums; None if it is negative by more than rounding."""
    if signed or value >= 0:
        return value
    return 0.0 if value >= -precision * ROUNDING else None
