"""The xarray backend: `xarray.open_dataset(path, engine="gribmill")`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import xarray as xr
from xarray.backends import BackendEntrypoint

from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import META
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.read.dataset import dataset
from gribmill.tiles.read.tile import read_tile
from gribmill.tiles.read.units import System


class GribmillEntrypoint(BackendEntrypoint):
    """Opens gribmill tiles. Values are read on access; `chunks={}` makes them dask arrays."""

    description = "Open gribmill tiles (.npz)"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "units")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        units: System = "native",
    ) -> xr.Dataset:
        """One tile as a dataset; `units` as in `open_tile`."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            raise TileError("a tile is opened by its path")
        drop = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        return dataset(read_tile(filename_or_obj), drop, units)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """True for NPZ files with the `meta` array of a tile."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        if not str(filename_or_obj).endswith(".npz"):
            return False
        try:
            return META in Archive(filename_or_obj)
        except TileError:
            return False
