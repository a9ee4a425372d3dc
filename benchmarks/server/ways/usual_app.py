"""The peer: FastAPI with xarray over a zarr store or a NetCDF file, in one process.

Requests give the row and column: finding the grid point is not part of the work. `BENCH_SOURCE` names the store.
"""

import os
from typing import Any

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


@app.get("/tile")
def tile() -> FileResponse:
    return FileResponse(os.environ["BENCH_TILE"])
