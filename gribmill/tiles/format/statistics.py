"""Statistics of an array, for a tile's `meta`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gribmill.kernel import native

# Sums are computed in sixteen lanes, as in the kernel, so that both give bitwise equal means.
LANES = 16
# Minimum, maximum, sum, and count of missing points.
Summary = tuple[float, float, float, int]


def statistics(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Minimum, maximum and mean of the values, and the number of missing points."""
    return statistics_from(summarize(array), array.size)


def statistics_from(summary: Summary, points: int) -> dict[str, Any]:
    """The statistics from a summary of `points` points."""
    least, greatest, total, missing = summary
    present = points - missing
    if not present:
        return {"min": None, "max": None, "mean": None, "missing": missing}
    return {"min": _number(least), "max": _number(greatest), "mean": _number(total / present), "missing": missing}


def summarize(array: np.ndarray[Any, Any]) -> Summary:
    """The summary of an array."""
    if array.dtype == np.float32 and array.flags.c_contiguous and native.available():
        return native.summarize(array)
    return _summarize(array)


def _summarize(array: np.ndarray[Any, Any]) -> Summary:
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
    # +0.0 for both zeros: libraries disagree about the minimum of 0.0 and -0.0.
    return value + 0.0 if math.isfinite(value) else None
