"""Which points of a grid are inside a box, from 2-D latitudes and longitudes, as most programs do it."""

from __future__ import annotations

from typing import Any

import numpy as np


def mask(lat: Any, lon: Any, box: tuple[float, float, float, float]) -> Any:
    """True inside; longitudes may run from 0 to 360."""
    west, south, east, north = box
    lon = (lon + 180) % 360 - 180
    return (lat >= south) & (lat <= north) & (lon >= west) & (lon <= east)


def rectangle(lat: Any, lon: Any, box: tuple[float, float, float, float]) -> tuple[slice, slice]:
    """The smallest window of rows and columns with every point inside."""
    inside = mask(lat, lon, box)
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def part(dataset: Any, box: tuple[float, float, float, float]) -> Any:
    """The box of a dataset as users of xarray select it: `sel` if latitude and longitude are axes, else `where`."""
    lat, lon = dataset.latitude, dataset.longitude
    if lat.ndim == 2:
        return dataset.where(mask(lat, lon, box), drop=True)
    west, south, east, north = box
    if float(lon.max()) > 180:
        west, east = west % 360, east % 360
    rows = slice(north, south) if lat[0] > lat[-1] else slice(south, north)
    return dataset.sel(latitude=rows, longitude=slice(west, east))


def planes(lat: Any, lon: Any) -> tuple[Any, Any]:
    """Latitudes and longitudes of every point, also if the file has them as axes."""
    return (lat, lon) if lat.ndim == 2 else tuple(np.meshgrid(lat, lon, indexing="ij"))
