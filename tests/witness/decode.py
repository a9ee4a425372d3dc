"""Decodes a GRIB file with another library, in a process of its own, for comparison with gribmill.

    python decode.py gdal|pygrib|cfgrib FILE OUT.npy [FIELD ...]

FIELD counts from 0 over the fields of the file; without any, all are decoded. The arrays are written one
after the other into OUT.npy: float64, rows south to north, NaN where missing. These libraries bring their own
copies of PROJ and ecCodes, which must never meet in one process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def gdal(path: str, wanted: list[int] | None) -> Iterator[Any]:
    import rasterio

    # As the message has it: longitudes where they are, kelvin as kelvin.
    options = {"GRIB_ADJUST_LONGITUDE_RANGE": "NO", "GRIB_NORMALIZE_UNITS": "NO", "GRIB_USE_IDX": "NO"}
    with rasterio.Env(**options), rasterio.open(path) as dataset:
        for band in wanted if wanted is not None else range(dataset.count):
            values = dataset.read(band + 1).astype(np.float64)
            nodata = dataset.nodatavals[band]
            if nodata is not None:
                values[values == nodata] = np.nan
            yield values[::-1]


def pygrib(path: str, wanted: list[int] | None) -> Iterator[Any]:
    import pygrib

    pygrib.multi_support_on()
    with pygrib.open(path) as messages:
        for number, message in enumerate(messages):
            if wanted is not None and number not in wanted:
                continue
            values = message.values
            array = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
            yield array if array.ndim < 2 or message.jScansPositively else array[::-1]


def cfgrib(path: str, wanted: list[int] | None) -> Iterator[Any]:
    import cfgrib

    for number, message in enumerate(cfgrib.FileStream(path).items()):
        if wanted is not None and number not in wanted:
            continue
        keys = message[1]
        values = np.asarray(keys["values"], np.float64)
        values[values == keys["missingValue"]] = np.nan
        yield values


DECODERS = {"gdal": gdal, "pygrib": pygrib, "cfgrib": cfgrib}


def main(decoder: str, path: str, out: str, *fields: str) -> None:
    wanted = [int(field) for field in fields] or None
    with Path(out).open("wb") as file:
        for array in DECODERS[decoder](path, wanted):
            np.save(file, np.ascontiguousarray(array))


if __name__ == "__main__":
    os.environ.setdefault("PROJ_NETWORK", "OFF")
    main(*sys.argv[1:])
