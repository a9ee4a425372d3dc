"""Tiles as xarray datasets that follow the CF conventions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from gribmill.grib.names.lexicon import lexicon
from gribmill.storage.object_path import ObjectPath
from gribmill.tiles.format.meta import Meta
from gribmill.tiles.read.cf_metadata import (
    GRID_MAPPING,
    attributes,
    bounds_names,
    encoding,
    global_attributes,
    tile_bounds,
    time64,
    window_of,
)
from gribmill.tiles.read.tile import Tile, read_tile
from gribmill.tiles.read.units import System, UnitChange, unit_change

# Reads a part of an array, indexed by integers and slices.
Read = Callable[[tuple[Any, ...]], np.ndarray[Any, Any]]
AXIS_ATTRIBUTES: dict[str, dict[str, str]] = {
    "lat": {"standard_name": "latitude", "long_name": "latitude", "units": "degrees_north"},
    "lon": {"standard_name": "longitude", "long_name": "longitude", "units": "degrees_east"},
    "y": {"standard_name": "projection_y_coordinate", "long_name": "y of the projection", "units": "m"},
    "x": {"standard_name": "projection_x_coordinate", "long_name": "x of the projection", "units": "m"},
}
ROTATED_ATTRIBUTES: dict[str, dict[str, str]] = {
    "y": {"standard_name": "grid_latitude", "long_name": "latitude in rotated pole grid", "units": "degrees"},
    "x": {"standard_name": "grid_longitude", "long_name": "longitude in rotated pole grid", "units": "degrees"},
}


def open_tile(path: str | os.PathLike[str] | ObjectPath, *, units: System = "native") -> xr.Dataset:
    """A tile as an xarray Dataset with its coordinates; values are read on access.

    `path` is a file, or the URL of a tile in an object store (s3://bucket/…/005.npz), from which only the required
    parts are read. `units`: as in the GRIB ("native"), the same for all models ("common"), "metric" or "us".
    """
    return dataset(read_tile(path), units=units)


def dataset(tile: Tile, drop: Collection[str] = (), units: System = "native") -> xr.Dataset:
    """The dataset of an open tile."""
    dims = ("lat", "lon") if tile.regular else ("y", "x")
    coordinates = {**space(tile), **time_coordinates(tile.meta)}
    names = [name for name in tile.names if name not in drop]
    windows = {name: [window_of(tile.meta.variables[name], tile.meta.minutes)] for name in names}
    labels = bounds_names(windows)
    bounds = tile_bounds(tile.meta.run_time, windows, labels)
    variables = {}
    for name in names:
        quantity = tile.meta.variables[name]
        change = unit_change(name, quantity, units)
        values = lazy(tile.shape, np.float32, ReadVariable(tile, name, change))
        attrs = attributes(quantity, change)
        how = encoding({**coordinates, **bounds}, dims, labels.get(name))
        variables[name] = xr.Variable(dims, values, attrs, how)
    return TileDataset(
        {**variables, **bounds, GRID_MAPPING: xr.Variable((), np.int32(0), dict(tile.meta.grid.mapping))},
        {name: value for name, value in coordinates.items() if name not in drop},
        global_attributes(tile.meta),
    )


class TileDataset(xr.Dataset):  # type: ignore[no-untyped-call]  # its __init_subclass__ has no types
    """`ds["ceil"]` finds a variable that is now called `ceil_msl`, with a single warning; and vice versa."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        """A variable, or a dataset with some of them."""
        if isinstance(key, str):
            key = self._name(key)
        elif isinstance(key, list):
            key = [self._name(one) for one in key]
        return super().__getitem__(key)

    def _name(self, name: Hashable) -> Hashable:
        if name in self or not isinstance(name, str):
            return name
        others = lexicon().other_names(name, str(self.attrs.get("model", "")))
        return next((one for one in others if one in self), name)


class LazyArray(BackendArray):
    """An array whose parts are read on access."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], read: Read) -> None:
        self.shape = shape
        self.dtype = dtype
        self._read = read

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)


class LatLonArrays:
    """2-D latitudes and longitudes, computed once for both."""

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self._lock = Lock()
        self._arrays: tuple[np.ndarray[Any, Any], ...] | None = None

    def __getitem__(self, number: int) -> np.ndarray[Any, Any]:
        with self._lock:
            if self._arrays is None:
                self._arrays = self._tile.latlon()
        return self._arrays[number]

    def __getstate__(self) -> Tile:
        return self._tile

    def __setstate__(self, tile: Tile) -> None:
        self.__init__(tile)  # type: ignore[misc]


class ReadVariable:
    """Reads a part of one variable; a class rather than a lambda, so that it can be pickled."""

    def __init__(self, tile: Tile, name: str, change: UnitChange) -> None:
        self.tile = tile
        self.name = name
        self.change = change

    def __call__(self, part: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        return np.require(self.change(self.tile.read_part(self.name, part)), requirements="W")


class ReadLatLon:
    """Reads the latitudes (0) or the longitudes (1) of a tile's points."""

    def __init__(self, pair: LatLonArrays, number: int) -> None:
        self.pair = pair
        self.number = number

    def __call__(self, part: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        return np.asarray(self.pair[self.number][part])


def lazy(shape: Sequence[int], dtype: Any, read: Read) -> Any:
    """An array for xarray that calls `read` for the parts that are accessed."""
    return indexing.LazilyIndexedArray(LazyArray(tuple(shape), np.dtype(dtype), read))


def space(tile: Tile) -> dict[str, xr.Variable]:
    """The coordinates of rows and columns, and on projected grids also of each point."""
    names = ("lat", "lon") if tile.regular else ("y", "x")
    rotated = tile.meta.grid.mapping.get("grid_mapping_name") == "rotated_latitude_longitude"
    own = ROTATED_ATTRIBUTES if rotated else AXIS_ATTRIBUTES
    axes = {
        name: xr.Variable((name,), values, {**own.get(name, AXIS_ATTRIBUTES[name]), "axis": axis})
        for name, values, axis in zip(names, (tile.y, tile.x), "YX", strict=True)
    }
    if tile.regular:
        return axes
    pair = LatLonArrays(tile)
    return axes | {
        name: xr.Variable(names, lazy(tile.shape, np.float64, ReadLatLon(pair, number)), AXIS_ATTRIBUTES[name])
        for number, name in enumerate(("lat", "lon"))
    }


def time_coordinates(meta: Meta) -> dict[str, xr.Variable]:
    """The run, the forecast period and the valid time; for an ensemble member also its number."""
    found = {
        "time": xr.Variable((), time64(meta.valid_time), {"standard_name": "time", "long_name": "valid time"}),
        "run": xr.Variable((), time64(meta.run_time), {"standard_name": "forecast_reference_time", "long_name": "run"}),
        "step": xr.Variable(
            (),
            step64(meta),
            {"standard_name": "forecast_period", "long_name": "time since the run"},
        ),
    }
    if "ensemble_member" in meta.identity:
        attrs = {"standard_name": "realization", "long_name": "ensemble member", "units": "1"}
        found["realization"] = xr.Variable((), np.int32(int(meta.identity["ensemble_member"])), attrs)
    return found


def step64(meta: Meta) -> np.timedelta64:
    """The time since the run as a NumPy timedelta."""
    return np.timedelta64(np.timedelta64(meta.minutes, "m"), "ns")
