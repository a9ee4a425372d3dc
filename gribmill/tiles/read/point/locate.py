"""The position of a latitude and longitude in a tile, and the values there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from gribmill.arrays import Values
from gribmill.regions.box import wrap_longitude
from gribmill.regions.tile_options import LEAST_WEIGHT
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.grid_record import cached_grid
from gribmill.tiles.read.tile import Tile

Sampling = Literal["nearest", "bilinear"]
EARTH_KM = 6371.0
# Two neighbouring rows or columns, each with its weight.
Neighbours = tuple[tuple[int, float], tuple[int, float]]


@dataclass(frozen=True, slots=True)
class TileLocation:
    """A position in a tile: the nearest point, and the four points around it."""

    row: float
    column: float
    shape: tuple[int, int]
    lat: float
    lon: float
    distance_km: float
    ring: bool = False  # the first column follows the last

    def span(self, method: Sampling) -> tuple[int, int]:
        """The range of points that a method needs, in row order: the first, and the one after the last."""
        if method == "nearest":
            return self.nearest, self.nearest + 1
        rows, columns = self._around()
        # Across the seam these are the first and the last column: whole rows.
        left, right = sorted(column for column, _ in columns)
        return rows[0][0] * self.shape[1] + left, rows[1][0] * self.shape[1] + right + 1

    @property
    def nearest(self) -> int:
        """The nearest point, in row order."""
        row, column = _clip(round(self.row), self.shape[0]), _clip(round(self.column), self.shape[1])
        return row * self.shape[1] + column

    def bilinear(self, points: Values, begin: int) -> float:
        """The value interpolated between the four surrounding points; `points` are the field's from `begin` on.

        Points without a value have no weight.
        """
        rows, columns = self._around()
        total = weight = 0.0
        for row, row_weight in rows:
            for column, column_weight in columns:
                value, point_weight = float(points[row * self.shape[1] + column - begin]), row_weight * column_weight
                if point_weight > 0 and not math.isnan(value):
                    total += value * point_weight
                    weight += point_weight
        return total / weight if weight >= LEAST_WEIGHT else math.nan

    def _around(self) -> tuple[Neighbours, Neighbours]:
        """The two rows and the two columns around the position, with their weights."""
        columns = _on_ring(self.column, self.shape[1]) if self.ring else _between(self.column, self.shape[1])
        return _between(self.row, self.shape[0]), columns


# Cached: a forecast looks up the same place several times.
@lru_cache(maxsize=64)
def locate_in_tile(tile: Tile, lat: float, lon: float) -> TileLocation | None:
    """The position in a tile; None if it is outside the tile's points."""
    rows, columns = tile.locate(lat, lon)
    row, column = float(rows), float(columns)
    if math.isnan(row) or math.isnan(column):
        return None
    point_lat, point_lon = _point(tile, _clip(round(row), tile.shape[0]), _clip(round(column), tile.shape[1]))
    distance = _distance_km(lat, lon, point_lat, point_lon)
    return TileLocation(row, column, tile.shape, point_lat, point_lon, distance, tile.ring)


def check_latlon(lat: float, lon: float) -> tuple[float, float]:
    """The latitude, and the longitude within ±180°. Raises TileError if either is out of range."""
    if not (math.isfinite(lat) and -90 <= lat <= 90):
        raise TileError(f"{lat:g} is not a latitude: it must be between -90 and 90")
    if not (math.isfinite(lon) and -360 <= lon <= 360):
        raise TileError(f"{lon:g} is not a longitude: it must be between -180 and 180 (or 0 and 360)")
    return float(lat), float(wrap_longitude(float(lon)))


def _point(tile: Tile, row: int, column: int) -> tuple[float, float]:
    if tile.regular:
        return float(tile.y[row]), float(wrap_longitude(float(tile.x[column])))
    source_columns = np.concatenate([np.arange(*part) for part in tile.meta.grid.cols])
    grid = cached_grid(tile.meta.grid, str(tile.path))
    lat, lon = grid.latlon(tile.meta.grid.rows[0] + row, source_columns[column])
    return float(lat), float(lon)


def _clip(index: int, length: int) -> int:
    return min(max(index, 0), length - 1)


def _between(position: float, length: int) -> Neighbours:
    position = min(max(position, 0.0), length - 1.0)
    low = math.floor(position)
    return (low, 1.0 - (position - low)), (min(low + 1, length - 1), position - low)


def _on_ring(position: float, length: int) -> Neighbours:
    low = math.floor(position)
    return (low % length, 1.0 - (position - low)), ((low + 1) % length, position - low)


def _distance_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half = math.sin((phi2 - phi1) / 2) ** 2
    half += math.cos(phi1) * math.cos(phi2) * math.sin(math.radians(lon2 - lon1) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(half)))
