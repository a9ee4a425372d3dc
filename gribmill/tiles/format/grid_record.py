"""Grids as records in a tile's `meta`, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError
from gribmill.regions.grids import Grid, grid_from_spec
from gribmill.regions.window import Window
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import GridRecord

LIMIT_POINTS = 2**28


def grid_record(grid: Grid, window: Window) -> GridRecord:
    """The record of a tile's grid: the whole source grid, and the window cut from it."""
    mapping = grid.cf()
    return GridRecord(
        kind="regular" if mapping["grid_mapping_name"] == "latitude_longitude" else "projected",
        mapping=mapping,
        definition=grid.spec(),
        cell_km=grid.cell_km,
        shape=window.shape,
        source_shape=grid.shape,
        rows=(window.rows.start, window.rows.stop),
        cols=tuple((part.start, part.stop) for part in window.cols),
    )


def window_axes(grid: Grid, window: Window) -> tuple[Floats, Floats]:
    """Coordinates of the window's rows and columns; longitudes continue past 180° without a jump."""
    mapping = grid.cf()["grid_mapping_name"]
    parts = [grid.x[part] for part in window.cols]
    if len(parts) == 2:
        degrees = mapping.endswith("latitude_longitude")
        parts[1] = parts[1] + (360.0 if degrees else grid.shape[1] * (grid.x[1] - grid.x[0]))
    x = np.concatenate(parts)
    if mapping == "latitude_longitude":
        # The first longitude in [-180, 180), as boxes are written.
        x = x - 360.0 * np.floor((x[0] + 180.0) / 360.0)
    return np.ascontiguousarray(grid.y[window.rows]), np.ascontiguousarray(x)


def cached_grid(record: GridRecord, where: str) -> Grid:
    """The source grid of a tile, cached. An invalid definition is a TileError."""
    return _grid_of_text(json.dumps(record.definition, sort_keys=True), where)


def window_latlon(record: GridRecord, where: str) -> tuple[Floats, Floats]:
    """2-D latitudes and longitudes of a tile's points, without a jump at the dateline."""
    rows, columns = record.shape
    parts = [(start, stop) for start, stop in (record.rows, *record.cols)]
    if not 0 < rows * columns <= LIMIT_POINTS or any(stop - start > rows + columns for start, stop in parts):
        raise TileError(f"{where}: its window does not fit its {rows} × {columns} points")
    j = np.arange(*record.rows, dtype=np.float64)
    i = np.concatenate([np.arange(*part, dtype=np.float64) for part in record.cols])
    if (len(j), len(i)) != record.shape:
        raise TileError(f"{where}: its window does not fit its {rows} × {columns} points")
    lat, lon = cached_grid(record, where).latlon(j[:, None], i[None, :])
    return np.asarray(lat), unwrap_longitudes(np.asarray(lon))


def unwrap_longitudes(lon: Floats) -> Floats:
    """Longitudes within 180° of the middle point's, which is within ±180: no jump at the dateline."""
    if not lon.size:
        return lon
    middle = (lon[tuple(size // 2 for size in lon.shape)] + 180.0) % 360.0 - 180.0
    away = lon - middle
    return np.asarray(lon - 360.0 * np.round(away / 360.0))


@lru_cache(maxsize=32)
def _grid_of_text(text: str, where: str) -> Grid:
    spec: dict[str, Any] = json.loads(text)
    try:
        return grid_from_spec(spec)
    except (RegionError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise TileError(f"{where}: its meta has an invalid grid: {error}") from None
