"""Fits fields and lines to a raster of another size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats


def resized(values: NDArray[np.floating], ny: int, nx: int) -> Floats:
    """The field on ny × nx points: means of merged cells, or interpolated between points."""
    array = np.asarray(values, dtype=np.float64)
    if ny <= array.shape[0] and nx <= array.shape[1]:
        return _means(array, ny, nx)
    return _blended(array, ny, nx)


def nearest(values: NDArray[np.floating], ny: int, nx: int) -> Floats:
    """The field on ny × nx points by nearest point, for codes and directions."""
    rows, columns = (
        ((np.arange(n) + 0.5) * size / n).astype(int) for n, size in zip((ny, nx), values.shape, strict=True)
    )
    return np.asarray(values, dtype=np.float64)[np.ix_(rows, columns)]


def _means(array: Floats, ny: int, nx: int) -> Floats:
    """The mean of each block without its missing points; missing if most of the block is."""
    present = np.isfinite(array)
    sums, counts, sizes = (
        _block_sums(a, ny, nx) for a in (np.where(present, array, 0), present.astype(np.float64), np.ones_like(array))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts * 2 >= sizes, sums / counts, np.nan)


def _block_sums(array: Floats, ny: int, nx: int) -> Floats:
    rows = np.arange(ny) * array.shape[0] // ny
    columns = np.arange(nx) * array.shape[1] // nx
    return np.asarray(np.add.reduceat(np.add.reduceat(array, rows, axis=0), columns, axis=1))


def _blended(array: Floats, ny: int, nx: int) -> Floats:
    """Linear interpolation between adjacent points that are not missing; missing if the nearest point is."""
    present = np.isfinite(array)
    weighted = _linear(np.where(present, array, 0), ny, nx)
    weights = _linear(present.astype(np.float64), ny, nx)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(nearest(present, ny, nx) > 0, weighted / weights, np.nan)


def _linear(array: Floats, ny: int, nx: int) -> Floats:
    for axis, count in ((0, ny), (1, nx)):
        size = array.shape[axis]
        place = np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0, size - 1)
        low = np.minimum(place.astype(int), max(size - 2, 0))
        share = (place - low).reshape((-1, 1) if axis == 0 else (1, -1))
        after = np.minimum(low + 1, size - 1)
        array = np.take(array, low, axis) * (1 - share) + np.take(array, after, axis) * share
    return array
