"""Columns of sums, means and extremes, each value with its time range. Sums become amounts that add up."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gribmill.grib.names.time_range import RUN, base_name, split_window, with_range, without_range
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.series import Column

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
        """The part of a total after an earlier one that ends at `covered`, or as soon afterwards as possible."""
        for before in self.totals[bisect_left(self.ends, covered) :]:
            value = _checked(total.value - before.value, total.precision + before.precision, signed)
            if value is not None:
                return Amount(before.end, total.end, value)
        return None


def amounts(steps: Sequence[int], totals: Sequence[Sequence[Total]], *, signed: bool = False) -> list[Amount | None]:
    """One amount per step, from all totals that end there; None if nothing new ends there.

    An amount starts where the previous one ended, if a total or the difference of two totals with the same start
    allows it, otherwise as soon afterwards as possible. No two overlap. Only `signed` quantities may decrease.
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
        """The amount from the fewest totals, added or subtracted; None if they do not determine it exactly."""
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


# One hour: the value of each variable, and its metadata.
SampleRow = dict[str, tuple[float, VariableMeta]]
INSTANT, SUM, MEAN, OTHER = "instant", "accum", "avg", "other"
MEANS = {"mean", "weighted mean", "mean of a cluster"}
EXTREMES = {"max": True, "min": False}
PERCENT = 100.0


@dataclass(slots=True)
class WindowedColumns:
    """The quantities over time ranges in the rows of a point forecast."""

    steps: Sequence[int]
    rows: Sequence[SampleRow]
    known: Mapping[str, VariableMeta]
    _totals: dict[tuple[str, str], list[list[Total]]] = field(default_factory=dict)

    def column(self, name: str) -> Column | None:
        """The column of that name, which may include the length of its time ranges; None if no row has the quantity."""
        quantity = self._quantity(name)
        if quantity is None:
            return None
        length = split_window(name) if name not in self.known or quantity.statistic != INSTANT else None
        found = self._values(name, quantity, None if length is None else length[1])
        words = quantity.long_name
        if length is not None:
            words = with_range(words, length[1])
        elif quantity.statistic == SUM and _combines(quantity) and not name.endswith(RUN):
            words = without_range(words)
        values = tuple(math.nan if one is None else one.value for one in found)
        windows = tuple(None if one is None or one.start == one.end else (one.start, one.end) for one in found)
        statistic = quantity.statistic if _combines(quantity) else OTHER
        return Column(name, words, quantity.units, values, windows, statistic, quantity.flags)

    def _quantity(self, name: str) -> VariableMeta | None:
        """The metadata of the variable, or of the same quantity over another time range."""
        if name in self.known:
            return self.known[name]
        base = base_name(name)
        alike = (item for other, item in self.known.items() if base_name(other) == base and item.statistic != INSTANT)
        return next(alike, None)

    def _values(self, name: str, quantity: VariableMeta, length: int | None) -> list[Amount | None]:
        totals = self._family(base_name(name), quantity.statistic)
        if name.endswith(RUN):
            return [next((_as_stated(one) for one in row if one.start == 0), None) for row in totals]
        if not _combines(quantity):
            fitting = [[_as_stated(one) for one in row if length in (None, one.end - one.start)] for row in totals]
            return [min(row, key=_length, default=None) for row in fitting]
        if quantity.statistic == SUM:
            return self._sums(totals, length)
        if quantity.statistic == MEAN and any(one.usable for row in totals for one in row):
            summed = [[_times_length(one) for one in row] for row in totals]
            return [_mean(one, quantity.units) for one in self._sums(summed, length, signed=True)]
        if length is None:
            return [min((_as_stated(one) for one in row), key=_length, default=None) for row in totals]
        if quantity.statistic in EXTREMES:
            flat = [one for row in totals for one in row]
            highest = EXTREMES[quantity.statistic]
            return self._each(length, lambda start, end: extreme_over(flat, start, end, highest=highest))
        return [next((_as_stated(one) for one in row if one.end - one.start == length), None) for row in totals]

    def _sums(self, totals: list[list[Total]], length: int | None, *, signed: bool = False) -> list[Amount | None]:
        if length is None:
            return amounts(self.steps, totals, signed=signed)
        index = TotalIndex.of(one for row in totals for one in row)
        return self._each(length, lambda start, end: index.amount(start, end, signed=signed))

    def _each(self, length: int, find: Callable[[int, int], Amount | None]) -> list[Amount | None]:
        return [find(step - length, step) for step in self.steps]

    def _family(self, base: str, statistic: str) -> list[list[Total]]:
        """Row by row, the values of the quantity over every time range that ends there."""
        if (base, statistic) not in self._totals:
            names = [name for name in self.known if base_name(name) == base]
            self._totals[base, statistic] = [
                [
                    Total(*item.step_minutes, value, item.packing.step or 0.0)
                    for value, item in (row[name] for name in names if name in row)
                    if item.statistic == statistic and item.step_minutes[1] == step and not math.isnan(value)
                ]
                for step, row in zip(self.steps, self.rows, strict=True)
            ]
        return self._totals[base, statistic]


def _combines(quantity: VariableMeta) -> bool:
    """Whether values over parts of a time range can be combined. Of an ensemble, only values and means can."""
    identity = quantity.identity
    if identity.get("derived", "mean") not in MEANS or "probability" in identity or "percentile" in identity:
        return False
    return quantity.statistic != SUM or quantity.units != "%"


def _as_stated(total: Total) -> Amount:
    return Amount(total.start, total.end, total.value)


def _length(amount: Amount) -> int:
    return amount.end - amount.start


def _times_length(mean: Total) -> Total:
    minutes = mean.end - mean.start
    return Total(mean.start, mean.end, mean.value * minutes, mean.precision * minutes)


def _mean(amount: Amount | None, units: str) -> Amount | None:
    """The mean over the time range. The difference of two rounded means of a percentage may be outside 0 to 100."""
    if amount is None:
        return None
    value = amount.value / _length(amount)
    return Amount(amount.start, amount.end, min(max(value, 0.0), PERCENT) if units == "%" else value)
