"""Memory for whole fields, used again once nobody has the field before: fresh pages cost a quarter of decoding."""

from __future__ import annotations

import sys
from math import prod

import numpy as np
from numpy.typing import NDArray

# The one in hand and the one before it; not the largest grids, whose memory nobody should hold for ever.
MOST_KEPT = 2
KEPT_POINTS = range(2**18, 2**22)
_kept: list[NDArray[np.float32]] = []


def _alone() -> int:
    """What is counted for an array that was just taken off a list, and that nobody else has: Pythons differ."""
    base = [np.empty(0, np.float32)].pop(0)
    return sys.getrefcount(base)


NOBODY_ELSE = _alone()


def room(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """An array of this shape with anything in it."""
    points = prod(shape)
    if points not in KEPT_POINTS:
        return np.empty(shape, np.float32)
    base = _free(points)
    if base is None:
        base = np.empty(points, np.float32)
    _kept.append(base)
    del _kept[:-MOST_KEPT]
    # A view holds on to its base: as long as one is alive, the base is not given out again.
    return base.reshape(shape)


def _free(points: int) -> NDArray[np.float32] | None:
    """Taken off the list, so that no other thread finds it as well."""
    for _ in range(len(_kept)):
        try:
            base = _kept.pop(0)
        except IndexError:
            return None
        if base.size == points and sys.getrefcount(base) == NOBODY_ELSE:
            return base
        _kept.append(base)
    return None
