"""CF metadata of datasets: the names, units and attributes of variables, and the bounds of their time ranges.

Variables of one dataset have different time ranges, so each distinct set of them is an auxiliary coordinate of the
valid time, such as `time_6h` with `time_6h_bounds`, which the variables name in their `coordinates`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import xarray as xr

from gribmill.grib.names.time_range import window_text
from gribmill.tiles.format.meta import Meta, VariableMeta
from gribmill.tiles.read.units import OPPOSITE_SIGN, POWER, Conversion, UnitChange

GRID_MAPPING = "crs"
INTEGRAL = "integral_wrt_time_of_"
# Start and end in minutes since the run; equal where there is no value.
MinuteRange = tuple[int, int]
CELL_METHODS = {
    "accum": "sum", "avg": "mean", "max": "maximum", "min": "minimum", "sd": "standard_deviation",
    "sum": "sum", "rms": "root_mean_square",
}  # fmt: skip
BOUNDS_DIMENSION = "nv"
# CF has separate standard names for water as a mass and as a depth; None if there is no name for a depth.
AS_DEPTH: dict[str, str | None] = {
    "precipitation_amount": "lwe_thickness_of_precipitation_amount",
    "convective_precipitation_amount": "lwe_thickness_of_convective_precipitation_amount",
    "stratiform_precipitation_amount": "lwe_thickness_of_stratiform_precipitation_amount",
    "snowfall_amount": "lwe_thickness_of_snowfall_amount",
    "surface_snow_amount": "lwe_thickness_of_surface_snow_amount",
    "canopy_water_amount": "lwe_thickness_of_canopy_water_amount",
    "runoff_amount": None,
    "surface_runoff_amount": None,
    "precipitation_flux": "lwe_precipitation_rate",
    "convective_precipitation_flux": "lwe_convective_precipitation_rate",
    "atmosphere_mass_content_of_water_vapor": "lwe_thickness_of_atmosphere_mass_content_of_water_vapor",
    "atmosphere_mass_content_of_water": None,
    "atmosphere_mass_content_of_cloud_condensed_water": None,
    "geopotential": "geopotential_height",
    "surface_geopotential": None,
}
# The units for which the names above are correct.
MASS_UNITS = {"kg m-2", "kg m-2 s-1", "m2 s-2"}
# UDUNITS has no geopotential metres, and CF uses metres for geopotential height; its mph are milliphots.
CF_UNITS = {"gpm": "m", "mph": "mi h-1"}
LAND_MASK, LAND_FRACTION = "land_binary_mask", "land_area_fraction"


def global_attributes(meta: Meta) -> dict[str, Any]:
    """The global attributes of a dataset."""
    found: dict[str, Any] = {
        "Conventions": "CF-1.11",
        "title": f"{meta.model} {meta.run} over {meta.region.title or meta.region.name}",
        "model": meta.model,
        "run_id": meta.run,
        "region": meta.region.name,
        "source": meta.source.url or meta.source.name,
        "winds": meta.winds,
        "gribmill": meta.gribmill,
    }
    found |= {name: value for name, value in meta.identity.items() if name not in found}
    if meta.notes:
        found["comment"] = " ".join(meta.notes)
    if meta.absent:
        found["absent"] = ", ".join(meta.absent)
    if meta.attribution:
        found["license"] = meta.attribution
    return found


def attributes(quantity: VariableMeta, change: UnitChange) -> dict[str, Any]:
    """The CF attributes of a variable in these units."""
    attrs = _own_attributes(quantity)
    if change.units == quantity.units and change.conversion == Conversion():
        return attrs
    found = {**attrs, "units": cf_units(change.units), "long_name": quantity.long_name.removesuffix(OPPOSITE_SIGN)}
    standard = cf_standard_name(quantity.standard_name, change.units, codes=bool(quantity.flag_values))
    if change.units == POWER and standard:
        standard = standard.removeprefix(INTEGRAL)
        found["cell_methods"] = "time: mean"
    found.pop("standard_name", None)
    if standard:
        found["standard_name"] = standard
    if quantity.valid_min is not None:
        found["valid_min"] = change(np.array(quantity.valid_min, np.float32))[()]
    return found


def _own_attributes(quantity: VariableMeta) -> dict[str, Any]:
    """The attributes in the units of the tile."""
    start, end = quantity.step_minutes
    found: dict[str, Any] = {
        "long_name": quantity.long_name,
        "units": cf_units(quantity.units),
        "level": quantity.level,
        "grid_mapping": GRID_MAPPING,
    }
    if standard := cf_standard_name(quantity.standard_name, quantity.units, codes=bool(quantity.flag_values)):
        found["standard_name"] = standard
    if methods := _cell_methods(quantity):
        found["cell_methods"] = methods
    if start != end:
        found["step_hours"] = [start / 60, end / 60]
    if quantity.flag_values:
        # CF separates meanings with blanks.
        found["flag_values"] = np.array(quantity.flag_values, np.float32)
        found["flag_meanings"] = " ".join(_one_word(meaning) for meaning in quantity.flag_meanings)
    if quantity.fill_values:
        found["source_fill_values"] = list(quantity.fill_values)
    if quantity.valid_min is not None:
        found["valid_min"] = np.float32(quantity.valid_min)
    return found | quantity.identity


def _one_word(meaning: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.+@-]+", "_", meaning).strip("_") or "_"


def _cell_methods(quantity: VariableMeta) -> str | None:
    """The CF attribute `cell_methods` of a sum, mean or extreme."""
    method = CELL_METHODS.get(quantity.statistic)
    return f"time: {method}" if method else None


def cf_units(units: str) -> str:
    """The unit as written in CF."""
    return CF_UNITS.get(units, units)


def cf_standard_name(name: str | None, units: str, *, codes: bool = False) -> str | None:
    """The standard name of a quantity in these units, or of a code field; None if CF has none."""
    if name == LAND_MASK and not codes:
        # ECMWF publishes the fraction of land in a cell.
        return LAND_FRACTION
    if name is None or units in MASS_UNITS:
        return name
    return AS_DEPTH.get(name, name)


def window_of(quantity: VariableMeta | None, minutes: int) -> MinuteRange:
    """The time range of a variable at that minute; empty for an instant, or if the tile lacks the variable."""
    if quantity is None or quantity.statistic == "instant":
        return minutes, minutes
    return quantity.step_minutes


def bounds_names(windows: Mapping[str, Sequence[MinuteRange]]) -> dict[str, str]:
    """The name of the coordinate of each variable with time ranges; variables with equal time ranges share one."""
    labels: dict[tuple[MinuteRange, ...], str] = {}
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
    run: datetime, windows: Mapping[str, Sequence[MinuteRange]], labels: Mapping[str, str], time: xr.Variable
) -> dict[str, xr.Variable]:
    """The coordinates for the time ranges of a whole run, along `time`."""
    found: dict[str, xr.Variable] = {}
    for name, label in labels.items():
        bounds = np.array([[time64(run + timedelta(minutes=moment)) for moment in pair] for pair in windows[name]])
        found[label] = xr.Variable(time.dims, time.values, _time_attributes(label), {"units": _units(run)})
        found[f"{label}_bounds"] = xr.Variable((*time.dims, BOUNDS_DIMENSION), bounds)
    return found


def tile_bounds(
    run: datetime, windows: Mapping[str, Sequence[MinuteRange]], labels: Mapping[str, str]
) -> dict[str, xr.Variable]:
    """The coordinates for the time ranges of one tile: scalars, in minutes since the run.

    They are coordinates only in a netCDF file, not in the dataset, where they would prevent the concatenation of tiles
    of different hours.
    """
    found: dict[str, xr.Variable] = {}
    for name, label in labels.items():
        (window,) = windows[name]
        found[label] = xr.Variable((), np.int64(window[1]), {**_time_attributes(label), "units": _units(run)})
        found[f"{label}_bounds"] = xr.Variable((BOUNDS_DIMENSION,), np.array(window), {"units": _units(run)})
    return found


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


def _time_attributes(label: str) -> dict[str, str]:
    return {"standard_name": "time", "long_name": "end of the time range", "bounds": f"{label}_bounds"}


def _units(run: datetime) -> str:
    return f"minutes since {run:%Y-%m-%d %H:%M:%S}"


def _label(name: str, windows: Sequence[MinuteRange]) -> str:
    """`time_run` for ranges that start with the run, `time_6h` for one length, otherwise named after the variable."""
    lengths = {end - start for start, end in windows if start != end}
    if len(lengths) == 1:
        return f"time_{window_text(lengths.pop())}"
    return "time_run" if all(start == 0 for start, end in windows if start != end) else f"time_{name}"


def time64(moment: datetime) -> np.datetime64:
    """A UTC time as a NumPy datetime."""
    return np.datetime64(moment.replace(tzinfo=None), "ns")
