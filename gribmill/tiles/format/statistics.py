"""The statistics of an array that a tile's `meta` tells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gribmill.kernel import native

# As the kernel adds: value by value in sixteen lanes, so that a mean is the same to the last bit with and without it.
LANES = 16
# The least, the greatest, the sum, and how many are missing.
Summary = tuple[float, float, float, int]


def statistics(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """min, max, mean (of what is there) and the count of missing points."""
    return statistics_of(summary_of(array), array.size)


def statistics_of(summary: Summary, points: int) -> dict[str, Any]:
    """The same, of so many points that are summed up already."""
    least, greatest, total, missing = summary
    present = points - missing
    if not present:
        return {"min": None, "max": None, "mean": None, "missing": missing}
    return {"min": _number(least), "max": _number(greatest), "mean": _number(total / present), "missing": missing}


def summary_of(array: np.ndarray[Any, Any]) -> Summary:
    """What an array's statistics are made of."""
    if array.dtype == np.float32 and array.flags.c_contiguous and native.available():
        return native.summarize(array)
    return _summarized(array)


def _summarized(array: np.ndarray[Any, Any]) -> Summary:
    nowhere = np.isnan(array)
    missing = int(np.count_nonzero(nowhere))
    if missing == array.size:
        return math.inf, -math.inf, 0.0, missing
    doubles = np.zeros((-(-array.size // LANES), LANES))
    doubles.reshape(-1)[: array.size] = np.where(nowhere, 0, array).reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        lanes: list[float] = doubles.sum(axis=0).tolist()
    total = 0.0
    for lane in lanes:
        total += lane
    return float(np.nanmin(array)), float(np.nanmax(array)), total, missing


def _number(value: float) -> float | None:
    # A zero has no sign here: which of two is the lesser, libraries do not agree.
    return value + 0.0 if math.isfinite(value) else None
