"""Time ranges of sums, means and extremes in CF: coordinates of the valid time with bounds.

Variables of one dataset have different time ranges, so each distinct set of them is an auxiliary coordinate, such as
`time_6h` with `time_6h_bounds`, which the variables name in their `coordinates`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import xarray as xr

from gribmill.grib.names.window_name import window_text
from gribmill.tiles.format.meta import VariableMeta

# Start and end in minutes since the run; equal where there is no value.
Window = tuple[int, int]
CELL_METHODS = {
    "accum": "sum", "avg": "mean", "max": "maximum", "min": "minimum", "sd": "standard_deviation",
    "sum": "sum", "rms": "root_mean_square",
}  # fmt: skip
BOUNDS_DIMENSION = "nv"


def window_of(quantity: VariableMeta | None, minutes: int) -> Window:
    """The time range of a variable at that minute; empty for an instant, or if the tile lacks the variable."""
    if quantity is None or quantity.statistic == "instant":
        return minutes, minutes
    return quantity.step_minutes


def bounds_names(windows: Mapping[str, Sequence[Window]]) -> dict[str, str]:
    """The name of the coordinate of each variable with time ranges; variables with equal time ranges share one."""
    labels: dict[tuple[Window, ...], str] = {}
    found: dict[str, str] = {}
    for name, each in windows.items():
        key = tuple(each)
        if all(start == end for start, end in key):
            continue
        if key not in labels:
            label = _label(name, key)
            labels[key] = label if label not in labels.values() else f"time_{name}"
        found[name] = labels[key]
    return found


def run_bounds(
    run: datetime, windows: Mapping[str, Sequence[Window]], labels: Mapping[str, str], time: xr.Variable
) -> dict[str, xr.Variable]:
    """The coordinates for the time ranges of a whole run, along `time`."""
    found: dict[str, xr.Variable] = {}
    for name, label in labels.items():
        bounds = np.array([[_time64(run, moment) for moment in pair] for pair in windows[name]])
        found[label] = xr.Variable(time.dims, time.values, _attributes(label), {"units": _units(run)})
        found[f"{label}_bounds"] = xr.Variable((*time.dims, BOUNDS_DIMENSION), bounds)
    return found


def tile_bounds(
    run: datetime, windows: Mapping[str, Sequence[Window]], labels: Mapping[str, str]
) -> dict[str, xr.Variable]:
    """The coordinates for the time ranges of one tile: scalars, in minutes since the run.

    They are coordinates only in a netCDF file, not in the dataset, where they would prevent the concatenation of tiles
    of different hours.
    """
    found: dict[str, xr.Variable] = {}
    for name, label in labels.items():
        (window,) = windows[name]
        found[label] = xr.Variable((), np.int64(window[1]), {**_attributes(label), "units": _units(run)})
        found[f"{label}_bounds"] = xr.Variable((BOUNDS_DIMENSION,), np.array(window), {"units": _units(run)})
    return found


def cell_methods(quantity: VariableMeta) -> str | None:
    """The CF attribute `cell_methods` of a sum, mean or extreme."""
    method = CELL_METHODS.get(quantity.statistic)
    return f"time: {method}" if method else None


def encoding(coordinates: Mapping[str, xr.Variable], dims: Sequence[str], label: str | None) -> dict[str, Any]:
    """A variable's `coordinates` for a netCDF file, without the time ranges of other variables."""
    names = [
        name
        for name, value in coordinates.items()
        if set(value.dims) <= set(dims) and (name,) != value.dims and (name == label or not _has_bounds(value))
    ]
    return {"coordinates": " ".join(names)}


def _has_bounds(coordinate: xr.Variable) -> bool:
    return "bounds" in coordinate.attrs


def _attributes(label: str) -> dict[str, str]:
    return {"standard_name": "time", "long_name": "end of the time range", "bounds": f"{label}_bounds"}


def _units(run: datetime) -> str:
    return f"minutes since {run:%Y-%m-%d %H:%M:%S}"


def _label(name: str, windows: Sequence[Window]) -> str:
    """`time_run` for ranges that start with the run, `time_6h` for one length, otherwise named after the variable."""
    lengths = {end - start for start, end in windows if start != end}
    if len(lengths) == 1:
        return f"time_{window_text(lengths.pop())}"
    return "time_run" if all(start == 0 for start, end in windows if start != end) else f"time_{name}"


def _time64(run: datetime, minutes: int) -> np.datetime64:
    return np.datetime64((run + timedelta(minutes=minutes)).replace(tzinfo=None), "ns")
