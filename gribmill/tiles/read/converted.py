"""A variable in other units than those of its tile: the values, and the attributes that change with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gribmill.arrays import Values
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.unit_conversion import Conversion
from gribmill.tiles.read.units import SYSTEMS, System, conversion_for, shown_unit

ENERGY, POWER = "J m-2", "W m-2"
OPPOSITE_SIGN = ", with the opposite sign"
INTEGRAL = "integral_wrt_time_of_"
# CF has separate names for an amount of water as a mass and as a depth.
STANDARD_NAMES = {
    "precipitation_amount": "lwe_thickness_of_precipitation_amount",
    "convective_precipitation_amount": "lwe_thickness_of_convective_precipitation_amount",
    "stratiform_precipitation_amount": "lwe_thickness_of_stratiform_precipitation_amount",
    "snowfall_amount": "lwe_thickness_of_snowfall_amount",
    "surface_snow_amount": "lwe_thickness_of_surface_snow_amount",
    "precipitation_flux": "lwe_precipitation_rate",
    "convective_precipitation_flux": "lwe_convective_precipitation_rate",
    "geopotential": "geopotential_height",
}
MASS = {"kg m-2", "kg m-2 s-1", "m2 s-2"}


@dataclass(frozen=True, slots=True)
class UnitChange:
    """The unit in which a variable is read, and the conversion to it."""

    units: str
    conversion: Conversion

    def __call__(self, values: Values) -> Values:
        """The values in that unit; the same array if nothing changes."""
        if self.conversion == Conversion():
            return values
        return np.asarray(self.conversion(values), np.float32)


def unit_change(name: str, quantity: VariableMeta, system: System) -> UnitChange:
    """How a variable of a tile is read in a system of units.

    Energy since the start of a time range becomes the mean power over it, in common units.
    """
    if system not in SYSTEMS:
        raise TileError(f"{system} are not units; they are one of {', '.join(SYSTEMS)}")
    start, end = quantity.step_minutes
    if is_power(quantity.units, quantity.statistic, system):
        return UnitChange(POWER, Conversion(1 / (60 * (end - start)) if end > start else math.nan))
    found = conversion_for(name, quantity.units, system)
    if quantity.negated and system not in ("si", "native"):
        found = Conversion(-found.factor, -found.offset)
    return UnitChange(shown_unit(name, quantity.units, system), found)


def is_power(units: str, statistic: str, system: System) -> bool:
    """Whether it is an energy that is read as the mean power over its time range."""
    return system == "common" and units == ENERGY and statistic == "accum"


def converted_attributes(attrs: dict[str, Any], quantity: VariableMeta, change: UnitChange) -> dict[str, Any]:
    """The attributes of a variable in these units."""
    if change.units == quantity.units and change.conversion == Conversion():
        return attrs
    found = {**attrs, "units": change.units, "long_name": quantity.long_name.removesuffix(OPPOSITE_SIGN)}
    standard = quantity.standard_name
    if change.units == POWER and standard:
        found |= {"standard_name": standard.removeprefix(INTEGRAL), "cell_methods": "time: mean"}
    elif standard and quantity.units in MASS and change.units != quantity.units:
        found.pop("standard_name")
        if standard in STANDARD_NAMES:
            found["standard_name"] = STANDARD_NAMES[standard]
    if quantity.valid_min is not None:
        found["valid_min"] = change(np.array(quantity.valid_min, np.float32))[()]
    return found
