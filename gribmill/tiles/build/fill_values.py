"""Replaces numbers that mean "no value" with NaN, before anything is computed from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gribmill.arrays import Marks, Values


@dataclass(frozen=True, slots=True)
class FillRule:
    """The numbers that mean "no value": the fill values, and all numbers below the smallest valid one.

    The latter result from interpolation between values and fill values by the publisher.
    """

    fill_values: tuple[float, ...] = ()
    valid_min: float | None = None

    def __bool__(self) -> bool:
        return bool(self.fill_values) or self.valid_min is not None

    def apply(self, values: Values, step: float | None) -> tuple[Values, int]:
        """The values with NaN in place of such numbers (the same array if there are none), and how many there were.

        Packing rounds values, so numbers are compared with a tolerance of half a packing step.
        """
        marks = self._marks(values, (step or 0.0) / 2)
        count = int(np.count_nonzero(marks))
        return (np.where(marks, np.float32(np.nan), values) if count else values), count

    def _marks(self, values: Values, tolerance: float) -> Marks:
        marks = np.zeros(values.shape, np.bool_)
        for fill in self.fill_values:
            marks |= np.abs(values - np.float32(fill)) <= max(tolerance, abs(fill) * float(np.finfo(np.float32).eps))
        if self.valid_min is not None:
            marks |= values < self.valid_min - tolerance
        return marks
