"""Converts a variable of a tile to other units: its values, and the attributes that depend on the units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gribmill.arrays import Values
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.cf_names import cf_standard_name, cf_units
from gribmill.tiles.read.units import SYSTEMS, Conversion, System, conversion_for, shown_unit

ENERGY, POWER = "J m-2", "W m-2"
OPPOSITE_SIGN = ", with the opposite sign"
INTEGRAL = "integral_wrt_time_of_"


@dataclass(frozen=True, slots=True)
class UnitChange:
    """The unit that a variable is read in, and the conversion to it."""

    units: str
    conversion: Conversion

    def __call__(self, values: Values) -> Values:
        """The values in that unit; the same array if nothing changes."""
        if self.conversion == Conversion():
            return values
        return np.asarray(self.conversion(values), np.float32)


def unit_change(name: str, quantity: VariableMeta, system: System) -> UnitChange:
    """The unit and conversion of a tile's variable in a system of units.

    In common units, energy accumulated over a time range becomes the mean power over it.
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
    """Whether it is an energy to be read as the mean power over its time range."""
    return system == "common" and units == ENERGY and statistic == "accum"


def converted_attributes(attrs: dict[str, Any], quantity: VariableMeta, change: UnitChange) -> dict[str, Any]:
    """The attributes of a variable in these units."""
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
