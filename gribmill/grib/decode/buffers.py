"""Reuses the memory of whole fields that are no longer referenced: fresh pages cost a quarter of decoding."""

from __future__ import annotations

import sys
from math import prod

import numpy as np
from numpy.typing import NDArray

# The current field and the one before; not the largest grids, whose memory should not be held for ever.
MOST_KEPT = 2
KEPT_POINTS = range(2**18, 2**22)
_kept: list[NDArray[np.float32]] = []


def _unreferenced() -> int:
    """The reference count of an array just taken off a list, without other references; it depends on the Python."""
    base = [np.empty(0, np.float32)].pop(0)
    return sys.getrefcount(base)


UNREFERENCED = _unreferenced()


def empty_field(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """An array of this shape with arbitrary content."""
    points = prod(shape)
    if points not in KEPT_POINTS:
        return np.empty(shape, np.float32)
    base = _free(points)
    if base is None:
        base = np.empty(points, np.float32)
    _kept.append(base)
    del _kept[:-MOST_KEPT]
    # A view references its base: as long as one is alive, the base is not reused.
    return base.reshape(shape)


def _free(points: int) -> NDArray[np.float32] | None:
    """Removed from the list, so that no other thread finds it too."""
    for _ in range(len(_kept)):
        try:
            base = _kept.pop(0)
        except IndexError:
            return None
        if base.size == points and sys.getrefcount(base) == UNREFERENCED:
            return base
        _kept.append(base)
    return None
