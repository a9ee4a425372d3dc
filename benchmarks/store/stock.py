"""The run that is measured: 49 hours of HRRR over New England with twelve variables, as tiles and as a zarr store."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import SCRATCH
from benchmarks.hours import made
from gribmill.regions.region import load_regions
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.build.build import build
from gribmill.tiles.build.region_cut import region_cut
from gribmill.tiles.format.tile_grid import cached_grid
from gribmill.tiles.read.tile import Tile, read_tile
from tests.tiles.make_tile import Fields, make_tile

HOURS, RUN, REGION = 49, "20260901_12", "ne"
LAT, LON = 42.36, -71.06


@dataclass(frozen=True)
class Stock:
    """The paths of the tiles and the zarr store, and the row and column of the place."""

    tiles: Path
    zarr: Path
    row: int
    column: int
    bytes_of_tile: int


def stock(python: Path) -> Stock:
    """Made once. All hours have the same fields, shifted by some columns, so that no two tiles are equal.

    Precipitation is the sum of the hour.
    """
    folder = SCRATCH / f"store-{RUN}-{HOURS}-sums"
    if not (folder / "ready").is_file():
        sys.stderr.write(f"making {HOURS} hours of tiles …\n")
        _make_tiles(folder)
        _make_zarr(folder, python)
        (folder / "ready").touch()
    tile = read_tile(TileFolder(folder, "hrrr", RUN, REGION).tile(60))
    row, column = (round(float(one)) for one in tile.locate(LAT, LON))
    return Stock(folder, folder / "zarr", row, column, tile.archive.size)


def _make_tiles(folder: Path) -> None:
    region = load_regions()[REGION]
    (first,) = build(made("hrrr"), [region], folder / "one", model="hrrr").tiles
    tile = read_tile(first.path)
    grid = cached_grid(tile.meta.grid, str(tile.path))
    cut = region_cut(grid, region)
    assert cut is not None
    arrays = {name: tile.read(name) for name in tile.names}
    for hour in range(1, HOURS + 1):
        fields: Fields = {}
        for name, values in arrays.items():
            whole = np.zeros(grid.shape, np.float32)
            rows, (columns,) = tile.meta.grid.rows, tile.meta.grid.cols
            whole[slice(*rows), slice(*columns)] = np.roll(values, 7 * hour, axis=1)
            fields[name] = (whole, _facts(tile, name, hour))
        make_tile(folder, fields, grid=grid, region=region, run=RUN, minutes=60 * hour)


def _facts(tile: Tile, name: str, hour: int) -> dict[str, Any]:
    meta = tile.meta.variables[name]
    found = {"units": meta.units, "long_name": meta.long_name, "standard_name": meta.standard_name, "level": meta.level}
    if meta.statistic == "accum":
        return {**found, "statistic": "accum", "step_minutes": (60 * (hour - 1), 60 * hour)}
    return found


def _make_zarr(folder: Path, python: Path) -> None:
    """The same values, passed as a NumPy file: the peers' environment has no gribmill."""
    tiles = DataRoot(folder).tile_folders("hrrr", RUN, REGION)
    paths = next(iter(tiles)).tiles().values()
    opened = [read_tile(path) for path in paths]
    arrays = {name: np.stack([tile.read(name) for tile in opened]) for name in opened[0].names}
    np.savez(folder / "values.npz", **arrays)  # type: ignore[arg-type]  # NumPy's stubs take the names for options
    code = (
        "import sys, numpy as np, xarray as xr\n"
        "values = np.load(sys.argv[1])\n"
        "data = xr.Dataset({name: (('time', 'y', 'x'), values[name]) for name in values.files})\n"
        "data.assign_coords(time=np.arange(data.sizes['time'])).to_zarr(sys.argv[2], zarr_format=2)\n"
    )
    subprocess.run([python, "-c", code, folder / "values.npz", folder / "zarr"], check=True)
