"""Converts grids to records in a tile's `meta`, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError
from gribmill.regions.grids import MOST_POINTS, Grid, grid_from_spec
from gribmill.regions.window import Window
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import GridRecord

BLOCK_POINTS = 2**16  # computed at once, with about 5 MB of working memory


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
    """The coordinates of the window's rows and columns; longitudes continue past 180° without a jump."""
    mapping = grid.cf()["grid_mapping_name"]
    parts = [grid.x[part] for part in window.cols]
    if len(parts) == 2:
        degrees = mapping.endswith("latitude_longitude")
        parts[1] = parts[1] + (360.0 if degrees else grid.shape[1] * (grid.x[1] - grid.x[0]))
    x = np.concatenate(parts)
    if mapping == "latitude_longitude":
        # The first longitude is in [-180, 180), as in boxes.
        x = x - 360.0 * np.floor((x[0] + 180.0) / 360.0)
    return np.ascontiguousarray(grid.y[window.rows]), np.ascontiguousarray(x)


def cached_grid(record: GridRecord, where: str) -> Grid:
    """The source grid of a tile, cached. Raises TileError if its definition is invalid."""
    return _grid_of_text(json.dumps(record.definition, sort_keys=True), where)


def window_latlon(record: GridRecord, where: str) -> tuple[Floats, Floats]:
    """2-D latitudes and longitudes of a tile's points, without a jump at the dateline."""
    rows, columns = record.shape
    if rows * columns > MOST_POINTS:
        raise TileError(f"{where}: its window of {rows} × {columns} points is more than the limit of {MOST_POINTS}")
    grid = cached_grid(record, where)
    j = np.arange(*record.rows, dtype=np.float64)
    i = np.concatenate([np.arange(*part, dtype=np.float64) for part in record.cols])
    lat, lon = np.empty(record.shape), np.empty(record.shape)
    step = max(1, BLOCK_POINTS // columns)
    for begin in range(0, rows, step):
        block = slice(begin, begin + step)
        lat[block], lon[block] = grid.latlon(j[block, None], i[None, :])
    return lat, unwrap_longitudes(lon)


def unwrap_longitudes(lon: Floats) -> Floats:
    """Shifts longitudes to within 180° of the middle point, which is within ±180, so that they do not jump."""
    if not lon.size:
        return lon
    middle = (lon[tuple(size // 2 for size in lon.shape)] + 180.0) % 360.0 - 180.0
    if middle - 180.0 <= lon.min() and lon.max() <= middle + 180.0:
        return lon
    # In place on one new array: fields of a grid may have tens of millions of points.
    turns = lon - middle
    turns /= 360.0
    np.round(turns, out=turns)
    turns *= 360.0
    return np.asarray(np.subtract(lon, turns, out=turns))


@lru_cache(maxsize=32)
def _grid_of_text(text: str, where: str) -> Grid:
    spec: dict[str, Any] = json.loads(text)
    try:
        return grid_from_spec(spec)
    except (RegionError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise TileError(f"{where}: its meta has an invalid grid: {error}") from None
