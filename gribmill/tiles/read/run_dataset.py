"""Opens one run, or several, over one region as one lazy dataset with all available hours.

Several runs are for comparing forecasts for the same time.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.time_range import BUCKET, base_name
from gribmill.identity import run_time
from gribmill.storage.open_root import open_root
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.cf_metadata import (
    GRID_MAPPING,
    MinuteRange,
    attributes,
    bounds_names,
    encoding,
    global_attributes,
    run_bounds,
    time64,
    window_of,
)
from gribmill.tiles.read.dataset import TileDataset, space, step64, time_coordinates
from gribmill.tiles.read.open_tiles import read_folder, seamless_tiles
from gribmill.tiles.read.run_choice import SEAMLESS, find_choice
from gribmill.tiles.read.tile import Tile
from gribmill.tiles.read.units import System, unit_change

ACCUMULATED = "accum"


def open_run(
    model: str,
    run: str | None = None,
    region: str | None = None,
    *,
    data: str | Path | None = None,
    variables: Sequence[str] | None = None,
    units: System = "native",
) -> xr.Dataset:
    """All hours of a run as one dataset over `time`.

    `run` is `complete` (the default: the newest complete run), `newest`, `seamless` or YYYYMMDD_HH; the attribute
    `run_choice` explains the choice. With `seamless`, each hour is from the newest run that has it, and `run` is a
    coordinate over `time`; totals since the start of a run cannot be joined, and are left out unless named. Values are
    read on access: as dask chunks if dask is installed, otherwise hour by hour. `units`: as in the GRIB ("native"), the
    same for all models ("common"), "metric" or "us".
    """
    choice = find_choice(open_root(data), model, run, region)
    tiles = read_folder(choice.folders[0]) if choice.asked != SEAMLESS else seamless_tiles(choice)
    first = tiles[0]
    dims = ("time", *(("lat", "lon") if first.regular else ("y", "x")))
    token = _file_token(tiles) if importlib.util.find_spec("dask") else None
    coordinates = {**space(first), **_times(tiles)}
    names = _names(tiles, variables, f"in {choice.folders[0].path}")
    totals = [name for name in names if variables is None and _is_total_of_several(name, tiles)]
    stored = {name: _stored_names(name, tiles) for name in names if name not in totals}
    windows = {name: _windows(each, tiles) for name, each in stored.items()}
    labels = bounds_names(windows)
    coordinates |= run_bounds(first.meta.run_time, windows, labels, coordinates["time"])
    found: dict[str, xr.Variable] = {}
    for name, each in stored.items():
        lazy = indexing.LazilyIndexedArray(HourlyArray(each, tiles, units))
        how = encoding(coordinates, dims, labels.get(name))
        variable = xr.Variable(dims, lazy, _common_attributes(each, tiles, units), how)
        found[name] = variable.chunk({"time": 1}, name=f"{name}-{units}-{token}") if token else variable
    mapping = xr.Variable((), np.int32(0), dict(first.meta.grid.mapping))
    about = {**global_attributes(first.meta), "run_id": choice.run, "run_choice": choice.sentence}
    if totals:
        about["left_out"] = f"totals since the start of different runs: {', '.join(totals)}"
    return TileDataset({**found, GRID_MAPPING: mapping}, coordinates, about)


def open_runs(
    model: str,
    runs: int | Sequence[str] | None = None,
    region: str | None = None,
    *,
    data: str | Path | None = None,
    variables: Sequence[str] | None = None,
    units: System = "native",
) -> xr.Dataset:
    """Several runs as one dataset over `run` and `step`, with the valid times as `time(run, step)`.

    `runs` are run ids, or the number of newest runs; by default all available ones. Steps that a run does not have are
    NaN. Values are read on access; `units` as in `open_run`.
    """
    folders = find_choice(open_root(data), model, SEAMLESS, region).folders
    if isinstance(runs, int):
        if runs < 1:
            raise TileError(f"{runs} runs: ask for at least one")
        folders = folders[:runs]
    elif runs is not None:
        wanted = [runs] if isinstance(runs, str) else list(runs)
        missing = [run for run in wanted if run not in {folder.run for folder in folders}]
        if missing or not wanted:
            there = ", ".join(folder.run for folder in folders)
            raise TileError(f"there are no tiles of {model} {', '.join(missing)}; there are {there}")
        folders = tuple(folder for folder in folders if folder.run in wanted)
    tiles = [{tile.meta.minutes: tile for tile in read_folder(folder)} for folder in reversed(folders)]
    return _runs_dataset(tiles, variables, units)


class HourlyArray(BackendArray):
    """One variable over all hours, each read on access; NaN for hours without a tile or without the variable.

    `stored` are the names of its array, hour by hour.
    """

    def __init__(self, stored: Sequence[str | None], tiles: Sequence[Tile | None], units: System = "native") -> None:
        self.units = units
        self.hours: list[tuple[Tile | None, str | None]] = list(zip(tiles, stored, strict=True))
        self.shape = (len(tiles), *next(tile for tile in tiles if tile is not None).shape)
        self.dtype = np.dtype(np.float32)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self.read)

    def read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """A part of one or several hours."""
        hours, *rest = key
        inner = tuple(rest)
        if isinstance(hours, int | np.integer):
            return self._hour(*self.hours[int(hours)], inner)
        chosen: list[tuple[Tile | None, str | None]] = self.hours[hours]
        if len(chosen) == 1:  # a dask chunk: nothing is copied
            return self._hour(*chosen[0], inner)[np.newaxis]
        found = np.empty((len(chosen), *np.broadcast_to(False, self.shape[1:])[inner].shape), np.float32)
        for number, (tile, stored) in enumerate(chosen):
            found[number] = self._hour(tile, stored, inner)
        return found

    def _hour(self, tile: Tile | None, stored: str | None, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        if tile is not None and stored is not None:
            change = unit_change(stored, tile.meta.variables[stored], self.units)
            return np.require(change(tile.read_part(stored, key)), requirements="W")
        return np.asarray(np.full(self.shape[1:], np.nan, np.float32)[key])


class RunsArray(BackendArray):
    """One variable over runs and steps; NaN for steps that a run does not have."""

    def __init__(self, rows: Sequence[HourlyArray]) -> None:
        self.rows = rows
        self.shape = (len(rows), *rows[0].shape)
        self.dtype = np.dtype(np.float32)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        runs, *rest = key
        if isinstance(runs, int | np.integer):
            return self.rows[int(runs)].read(tuple(rest))
        chosen = self.rows[runs]
        shape = np.broadcast_to(False, self.shape[1:])[tuple(rest)].shape
        found = np.empty((len(chosen), *shape), np.float32)
        for number, row in enumerate(chosen):
            found[number] = row.read(tuple(rest))
        return found


def _names(tiles: Sequence[Tile], wanted: Sequence[str] | None, place: str) -> list[str]:
    known = sorted({name for tile in tiles for name in tile.meta.variables})
    if wanted is None:
        # Tiles cut by an earlier version may have the same variable under an old name.
        renamed = lexicon().renamed
        return [name for name in known if name not in renamed or {*renamed[name]}.isdisjoint(known)]
    for name in wanted:
        if name not in known and not any(tile.find(name) for tile in tiles):
            raise TileError(f"no tile {place} has {name}; they have {', '.join(known)}")
    return list(wanted)


def _stored_names(name: str, tiles: Sequence[Tile]) -> list[str | None]:
    """The array name of a variable in each tile; None for tiles without it.

    In the first hours, the run total is used as the bucket if it is not longer than the buckets of later hours.
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


