"""Random boxes of every size and location, from a seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gribmill.regions.box import Box
from gribmill.regions.grids import Grid


def random_boxes(count: int, seed: int) -> Iterator[Box]:
    """Boxes anywhere on the globe, from tiny to global, many at poles, on the dateline or on whole degrees."""
    dice = np.random.default_rng(seed)
    made = 0
    while made < count:
        width, height = 360 * dice.random() ** 3, 180 * dice.random() ** 3
        west, south = dice.uniform(-180, 180), dice.uniform(-90, 90 - height)
        match dice.integers(8):
            case 0:
                south = -90.0
            case 1:
                south = 90.0 - height
            case 2:
                west = 180.0 - width / 2
            case 3:
                width = 360.0
            case 4:
                west, south, width, height = (float(round(value)) for value in (west, south, width, height))
        if 0 < width <= 360 and height > 0 and south >= -90 and south + height <= 90:
            made += 1
            yield _box(west, south, width, south + height)


def boxes_on(grid: Grid, count: int, seed: int) -> Iterator[Box]:
    """Boxes around random points of the grid, from a fraction of a cell to the whole grid."""
    dice = np.random.default_rng(seed)
    ny, nx = grid.shape
    made = 0
    while made < count:
        lat, lon = (float(value) for value in grid.latlon(dice.uniform(0, ny - 1), dice.uniform(0, nx - 1)))
        if not np.isfinite(lat):
            continue
        cell = grid.cell_km / 111
        height, width = cell * 10 ** dice.uniform(-0.5, 1.8, 2)
        width = min(360.0, width / max(0.02, np.cos(np.radians(lat))))
        south, north = max(-90.0, lat - height * dice.random()), min(90.0, lat + height * dice.random())
        if south < north:
            made += 1
            yield _box(lon - width * dice.random(), south, width, north)


def _box(west: float, south: float, width: float, north: float) -> Box:
    west = (west + 360.0) % 360.0 - 360.0
    return Box(west, south, west + width, north)
