"""Thins fields with more points than any picture while they are read: each block of points becomes one."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gribmill.arrays import Floats, Values
from gribmill.draw.drawable import GridLike
from gribmill.draw.raster import nearest, resized
from gribmill.tiles.read.tile import Tile

# Twice as many as a map on a full page has pixels.
MOST_POINTS = 4_000_000
BAND_POINTS = 2**20  # read at once


def block_side(shape: tuple[int, int]) -> int:
    """The side of the blocks that become one point; 1 for a field that is not thinned."""
    return max(1, ceil(sqrt(shape[0] * shape[1] / MOST_POINTS)))


def read_thinned(tile: Tile, name: str, side: int, *, codes: bool) -> Values:
    """The means of blocks of side × side points, or the middle points of codes. The lowest and the highest value of
    all points are kept, each in the place of its block."""
    if side == 1:
        return tile.read(name)
    stored = tile.find(name) or name
    rows, columns = (size // side for size in tile.shape)
    thin = np.empty((rows, columns), np.float32)
    step = max(1, BAND_POINTS // (tile.shape[1] * side))
    low, high = _Extreme(-1.0), _Extreme(1.0)
    for begin in range(0, rows, step):
        end = min(begin + step, rows)
        band = tile.read_rows([stored], begin * side, end * side)[stored][:, : columns * side]
        thin[begin:end] = (nearest if codes else resized)(band, end - begin, columns)
        for extreme in (low, high):
            extreme.look(band, begin, side)
    if not codes:
        for extreme in (low, high):
            extreme.put(thin)
    return thin


@dataclass(slots=True)
class _Extreme:
    """The highest value times a sign, and its block."""

    sign: float
    value: float = -np.inf
    place: tuple[int, int] | None = None

    def look(self, band: Values, begin: int, side: int) -> None:
        signed = np.where(np.isfinite(band), band * np.float32(self.sign), -np.inf)
        row, column = divmod(int(signed.argmax()), band.shape[1])
        if signed[row, column] > self.value:
            self.value, self.place = float(signed[row, column]), (begin + row // side, column // side)

    def put(self, thin: Values) -> None:
        if self.place is not None:
            thin[self.place] = self.value * self.sign


@dataclass(frozen=True, slots=True)
class ThinnedGrid:
    """A grid by blocks of its points."""

    grid: GridLike
    side: int

    def latlon(self, j: ArrayLike, i: ArrayLike, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.grid.latlon(self._fine(j), self._fine(i))

    def index(self, lat: ArrayLike, lon: ArrayLike, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        row, column = self.grid.index(lat, lon)
        middle = (self.side - 1) / 2
        return (row - middle) / self.side, (column - middle) / self.side

    def _fine(self, place: ArrayLike) -> Floats:
        return np.asarray(place, np.float64) * self.side + (self.side - 1) / 2


def thinned_axis(axis: Floats, side: int) -> Floats:
    """The centres of the blocks along one axis."""
    blocks = len(axis) // side
    return np.asarray(axis[: blocks * side].reshape(blocks, side).mean(axis=1))