def _windows(stored: Sequence[str | None], tiles: Sequence[Tile]) -> list[MinuteRange]:
    """The time ranges in minutes since the run of the first tile."""
    found: list[MinuteRange] = []
    for tile, name in zip(tiles, stored, strict=True):
        start, end = window_of(tile.meta.variables[name] if name else None, tile.meta.minutes)
        shift = (tile.meta.run_time - tiles[0].meta.run_time) // timedelta(minutes=1)
        found.append((start + shift, end + shift))
    return found


def _common_attributes(stored: Sequence[str | None], tiles: Sequence[Tile], units: System) -> dict[str, Any]:
    """The attributes of a variable that apply to all hours, which excludes the time range of one hour."""
    array, quantity = next(
        (array, tile.meta.variables[array]) for tile, array in zip(tiles, stored, strict=True) if array
    )
    attrs = attributes(quantity, unit_change(array, quantity, units))
    return {key: value for key, value in attrs.items() if key != "step_hours"}


def _is_total_of_several(name: str, tiles: Sequence[Tile]) -> bool:
    """Whether the tiles are from several runs, and this is a sum over more than the time between two hours."""
    if len({tile.meta.run for tile in tiles}) < 2:
        return False
    times = [tile.meta.valid_time for tile in tiles]
    shortest = min(after - before for before, after in pairwise(times)) // timedelta(minutes=1)
    held = [tile.meta.variables[stored] for tile in tiles if (stored := tile.find(name)) is not None]
    lengths = (one.step_minutes[1] - one.step_minutes[0] for one in held if one.statistic == ACCUMULATED)
    return any(length > shortest for length in lengths)


