"""Decodes GRIB files with another library, in a separate process, for comparison with gribmill.

    python decode.py gdal|pygrib|cfgrib OUT_FOLDER < jobs.json

A job is {"name": …, "path": …, "fields": [0, 3, …]}, fields counted from 0 over the file. Each becomes
OUT_FOLDER/name.field.npy: float32 rows south to north, NaN where missing. Errors of a file are in
OUT_FOLDER/name.error. The libraries bring their own copies of PROJ and ecCodes, which must never meet in one
process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def gdal(path: str, wanted: list[int]) -> Iterator[tuple[int, Any]]:
    import rasterio

    # As the message has it: longitudes where they are, kelvin as kelvin.
    options = {"GRIB_ADJUST_LONGITUDE_RANGE": "NO", "GRIB_NORMALIZE_UNITS": "NO", "GRIB_USE_IDX": "NO"}
    with rasterio.Env(**options), rasterio.open(path) as dataset:
        for field in wanted:
            values = dataset.read(field + 1).astype(np.float64)
            nodata = dataset.nodatavals[field]
            if nodata is not None:
                values[values == nodata] = np.nan
            yield field, values[::-1]


def pygrib(path: str, wanted: list[int]) -> Iterator[tuple[int, Any]]:
    import pygrib

    pygrib.multi_support_on()
    with pygrib.open(path) as messages:
        for field, message in enumerate(messages):
            if field in wanted:
                # A reduced grid is read as packed, not expanded to a regular one.
                if message.has_key("PLPresent") and message.PLPresent:
                    message.expand_grid(False)
                yield field, _of_pygrib(message)


def _of_pygrib(message: Any) -> Any:
    values = np.ma.filled(np.ma.asarray(message.values).astype(np.float64), np.nan)
    if values.ndim < 2:
        # Without rows pygrib leaves 9999 in place of missing values.
        return np.where(values == message.missingValue, np.nan, values) if message.bitmapPresent else values
    rows = values if message.jScansPositively else values[::-1]
    return rows[:, ::-1] if message.iScansNegatively else rows


def cfgrib(path: str, wanted: list[int]) -> Iterator[tuple[int, Any]]:
    import cfgrib as library

    (dataset,) = library.open_datasets(path, backend_kwargs={"indexpath": ""})
    for field, variable in enumerate(dataset.data_vars.values()):
        if field in wanted:
            south_first = dataset.latitude.values.reshape(dataset.latitude.size)
            yield field, variable.values if south_first[0] < south_first[-1] else variable.values[::-1]


DECODERS = {"gdal": gdal, "pygrib": pygrib, "cfgrib": cfgrib}


def main(decoder: str, folder: str) -> None:
    for job in json.load(sys.stdin):
        target = Path(folder) / job["name"]
        try:
            with np.errstate(over="ignore"):
                for field, array in DECODERS[decoder](job["path"], job["fields"]):
                    np.save(f"{target}.{field}.npy", np.ascontiguousarray(array, dtype=np.float32))
        except Exception as error:  # noqa: BLE001 - whatever a library raises is what the test wants to see
            Path(f"{target}.error").write_text(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
