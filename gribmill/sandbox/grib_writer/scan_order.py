"""Values in the order of a scanning mode (flag table 3.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FROM_EAST, FROM_SOUTH, COLUMNS_FIRST, BACK_AND_FORTH = 0x80, 0x40, 0x20, 0x10


def to_scan_order(rows: NDArray[Any], mode: int) -> NDArray[Any]:
    """Rows from south to north, each from west to east, as a flat array in the order of the mode."""
    ordered = rows if mode & FROM_SOUTH else rows[::-1]
    if mode & FROM_EAST:
        ordered = ordered[:, ::-1]
    if mode & COLUMNS_FIRST:
        ordered = ordered.T
    if mode & BACK_AND_FORTH:
        ordered = ordered.copy()
        ordered[1::2] = ordered[1::2, ::-1]
    return np.ascontiguousarray(ordered).reshape(-1)