def _times(tiles: Sequence[Tile]) -> dict[str, xr.Variable]:
    first = time_coordinates(tiles[0].meta)
    time = np.array([time64(tile.meta.valid_time) for tile in tiles])
    step = np.array([step64(tile.meta) for tile in tiles])
    runs = np.array([time64(tile.meta.run_time) for tile in tiles])
    several = len({*runs.tolist()}) > 1
    return {
        **{name: value for name, value in first.items() if name == "realization"},
        "run": xr.Variable(("time",), runs, first["run"].attrs) if several else first["run"],
        "time": xr.Variable(("time",), time, first["time"].attrs),
        "step": xr.Variable(("time",), step, first["step"].attrs),
    }


def _file_token(tiles: Sequence[Tile]) -> str:
    """Identifies these files; without it, dask would pickle every tile to compute a token."""
    return hashlib.sha256(repr([(str(tile.path), tile.archive.identity) for tile in tiles]).encode()).hexdigest()[:32]


def _runs_dataset(runs: Sequence[dict[int, Tile]], variables: Sequence[str] | None, units: System) -> xr.Dataset:
    every = [tile for run in runs for tile in run.values()]
    first = every[0]
    for tile in every:
        if tile.meta.grid != first.meta.grid:
            raise TileError(f"{tile.path} is on another grid than {first.path}: choose runs of one grid")
    steps = sorted({step for run in runs for step in run})
    names = _names(every, variables, "of these runs")
    token = _file_token(every) if importlib.util.find_spec("dask") else None
    dims = ("run", "step", *(("lat", "lon") if first.regular else ("y", "x")))
    found: dict[str, xr.Variable] = {}
    for name in names:
        rows = [_row(name, run, steps, units) for run in runs]
        attrs = _common_attributes(_stored_names(name, every), every, units)
        variable = xr.Variable(dims, indexing.LazilyIndexedArray(RunsArray(rows)), attrs)
        found[name] = variable.chunk({"run": 1, "step": 1}, name=f"{name}-{units}-runs-{token}") if token else variable
    mapping = xr.Variable((), np.int32(0), dict(first.meta.grid.mapping))
    ids = [next(iter(run.values())).meta.run for run in runs]
    about = {**global_attributes(every[-1].meta), "runs": ", ".join(ids)}
    about.pop("run_id", None)
    return TileDataset({**found, GRID_MAPPING: mapping}, {**space(first), **_axes_of_several(first, ids, steps)}, about)


def _row(name: str, run: dict[int, Tile], steps: Sequence[int], units: System) -> HourlyArray:
    """One variable in one run, over the steps of all runs."""
    stored = dict(zip(run, _stored_names(name, list(run.values())), strict=True))
    return HourlyArray([stored.get(step) for step in steps], [run.get(step) for step in steps], units)


def _axes_of_several(first: Tile, ids: Sequence[str], steps: Sequence[int]) -> dict[str, xr.Variable]:
    like = time_coordinates(first.meta)
    starts = np.array([time64(run_time(run)) for run in ids])
    since = np.array([np.timedelta64(step, "m").astype("timedelta64[ns]") for step in steps])
    return {
        "run": xr.Variable(("run",), starts, like["run"].attrs),
        "step": xr.Variable(("step",), since, like["step"].attrs),
        "time": xr.Variable(("run", "step"), starts[:, None] + since[None, :], like["time"].attrs),
    }
