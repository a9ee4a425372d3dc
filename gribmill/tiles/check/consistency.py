"""Checks a tile's metadata against its arrays, its grid and its path in a data root."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gribmill.checked.table import plain
from gribmill.errors import GribmillError
from gribmill.identity import RUN_ID
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.storage.layout import minutes_of_tile_name, root_of_tile
from gribmill.tiles.build.region_cut import region_cut
from gribmill.tiles.format.grid_record import cached_grid
from gribmill.tiles.format.meta import META, GridRecord
from gribmill.tiles.read.tile import Tile

WINDOW_KEYS = ("kind", "shape", "source_shape", "rows", "cols", "mapping")


def region_of(tile: Tile) -> Region:
    """The region that a tile was cut for."""
    record = tile.meta.region
    return Region(record.name, Box(*record.box), record.title, record.resolution, record.method)


def wrong_coordinates(tile: Tile) -> str | None:
    """How the coordinates and the window contradict the grid; None if they agree."""
    try:
        cut = region_cut(cached_grid(tile.meta.grid, str(tile.path)), region_of(tile))
    except (GribmillError, ValueError) as error:
        return str(error)
    if cut is None or cut.record.shape != tile.shape:
        return "the region's box gives another window of the grid"
    if not (np.array_equal(cut.y, tile.y) and np.array_equal(cut.x, tile.x)):
        return "they differ from those of the grid in its meta"
    return _wrong_window(tile.meta.grid, cut.record)


def wrong_times(tile: Tile) -> str | None:
    """The first inconsistency of its times and its path; None if there is none."""
    return next(_time_faults(tile), None)


def _wrong_window(stated: GridRecord, found: GridRecord) -> str | None:
    before, after = (plain(record) for record in (stated, found))
    for key in WINDOW_KEYS:
        if not _same(before[key], after[key]):
            return f"its meta says {key} {before[key]}, its grid and region give {after[key]}"
    if not math.isclose(stated.cell_km, found.cell_km, rel_tol=1e-6):
        return f"its meta says cells of {stated.cell_km:g} km, its grid has {found.cell_km:g} km"
    return None


def _same(stated: Any, found: Any) -> bool:
    """Whether both are equal, with a tolerance for numbers: library versions may differ in the last digit."""
    if isinstance(stated, dict) and isinstance(found, dict):
        return stated.keys() == found.keys() and all(_same(stated[key], found[key]) for key in stated)
    if isinstance(stated, list) and isinstance(found, list):
        return len(stated) == len(found) and all(map(_same, stated, found))
    if isinstance(stated, float) or isinstance(found, float):
        numbers = isinstance(stated, int | float) and isinstance(found, int | float)
        return numbers and math.isclose(stated, found, rel_tol=1e-9, abs_tol=1e-12)
    return bool(stated == found)


def _time_faults(tile: Tile) -> Iterator[str]:
    meta, path = tile.meta, tile.path.absolute()
    for name, item in meta.variables.items():
        start, end = item.step_minutes
        if end != meta.minutes or start > end:
            yield f"{name} is for {start} to {end} minutes after the run, the tile for {meta.minutes}"
    stated = json.loads(tile.archive.read(META).tobytes())
    for key, value in (("hour", meta.hour), ("run_time", _iso(meta.run_time)), ("valid_time", _iso(meta.valid_time))):
        if key in stated and stated[key] != value:
            yield f"its meta says {key} {stated[key]!r}, its run and minutes give {value!r}"
    if root_of_tile(path) is None and not RUN_ID.fullmatch(path.parent.parent.name):
        return  # neither in a data root nor below a prefix of tiles
    minutes = minutes_of_tile_name(path.name)
    # The parts of the hour that ends at 003 are each stored as 003.npz of their model.
    if minutes is not None and minutes != meta.minutes and not (minutes % 60 == 0 and 0 < minutes - meta.minutes < 60):
        yield f"it is called {path.name}, its meta says {meta.minutes} minutes after the run"
    folders = {"model": meta.model, "run": meta.run, "region": meta.region.name}
    region = path.parent
    for (key, value), folder in zip(folders.items(), (region.parent.parent, region.parent, region), strict=True):
        if folder.name != value:
            yield f"it is in a folder {folder.name}, its meta says {key} {value}"


def _iso(moment: Any) -> str:
    return str(moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
