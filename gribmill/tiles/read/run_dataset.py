"""A whole run over one region: every available hour in one lazy dataset."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from gribmill.data_root import data_root
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.window_name import BUCKET, base_name
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.converted import converted_attributes, unit_change
from gribmill.tiles.read.dataset import (
    GRID_MAPPING,
    attributes,
    global_attributes,
    space,
    step64,
    time64,
    time_coordinates,
)
from gribmill.tiles.read.tile import Tile, cached_tile
from gribmill.tiles.read.time_bounds import Window, bounds_names, encoding, run_bounds, window_of
from gribmill.tiles.read.units import System


class HourlyArray(BackendArray):
    """One variable over all hours; an hour is read on access, and is NaN if it lacks the variable.

    `stored` are the arrays of the variable, hour by hour.
    """

    def __init__(self, stored: Sequence[str | None], tiles: Sequence[Tile], units: System = "native") -> None:
        self.units = units
        self.hours: list[tuple[Tile, str | None]] = list(zip(tiles, stored, strict=True))
        self.shape = (len(tiles), *tiles[0].shape)
        self.dtype = np.dtype(np.float32)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        hours, *rest = key
        inner = tuple(rest)
        if isinstance(hours, int | np.integer):
            return self._hour(*self.hours[int(hours)], inner)
        chosen: list[tuple[Tile, str | None]] = self.hours[hours]
        if len(chosen) == 1:  # a chunk of dask: nothing is copied
            return self._hour(*chosen[0], inner)[np.newaxis]
        found = np.empty((len(chosen), *np.broadcast_to(False, self.shape[1:])[inner].shape), np.float32)
        for number, (tile, stored) in enumerate(chosen):
            found[number] = self._hour(tile, stored, inner)
        return found

    def _hour(self, tile: Tile, stored: str | None, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        if stored is not None:
            change = unit_change(stored, tile.meta.variables[stored], self.units)
            return np.require(change(tile.read_part(stored, key)), requirements="W")
        return np.asarray(np.full(tile.shape, np.nan, np.float32)[key])


def open_run(
    model: str,
    run: str | None = None,
    region: str | None = None,
    *,
    data: str | Path | None = None,
    variables: Sequence[str] | None = None,
    units: System = "native",
) -> xr.Dataset:
    """Every hour of a run as one dataset over `time`; by default the newest run.

    Values are read on access: in chunks of dask if it is installed, otherwise hour by hour. `units` are those of
    the GRIB ("native"), one per quantity whatever the model ("common"), or "metric" or "us".
    """
    folder = find_folder(data_root(data), model, run, region)
    tiles = read_folder(folder)
    first = tiles[0]
    dims = ("time", *(("lat", "lon") if first.regular else ("y", "x")))
    token = _token(tiles) if importlib.util.find_spec("dask") else None
    coordinates = {**space(first), **_times(tiles)}
    stored = {name: stored_names(name, tiles) for name in _names(tiles, variables, folder)}
    windows = {name: _windows(each, tiles) for name, each in stored.items()}
    labels = bounds_names(windows)
    coordinates |= run_bounds(first.meta.run_time, windows, labels, coordinates["time"])
    found: dict[str, xr.Variable] = {}
    for name, each in stored.items():
        array, quantity = next(
            (array, tile.meta.variables[array]) for tile, array in zip(tiles, each, strict=True) if array
        )
        attrs = converted_attributes(attributes(quantity), quantity, unit_change(array, quantity, units))
        lazy = indexing.LazilyIndexedArray(HourlyArray(each, tiles, units))
        how = encoding(coordinates, dims, labels.get(name))
        variable = xr.Variable(dims, lazy, _common_attributes(attrs), how)
        found[name] = variable.chunk({"time": 1}, name=f"{name}-{units}-{token}") if token else variable
    mapping = xr.Variable((), np.int32(0), dict(first.meta.grid.mapping))
    return xr.Dataset({**found, GRID_MAPPING: mapping}, coordinates, global_attributes(first.meta))


def find_folder(root: Path, model: str, run: str | None, region: str | None) -> TileFolder:
    """The folder of a run; by default that of the newest run that has tiles."""
    candidates = [folder for folder in DataRoot(root).tile_folders(model, run, region) if folder.tiles()]
    if not candidates:
        wanted = " ".join(part for part in (model, run, region) if part)
        raise TileError(f"there are no tiles of {wanted} under {DataRoot(root).tiles}")
    newest = [folder for folder in candidates if folder.run == candidates[0].run]
    if len(newest) > 1:
        choices = ", ".join(folder.region for folder in newest)
        raise TileError(f"{model} {newest[0].run} has several regions; choose one of: {choices}")
    return newest[0]


def read_folder(folder: TileFolder) -> list[Tile]:
    """Every tile of a folder, ordered by time; all must be on the same grid."""
    tiles: list[Tile] = []
    for path in folder.tiles().values():
        tiles.append(cached_tile(path, tiles[0] if tiles else None))
    if not tiles:
        raise TileError(f"there are no tiles in {folder.path}")
    for tile in tiles[1:]:
        if tile.meta.grid != tiles[0].meta.grid:
            raise TileError(f"{tile.path} is on another grid than {tiles[0].path.name} of the same run")
    return tiles


def _names(tiles: Sequence[Tile], wanted: Sequence[str] | None, folder: TileFolder) -> list[str]:
    known = sorted({name for tile in tiles for name in tile.meta.variables})
    if wanted is None:
        # Hours that were cut by an earlier version may have the same variable under an old name.
        renamed = lexicon().renamed
        return [name for name in known if name not in renamed or {*renamed[name]}.isdisjoint(known)]
    for name in wanted:
        if name not in known and not any(tile.find(name) for tile in tiles):
            raise TileError(f"no tile in {folder.path} has {name}; they have {', '.join(known)}")
    return list(wanted)


def stored_names(name: str, tiles: Sequence[Tile]) -> list[str | None]:
    """The array of a variable in each tile; None where a tile has none.

    In the first hours the run's total is the bucket, where it is no longer than those of later hours.
    """
    found = [tile.find(name) for tile in tiles]
    if not name.endswith(BUCKET):
        return found
    longest = max((_length(tile, each) for tile, each in zip(tiles, found, strict=True) if each), default=0)
    total = base_name(name)
    return [
        total if each is None and total in tile.meta.variables and 0 < _length(tile, total) <= longest else each
        for tile, each in zip(tiles, found, strict=True)
    ]


def _length(tile: Tile, name: str) -> int:
    start, end = tile.meta.variables[name].step_minutes
    return end - start


def _windows(stored: Sequence[str | None], tiles: Sequence[Tile]) -> list[Window]:
    return [
        window_of(tile.meta.variables[name] if name else None, tile.meta.minutes)
        for tile, name in zip(tiles, stored, strict=True)
    ]


def _common_attributes(attrs: dict[str, Any]) -> dict[str, Any]:
    """Attributes that apply to every hour: the time range of one hour does not."""
    return {name: value for name, value in attrs.items() if name != "step_hours"}


def _times(tiles: Sequence[Tile]) -> dict[str, xr.Variable]:
    first = time_coordinates(tiles[0].meta)
    time = np.array([time64(tile.meta.valid_time) for tile in tiles])
    step = np.array([step64(tile.meta) for tile in tiles])
    return {
        **{name: value for name, value in first.items() if name == "realization"},
        "run": first["run"],
        "time": xr.Variable(("time",), time, first["time"].attrs),
        "step": xr.Variable(("time",), step, first["step"].attrs),
    }


def _token(tiles: Sequence[Tile]) -> str:
    """Identifies these files; dask would otherwise pickle every tile to do so."""
    return hashlib.sha256(repr([(str(tile.path), tile.archive.identity) for tile in tiles]).encode()).hexdigest()[:32]
