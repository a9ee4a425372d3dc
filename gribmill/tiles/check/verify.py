"""Is a tile what it says? Read again in full, its numbers worked out anew, and held against its GRIB."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.decode.winds import is_component
from gribmill.grib.errors import GribError
from gribmill.grib.messages import map_file
from gribmill.identity import HOUR_LIMIT, HourRef
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.storage.layout import DataRoot, root_of_tile
from gribmill.tiles.build.region_cut import region_cut
from gribmill.tiles.build.rotate_winds import FieldWindows, WindComponent, WindPairs
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.grid_record import cached_grid
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.format.statistics import statistics
from gribmill.tiles.read.tile import Tile, read_tile

# Where messages lie, and which there are, is told of the file that was cut alone.
OTHER_FILE = (
    "{source} is not the file that was cut (SHA-256), and is not compared. The chain cuts the messages it fetched, "
    "not the published file: with keep_grib = true they stay in grib/MODEL/RUN/HOUR.grib2 of the data root"
)
CELL_SUFFIXES = ("_min", "_max", "_mean")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: `good` is False for a fault, None where it could not be looked at."""

    what: str
    good: bool | None
    detail: str = ""


def verify(path: str | Path, grib: str | Path | None = None, data: Path | None = None) -> list[Check]:
    """Every check of one tile. Its GRIB is the one named, or the one in the spool of `data` if it is there."""
    try:
        tile = read_tile(path)
    except TileError as error:
        return [Check("the file", False, str(error))]
    checks = [Check("the file", True, f"{tile.archive.size} bytes, {len(tile.names)} variables")]
    checks += _own_numbers(tile)
    checks.append(_coordinates(tile))
    source = Path(grib) if grib is not None else _spooled(tile, data)
    if source is None:
        checks.append(Check("the GRIB", None, f"{tile.meta.source.name} is not at hand: name it with --grib"))
        return checks
    return [*checks, *_against_grib(tile, source)]


def _own_numbers(tile: Tile) -> Iterator[Check]:
    """Checksum and shape of each array, and its statistics against those in `meta`."""
    for name in tile.names:
        try:
            found = statistics(tile.read(name))
        except TileError as error:
            yield Check(name, False, str(error))
            continue
        told = tile.meta.variables[name]
        wrong = [key for key, value in found.items() if getattr(told, key) != value]
        if wrong:
            told_values = ", ".join(f"{key} {getattr(told, key)} told, {found[key]} found" for key in wrong)
            yield Check(name, False, told_values)
        else:
            yield Check(name, True, f"min {told.min}, max {told.max}, {told.missing} missing")


def _coordinates(tile: Tile) -> Check:
    try:
        region = region_cut(cached_grid(tile.meta.grid, str(tile.path)), _region(tile))
    except (TileError, ValueError) as error:
        return Check("coordinates", False, str(error))
    if region is None or region.record.shape != tile.shape:
        return Check("coordinates", False, "the region's box gives another window of the grid")
    if not (np.array_equal(region.y, tile.y) and np.array_equal(region.x, tile.x)):
        return Check("coordinates", False, "they are not those of the grid in its meta")
    return Check("coordinates", True, f"{tile.shape[0]} × {tile.shape[1]} points")


def _against_grib(tile: Tile, source: Path) -> list[Check]:
    try:
        content = map_file(source)
        digest = hashlib.sha256(content).hexdigest()
        same = digest == tile.meta.source.sha256 and len(content) == tile.meta.source.bytes
        if not same:
            return [Check("the GRIB", False, OTHER_FILE.format(source=source))]
        items = list(fields(content, str(source)))
    except GribError as error:
        return [Check("the GRIB", False, str(error))]
    return [Check("the GRIB", True, str(source)), *_each_against_grib(tile, items)]


def _each_against_grib(tile: Tile, items: list[Field]) -> Iterator[Check]:
    by_place = {(item.offset, item.sub): item for item in items}
    winds: dict[tuple[int, int], FieldWindows | WindComponent] = {}
    all_winds = WindPairs(items)
    for name in tile.names:
        quantity = tile.meta.variables[name]
        item = by_place.get((quantity.offset, quantity.field))
        if item is None:
            yield Check(name, False, f"there is no message at byte {quantity.offset}")
            continue
        try:
            yield _compare(tile, name, quantity, item, winds, all_winds)
        except (GribError, TileError) as error:
            yield Check(name, False, str(error))


def _compare(
    tile: Tile,
    name: str,
    quantity: VariableMeta,
    item: Field,
    winds: dict[tuple[int, int], FieldWindows | WindComponent],
    all_winds: WindPairs,
) -> Check:
    region = region_cut(item.grid, _region(tile))
    if region is None:
        return Check(name, False, "the message's grid does not touch the region")
    key = (item.offset, item.sub)
    if key not in winds:
        turning = quantity.winds == "earth" and is_component(item.keys) and item.grid_relative_winds
        component = all_winds.component(item, [region]) if turning else None
        winds[key] = component or FieldWindows.of(item, [region])
    parts = winds[key].cut(region, angle=quantity.method == "nearest")
    suffix = next((end for end in CELL_SUFFIXES if name.endswith(end)), "") if len(parts) > 1 else ""
    expected = parts.get(suffix, parts[""])
    found = tile.read(name)
    if expected.shape != found.shape or not np.array_equal(expected, found, equal_nan=True):
        points = int((expected != found).sum()) if expected.shape == found.shape else found.size
        return Check(name, False, f"{points} points differ from message {item.label} at byte {item.offset}")
    return Check(name, True, f"equal to message {item.label} at byte {item.offset}")


def _region(tile: Tile) -> Region:
    place = tile.meta.region
    return Region(place.name, Box(*place.box), place.title, place.resolution, place.method)


def _spooled(tile: Tile, data: Path | None) -> Path | None:
    """The GRIB in the spool that the tile was cut from, where the tile lies in its data root."""
    root = DataRoot(data) if data is not None else root_of_tile(tile.path)
    if root is None or tile.meta.hour > HOUR_LIMIT:
        return None
    path = root.spool(HourRef(tile.meta.model, tile.meta.run, tile.meta.hour))
    return path if path.is_file() else None
