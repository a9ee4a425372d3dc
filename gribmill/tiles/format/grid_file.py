"""grid.npz: the latitudes and longitudes of a region's points, stored once per run and region next to its tiles."""

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
from gribmill.storage.atomic import Check, link_atomic
from gribmill.storage.errors import Superseded
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.grid_record import window_latlon
from gribmill.tiles.format.meta import META, GridRecord
from gribmill.tiles.format.meta_member import read_meta_grid
from gribmill.tiles.format.npz_reader import Archive, Identity, identity_of
from gribmill.tiles.format.npz_writer import write_npz

# Grids change once every few years: if the latest runs do not have this grid, neither do earlier ones.
RUNS_LOOKED_AT = 4
# For larger grids, latitudes and longitudes are not stored: they would take many times the space of the tiles.
MOST_STORED = 2**24


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
