"""s3fs, xarray and zarr: `python zarr_way.py point|write STORE SOURCE ROW COLUMN`, where SOURCE is a local zarr store.

`write` appends hour by hour, as forecasts arrive; `rechunk` writes all hours at once, in one chunk per place.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import xarray as xr
from stopwatch_store import measure

OPTIONS = {"client_kwargs": {"endpoint_url": os.environ["BENCH_ENDPOINT"]}}
ROWS, COLUMNS = 64, 64


def read_point(place: str, row: int, column: int) -> dict[str, list[float]]:
    data = xr.open_zarr(place, storage_options=OPTIONS, chunks=None, consolidated=True)
    here = data.isel(y=row, x=column).load()
    return {str(name): [float(value) for value in here[name].values] for name in here.data_vars}


def write_hours(place: str, source: str) -> int:
    data = xr.open_zarr(source, chunks=None).load()
    for hour in range(data.sizes["time"]):
        more: dict[str, Any] = {"append_dim": "time"} if hour else {"mode": "w"}
        one = data.isel(time=[hour])
        for variable in one.variables.values():
            variable.encoding.clear()
        one.to_zarr(place, storage_options=OPTIONS, consolidated=True, zarr_format=2, **more)
    return int(data.sizes["time"])


def write_rechunked(place: str, source: str) -> int:
    data = xr.open_zarr(source, chunks=None).load()
    for variable in data.variables.values():
        variable.encoding.clear()
    chunks = {name: {"chunks": (data.sizes["time"], ROWS, COLUMNS)} for name in data.data_vars}
    data.to_zarr(place, mode="w", storage_options=OPTIONS, consolidated=True, zarr_format=2, encoding=chunks)
    return int(data.sizes["time"])


def main(what: str, place: str, source: str, row: str, column: str) -> None:
    work = {
        "point": partial(read_point, place, int(row), int(column)),
        "write": partial(write_hours, place, source),
        "rechunk": partial(write_rechunked, place, source),
    }
    measure(work[what])


main(*sys.argv[1:6])
