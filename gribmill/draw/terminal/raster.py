"""Fields and lines fitted to a raster of another size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats


def resized(values: NDArray[np.floating], ny: int, nx: int) -> Floats:
    """The field on ny × nx points: means of the cells that fall together, or blended in between."""
    array = np.asarray(values, dtype=np.float64)
    if ny <= array.shape[0] and nx <= array.shape[1]:
        return _means(array, ny, nx)
    return _blended(array, ny, nx)


def nearest(values: NDArray[np.floating], ny: int, nx: int) -> Floats:
    """The field on ny × nx points without any arithmetic: for flags and directions."""
    rows, columns = (
        ((np.arange(n) + 0.5) * size / n).astype(int) for n, size in zip((ny, nx), values.shape, strict=True)
    )
    return np.asarray(values, dtype=np.float64)[np.ix_(rows, columns)]


def _means(array: Floats, ny: int, nx: int) -> Floats:
    """Mean of the present points of each block; missing where most of the block is."""
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
    """Linear between the present neighbours; missing wherever the nearest point is."""
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


def traced(lines: Floats, shape: tuple[int, int], ny: int, nx: int) -> NDArray[np.bool_]:
    """Which of ny × nx pixels over a tile of that shape the lines (column, row, NaN between) pass through."""
    scaled = (lines + 0.5) * [nx / shape[1], ny / shape[0]]
    start, end = scaled[:-1], scaled[1:]
    with np.errstate(invalid="ignore"):
        near = np.all((np.maximum(start, end) >= 0) & (np.minimum(start, end) < [nx, ny]), axis=1)
    start, end = start[near], end[near]
    mask = np.zeros((ny, nx), dtype=bool)
    if not len(start):
        return mask
    pieces = int(min(np.ceil(np.abs(end - start).max() * 1.5) + 1, 4 * (nx + ny)))
    for share in np.linspace(0, 1, pieces):
        x, y = np.floor(start + (end - start) * share).astype(int).T
        inside = (x >= 0) & (x < nx) & (y >= 0) & (y < ny)
        mask[y[inside], x[inside]] = True
    return mask
