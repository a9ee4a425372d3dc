"""Opens several runs over one region, to compare forecasts for the same time from different runs."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from gribmill.identity import run_time
from gribmill.storage.open_root import open_root
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.dataset import GRID_MAPPING, global_attributes, space, time64, time_coordinates
from gribmill.tiles.read.run_choice import SEAMLESS
from gribmill.tiles.read.run_dataset import (
    HourlyArray,
    common_attributes,
    file_token,
    find_choice,
    read_folder,
    stored_names,
)
from gribmill.tiles.read.tile import Tile
from gribmill.tiles.read.tile_dataset import TileDataset
from gribmill.tiles.read.units import System


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
    return _dataset(tiles, variables, units)


def _dataset(runs: Sequence[dict[int, Tile]], variables: Sequence[str] | None, units: System) -> xr.Dataset:
    every = [tile for run in runs for tile in run.values()]
    first = every[0]
    for tile in every:
        if tile.meta.grid != first.meta.grid:
            raise TileError(f"{tile.path} is on another grid than {first.path}: choose runs of one grid")
    steps = sorted({step for run in runs for step in run})
    names = _names(every, variables)
    token = file_token(every) if importlib.util.find_spec("dask") else None
    dims = ("run", "step", *(("lat", "lon") if first.regular else ("y", "x")))
    found: dict[str, xr.Variable] = {}
    for name in names:
        rows = [_row(name, run, steps, units) for run in runs]
        attrs = common_attributes(stored_names(name, every), every, units)
        variable = xr.Variable(dims, indexing.LazilyIndexedArray(RunsArray(rows)), attrs)
        found[name] = variable.chunk({"run": 1, "step": 1}, name=f"{name}-{units}-runs-{token}") if token else variable
    mapping = xr.Variable((), np.int32(0), dict(first.meta.grid.mapping))
    ids = [next(iter(run.values())).meta.run for run in runs]
    about = {**global_attributes(every[-1].meta), "runs": ", ".join(ids)}
    about.pop("run_id", None)
    return TileDataset({**found, GRID_MAPPING: mapping}, {**space(first), **_axes(first, ids, steps)}, about)


def _row(name: str, run: dict[int, Tile], steps: Sequence[int], units: System) -> HourlyArray:
    """One variable in one run, over the steps of all runs."""
    stored = dict(zip(run, stored_names(name, list(run.values())), strict=True))
    return HourlyArray([stored.get(step) for step in steps], [run.get(step) for step in steps], units)


def _axes(first: Tile, ids: Sequence[str], steps: Sequence[int]) -> dict[str, xr.Variable]:
    like = time_coordinates(first.meta)
    starts = np.array([time64(run_time(run)) for run in ids])
    since = np.array([np.timedelta64(step, "m").astype("timedelta64[ns]") for step in steps])
    return {
        "run": xr.Variable(("run",), starts, like["run"].attrs),
        "step": xr.Variable(("step",), since, like["step"].attrs),
        "time": xr.Variable(("run", "step"), starts[:, None] + since[None, :], like["time"].attrs),
    }


def _names(tiles: Sequence[Tile], wanted: Sequence[str] | None) -> list[str]:
    known = sorted({name for tile in tiles for name in tile.meta.variables})
    for name in wanted or ():
        if not any(tile.find(name) for tile in tiles):
            raise TileError(f"no tile of these runs has {name}; they have {', '.join(known)}")
    return known if wanted is None else list(wanted)
