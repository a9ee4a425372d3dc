"""The statistics of an array that a tile's `meta` tells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gribmill.tiles.grib.kernel import native

# As the kernel adds: value by value in eight lanes, so that a mean is the same to the last bit with and without it.
LANES = 8


def statistics(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """min, max, mean (of what is there) and the count of missing points."""
    module = native() if array.dtype == np.float32 and array.flags.c_contiguous else None
    least, greatest, total, missing = _summarized(array) if module is None else module.summarize(array)
    present = array.size - missing
    if not present:
        return {"min": None, "max": None, "mean": None, "missing": missing}
    return {"min": _number(least), "max": _number(greatest), "mean": _number(total / present), "missing": missing}


def _summarized(array: np.ndarray[Any, Any]) -> tuple[float, float, float, int]:
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
