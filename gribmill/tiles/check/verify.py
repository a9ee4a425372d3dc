"""Verifies a tile: reads all of it, recomputes its statistics, and compares it with its grid, path and GRIB file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gribmill.checked.table import plain
from gribmill.errors import GribmillError
from gribmill.grib.decode.field import Field, fields
from gribmill.grib.decode.winds import is_component
from gribmill.grib.errors import GribError
from gribmill.grib.messages import map_file
from gribmill.identity import HOUR_LIMIT, RUN_ID, HourRef
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.storage.layout import DataRoot, minutes_of_tile_name, root_of_tile
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.build.region_cut import FieldWindows, FillRule, ValueKind, WindComponent, WindPairs, region_cut
from gribmill.tiles.build.tile_writer import statistics
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import META, GridRecord, VariableMeta
from gribmill.tiles.format.tile_grid import cached_grid
from gribmill.tiles.read.tile import Tile, read_tile

# The offsets of messages in a tile's meta apply only to the file that was cut.
OTHER_FILE = (
    "{source} is not the file that was cut (SHA-256 differs). The chain cuts the messages that it fetched, "
    "not the published file: with keep_grib = true they stay in grib/MODEL/RUN of the data root"
)
CELL_SUFFIXES = ("_min", "_max", "_mean")
WINDOW_KEYS = ("kind", "shape", "source_shape", "rows", "cols", "mapping")


@dataclass(frozen=True, slots=True)
class TileCheck:
    """The result of one check: `good` is False if it failed, None if it could not be done."""

    what: str
    good: bool | None
    detail: str = ""


def verify(path: str | StoredPath, grib: str | Path | None = None, data: Path | None = None) -> list[TileCheck]:
    """All checks of one tile. Its GRIB file is the given one, or the one in the spool of `data` if it exists."""
    try:
        tile = read_tile(path)
    except TileError as error:
        return [TileCheck("the file", False, str(error))]
    checks = [TileCheck("the file", True, f"{tile.archive.size} bytes, {len(tile.names)} variables")]
    checks += _own_numbers(tile)
    checks += [_coordinates(tile), _times(tile)]
    source = Path(grib) if grib is not None else _spooled(tile, data)
    if source is None:
        checks.append(TileCheck("the GRIB", None, f"{tile.meta.source.name} is not available; give it with --grib"))
        return checks
    return [*checks, *_against_grib(tile, source)]


def _own_numbers(tile: Tile) -> Iterator[TileCheck]:
    """Checks the checksum and shape of each array, and its statistics against those in `meta`."""
    for name in tile.names:
        try:
            found = statistics(tile.read(name))
        except TileError as error:
            yield TileCheck(name, False, str(error))
            continue
        stated = tile.meta.variables[name]
        wrong = [key for key, value in found.items() if getattr(stated, key) != value]
        if wrong:
            detail = ", ".join(f"{key} is {found[key]}, stated {getattr(stated, key)}" for key in wrong)
            yield TileCheck(name, False, detail)
        else:
            yield TileCheck(name, True, f"min {stated.min}, max {stated.max}, {stated.missing} missing")


def _coordinates(tile: Tile) -> TileCheck:
    wrong = _wrong_coordinates(tile)
    return TileCheck("coordinates", wrong is None, wrong or f"{tile.shape[0]} × {tile.shape[1]} points")


def _wrong_coordinates(tile: Tile) -> str | None:
    """How the coordinates and the window contradict the grid; None if they agree."""
    try:
        cut = region_cut(cached_grid(tile.meta.grid, str(tile.path)), _region_of(tile))
    except (GribmillError, ValueError) as error:
        return str(error)
    if cut is None or cut.record.shape != tile.shape:
        return "the region's box gives another window of the grid"
    if not (np.array_equal(cut.y, tile.y) and np.array_equal(cut.x, tile.x)):
        return "they differ from those of the grid in its meta"
    return _wrong_window(tile.meta.grid, cut.record)


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


def _times(tile: Tile) -> TileCheck:
    wrong = next(_time_faults(tile), None)
    return TileCheck("times", wrong is None, wrong or f"{tile.meta.minutes} minutes after {tile.meta.run}")


def _time_faults(tile: Tile) -> Iterator[str]:
    """The inconsistencies of its times and its path."""
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


def _against_grib(tile: Tile, source: Path) -> list[TileCheck]:
    try:
        content = map_file(source)
        digest = hashlib.sha256(content).hexdigest()
        same = digest == tile.meta.source.sha256 and len(content) == tile.meta.source.bytes
        if not same:
            return [TileCheck("the GRIB", False, OTHER_FILE.format(source=source))]
        items = list(fields(content, str(source)))
    except GribError as error:
        return [TileCheck("the GRIB", False, str(error))]
    return [TileCheck("the GRIB", True, str(source)), *_each_against_grib(tile, items)]


def _each_against_grib(tile: Tile, items: list[Field]) -> Iterator[TileCheck]:
    by_place = {(item.offset, item.sub): item for item in items}
    winds: dict[tuple[int, int], FieldWindows | WindComponent] = {}
    all_winds = WindPairs(items)
    for name in tile.names:
        quantity = tile.meta.variables[name]
        item = by_place.get((quantity.offset, quantity.field))
        if item is None:
            yield TileCheck(name, False, f"there is no message at byte {quantity.offset}")
            continue
        try:
            yield _compare(tile, name, quantity, item, winds, all_winds)
        except GribmillError as error:
            yield TileCheck(name, False, str(error))


def _compare(
    tile: Tile,
    name: str,
    quantity: VariableMeta,
    item: Field,
    winds: dict[tuple[int, int], FieldWindows | WindComponent],
    all_winds: WindPairs,
) -> TileCheck:
    cut = region_cut(item.grid, _region_of(tile))
    if cut is None:
        return TileCheck(name, False, "the message's grid does not touch the region")
    key = (item.offset, item.sub)
    if key not in winds:
        rotated = quantity.winds == "earth" and is_component(item.keys) and item.grid_relative_winds
        component = all_winds.component(item, [cut]) if rotated else None
        winds[key] = component or FieldWindows.of(item, [cut], FillRule(quantity.fill_values, quantity.valid_min))
    parts = winds[key].cut(cut, _kind(quantity))
    suffix = next((end for end in CELL_SUFFIXES if name.endswith(end)), "") if len(parts) > 1 else ""
    expected = parts.get(suffix, parts[""])
    found = tile.read(name)
    if expected.shape != found.shape or not np.array_equal(expected, found, equal_nan=True):
        points = int((expected != found).sum()) if expected.shape == found.shape else found.size
        return TileCheck(name, False, f"{points} points differ from message {item.label} at byte {item.offset}")
    return TileCheck(name, True, f"equal to message {item.label} at byte {item.offset}")


def _kind(quantity: VariableMeta) -> ValueKind:
    if quantity.flag_values:
        return "code"
    return "angle" if quantity.method == "nearest" else "number"


def _spooled(tile: Tile, data: Path | None) -> Path | None:
    """The spooled GRIB file that the tile was cut from, if the tile is in a data root."""
    root = DataRoot(data) if data is not None else root_of_tile(tile.path)
    if root is None or tile.meta.hour > HOUR_LIMIT:
        return None
    path = root.spool(HourRef(tile.meta.model, tile.meta.run, tile.meta.hour), tile.meta.generation or 0)
    return path if path.is_file() else None


def _region_of(tile: Tile) -> Region:
    """The region that a tile was cut for."""
    record = tile.meta.region
    return Region(record.name, Box(*record.box), record.title, record.resolution, record.method)
