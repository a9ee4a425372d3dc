"""Grids as numbers in a tile's `meta`, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gribmill.regions.errors import RegionError
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import GridRecord

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid
    from gribmill.regions.window import Window

Floats = npt.NDArray[np.float64]
LIMIT_POINTS = 2**28


def record_of(grid: Grid, window: Window) -> GridRecord:
    """What a tile's `meta` says about its grid: the whole source grid, and the window cut from it."""
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


def axes_of(grid: Grid, window: Window) -> tuple[Floats, Floats]:
    """Coordinates of the window's rows and columns; longitudes go on past 180° without a jump."""
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
    """The source grid of a tile; the last few are remembered. Whatever is wrong is a TileError."""
    return _grid_of_text(json.dumps(record.definition, sort_keys=True), where)


def window_latlon(record: GridRecord, where: str) -> tuple[Floats, Floats]:
    """2-D latitudes and longitudes (without a jump at the dateline) of a tile's points."""
    rows, columns = record.shape
    parts = [(start, stop) for start, stop in (record.rows, *record.cols)]
    if not 0 < rows * columns <= LIMIT_POINTS or any(stop - start > rows + columns for start, stop in parts):
        raise TileError(f"{where}: its window does not fit its {rows} × {columns} points")
    j = np.arange(*record.rows, dtype=np.float64)
    i = np.concatenate([np.arange(*part, dtype=np.float64) for part in record.cols])
    if (len(j), len(i)) != record.shape:
        raise TileError(f"{where}: its window does not fit its {rows} × {columns} points")
    lat, lon = cached_grid(record, where).latlon(j[:, None], i[None, :])
    return np.asarray(lat), continuous(np.asarray(lon))


def continuous(lon: Floats) -> Floats:
    """Longitudes within 180° of the middle point's, which lies within ±180: no jump at the dateline."""
    if not lon.size:
        return lon
    middle = (lon[tuple(size // 2 for size in lon.shape)] + 180.0) % 360.0 - 180.0
    away = lon - middle
    return np.asarray(lon - 360.0 * np.round(away / 360.0))


@lru_cache(maxsize=32)
def _grid_of_text(text: str, where: str) -> Grid:
    from gribmill.regions.grids import grid_from_spec

    spec: dict[str, Any] = json.loads(text)
    try:
        return grid_from_spec(spec)
    except (RegionError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise TileError(f"{where}: its grid cannot be made from its meta: {error}") from None
