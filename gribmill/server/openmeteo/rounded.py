"""Rounds arrays to decimals exactly as Python rounds numbers: by their binary value, not by a product of it."""

from __future__ import annotations

import numpy as np

from gribmill.arrays import Floats, Marks

# From here on, a product may be off by more than its last digit.
LARGEST = 2.0**50
# Below, the product is off by less than this.
LARGE, CLOSE = 2.0**30, 2.0**-22


def rounded(values: Floats, digits: int) -> Floats:
    """`round(value, digits)` of each value, without negative zeros; NaN stays."""
    if not digits:
        return np.ascontiguousarray(np.rint(values) + 0.0)
    scale = 10.0**digits
    scaled = values * scale
    nearest = np.rint(scaled)
    doubtful = _doubtful(scaled, nearest)
    nearest /= scale
    if doubtful.any():
        nearest[doubtful] = [round(value, digits) for value in values[doubtful].tolist()]
    nearest += 0.0
    return np.ascontiguousarray(nearest)


def _doubtful(scaled: Floats, nearest: Floats) -> Marks:
    """Where the product may be on the wrong side of the middle between two integers."""
    with np.errstate(invalid="ignore"):  # between infinite values
        distance = np.abs(scaled - nearest)
    if np.fmax.reduce(scaled, None, initial=0.0) < LARGE and np.fmin.reduce(scaled, None, initial=0.0) > -LARGE:
        return np.asarray(distance >= 0.5 - CLOSE)
    # The product is off by at most half of its last digit.
    size = np.abs(scaled)
    return (np.abs(distance - 0.5) <= size * 2.0**-52) | (size >= LARGEST)
