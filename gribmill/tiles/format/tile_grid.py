"""The grid of a tile: its record in `meta`, its coordinates, and grid.npz.

grid.npz has the latitudes and longitudes of a region's points. It is stored once per run and region, next to the tiles.
"""

from __future__ import annotations

import contextlib
import json
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.checked.table import plain
from gribmill.regions.errors import RegionError
from gribmill.regions.grids import MOST_POINTS, Grid, grid_from_spec
from gribmill.regions.window import Window
from gribmill.storage.atomic import Check, link_atomic
from gribmill.storage.errors import Superseded
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import META, GridRecord
from gribmill.tiles.format.meta_member import read_meta_grid
from gribmill.tiles.format.npz_reader import Archive, Identity, identity_of
from gribmill.tiles.format.npz_writer import write_npz

BLOCK_POINTS = 2**16  # computed at once, with about 5 MB of working memory
# Grids change once every few years: if the latest runs do not have this grid, neither do earlier ones.
RUNS_LOOKED_AT = 4
# For larger grids, latitudes and longitudes are not stored: they would take many times the space of the tiles.
MOST_STORED = 2**24


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


def write_grid(folder: TileFolder, record: GridRecord, y: Floats, x: Floats) -> None:
    """Write grid.npz unless it exists. A file for another window is kept if other tiles in the folder use that window.

    The runs of a model share one file through hard links: its points are computed and stored once.
    """
    path = folder.grid
    content = plain(record)
    if _keeps(path, folder, content):
        return

    def check() -> None:
        # Checked again: another process may meanwhile have written it and other tiles beside it.
        if _keeps(path, folder, content):
            raise Superseded(f"{path} is there already")

    with contextlib.suppress(Superseded):
        _write(path, folder, record, content, y, x, check)


def _write(
    path: StoredPath,
    folder: TileFolder,
    record: GridRecord,
    content: dict[str, Any],
    y: Floats,
    x: Floats,
    check: Check,
) -> None:
    if isinstance(folder.root, Path) and _link_to_other_run(folder.root, folder, content, check):
        return
    about = {"format": 1, "grid": content}
    text = json.dumps(about, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    arrays: dict[str, npt.NDArray[Any]] = {META: np.array(text.encode())}
    if record.kind == "regular":
        arrays |= {"lat": y, "lon": x}
    else:
        arrays |= {"y": y, "x": x}
        if record.shape[0] * record.shape[1] <= MOST_STORED:
            lat, lon = window_latlon(record, str(path))
            arrays |= {"lat": lat, "lon": lon}
    write_npz(path, arrays, check=check)


def _link_to_other_run(root: Path, folder: TileFolder, content: dict[str, Any], check: Check) -> bool:
    path = folder.grid
    for other in islice(DataRoot(root).tile_folders(folder.model, region=folder.region), RUNS_LOOKED_AT):
        source = other.grid
        if source != path and _described_by(source) == content and link_atomic(source, path, check):
            return True
    return False


def _keeps(path: StoredPath, folder: TileFolder, content: dict[str, Any]) -> bool:
    """Whether to keep the existing grid file. A single hour on another grid must not replace it."""
    there = _described_by(path)
    if there is None:
        return False  # absent or damaged
    return bool(there == content) or any(_described_by(tile) == there for tile in folder.tiles().values())


def _described_by(path: StoredPath) -> Any:
    """The grid in a file's `meta`; None if the file is absent or damaged."""
    try:
        return _read(path, identity_of(path.stat()))
    except (TileError, OSError):
        return None


# Cached: called for every tile that is written.
@lru_cache(maxsize=256)
def _read(path: StoredPath, identity: Identity) -> Any:
    return read_meta_grid(Archive(path))
