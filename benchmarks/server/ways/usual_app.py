"""The peer: FastAPI with xarray over a zarr store or a NetCDF file, in one process.

Requests give rows and columns: finding the grid points is not part of the work. `BENCH_SOURCE` names the store.
"""

import os
from typing import Any

import numpy as np
import xarray as xr
from fastapi import FastAPI
from fastapi.responses import FileResponse

SOURCE = os.environ["BENCH_SOURCE"]
app = FastAPI()
if SOURCE.endswith("zarr"):
    data = xr.open_zarr(SOURCE)
elif SOURCE.endswith(".nc"):
    data = xr.open_dataset(SOURCE)
else:
    data = xr.open_mfdataset(f"{SOURCE}/*.nc")


@app.get("/point")
def point(row: int, column: int) -> dict[str, Any]:
    found = data.isel(y=row, x=column).load()
    return {
        "time": found["time"].values.tolist(),
        "hourly": {str(name): values.values.tolist() for name, values in found.data_vars.items()},
    }


@app.get("/points")
def points(rows: str, columns: str, names: str) -> dict[str, Any]:
    y, x = (np.array(text.split(","), int) for text in (rows, columns))
    found = data[names.split(",")]
    if SOURCE.endswith(".nc"):
        # netCDF4 reads an outer product of rows and columns one by one: the box around them takes a fraction of that.
        found = found.isel(y=slice(y.min(), y.max() + 1), x=slice(x.min(), x.max() + 1)).load()
        y, x = y - y.min(), x - x.min()
    found = (
        found.isel(y=xr.DataArray(y, dims="place"), x=xr.DataArray(x, dims="place")).transpose("place", "time").load()
    )
    return {
        "time": found["time"].values.tolist(),
        "hourly": {str(name): values.values.tolist() for name, values in found.data_vars.items()},
    }


@app.get("/tile")
def tile() -> FileResponse:
    return FileResponse(os.environ["BENCH_TILE"])
