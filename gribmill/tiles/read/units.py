"""The units that values are read in, and the conversions to them.

`native` (also `si`) is the unit of the GRIB. `common` is one unit per quantity for all models: mm, %, hPa, W m-2, K.
`metric` and `us` are for people: °C and m/s, °F and mph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from gribmill.arrays import AnyFloats, Floats, Values
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import VariableMeta

System = Literal["metric", "us", "si", "native", "common"]
SYSTEMS: tuple[System, ...] = get_args(System)
Shown = dict[System, str]

# By the unit in GRIB.
SHOWN: dict[str, Shown] = {
    "K": {"metric": "°C", "us": "°F"},
    "m s-1": {"metric": "m/s", "us": "mph"},
    "Pa": {"metric": "hPa", "us": "inHg", "common": "hPa"},
    "kg m-2": {"metric": "mm", "us": "in", "common": "mm"},
    "kg m-2 s-1": {"metric": "mm/h", "us": "in/h", "common": "mm h-1"},
    "W m-2": {"metric": "W/m²", "us": "W/m²"},
    "J m-2": {"metric": "J/m²", "us": "J/m²"},
    "degree": {"metric": "°", "us": "°"},
    "J kg-1": {"metric": "J/kg", "us": "J/kg"},
}
# Metres are the depth of rain or snow, a distance, or the height of a wave or a cloud.
METRES: dict[str, Shown] = {
    "water": {"metric": "mm", "us": "in", "common": "mm"},
    "snow": {"metric": "cm", "us": "in"},
    "visibility": {"metric": "km", "us": "mi"},
    "height": {"metric": "m", "us": "ft"},
}
METRES_OF = {
    "tp": "water",
    "cp": "water",
    "lsp": "water",
    "sf": "water",
    "ro": "water",
    "weasd": "water",
    "frzr": "water",
    "frozr": "water",
    "snod": "snow",
    "asnow": "snow",
    "vis": "visibility",
}
# Rain rates as a depth: metres per second, but not a wind speed.
RATES = {"prate", "cprat"}
RATE_SHOWN: Shown = {"metric": "mm/h", "us": "in/h", "common": "mm h-1"}
# m2 s-2 is a geopotential or a helicity. The fraction of water in the soil is dimensionless or in m3 m-3.
GEOPOTENTIAL, SOIL_WATER = "z", {"soilw", "soill", "vsw"}
# NCEP's unit; CF, and all readers here, use metres for geopotential height.
GEOPOTENTIAL_METRE = "gpm"
# Temperature differences, to which the offset between scales does not apply: lifted indices, spreads, changes.
DIFFERENCES = {"lftx", "lftx4"}
OF_DIFFERENCES = {"sd", "spread", "iqr", "diff", "sdiff"}
# Arrays named after GRIB numbers may be temperatures or differences, rain or dust: these units are kept.
UNNAMED, AMBIGUOUS = {"g1", "g2"}, {"K", "kg m-2", "kg m-2 s-1"}
# In common units, accumulated energy is shown as the mean power.
ENERGY, POWER = "J m-2", "W m-2"
# Ends the long name of a variable whose values are negated.
OPPOSITE_SIGN = ", with the opposite sign"
# Cloud cover is a fraction at ECMWF, and in percent at NOAA.
FRACTIONS = {"tcc", "lcc", "mcc", "hcc", "snowc", "icec", "asn"}


@lru_cache(maxsize=1024)
def shown_unit(name: str, unit: str, system: System) -> str:
    """The unit that a variable is shown in."""
    base = name.partition("_")[0]
    if unit == GEOPOTENTIAL_METRE:
        return "m"
    if system in ("si", "native") or (unit in AMBIGUOUS and base in UNNAMED):
        return unit
    if unit == "1" and base in FRACTIONS:
        return "%"
    if system == "common" and unit == "m2 s-2" and base == GEOPOTENTIAL:
        return "m"
    if system == "common" and unit == "1" and base in SOIL_WATER:
        return "m3 m-3"
    return _units_shown(base, unit).get(system, unit)


@lru_cache(maxsize=1024)
def conversion_for(name: str, unit: str, system: System) -> Conversion:
    """The conversion of a variable to the unit from `shown_unit`; without the offset for differences."""
    found = conversion(unit, shown_unit(name, unit, system)) or Conversion()
    base, *parts = name.split("_")
    if base in DIFFERENCES or not OF_DIFFERENCES.isdisjoint(parts):
        found = Conversion(found.factor)
    return found


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


def _units_shown(base: str, unit: str) -> Shown:
    if unit == "m":
        return METRES[METRES_OF.get(base, "height")]
    return RATE_SHOWN if unit == "m s-1" and base in RATES else SHOWN.get(unit, {})


STANDARD_GRAVITY = 9.80665
KNOTS_PER_M_S = 3600 / 1852
MILE_M, FOOT_M, INCH_MM, INHG_PA = 1609.344, 0.3048, 25.4, 3386.389


@dataclass(frozen=True, slots=True)
class Conversion:
    """shown = given × factor + offset."""

    factor: float = 1.0
    offset: float = 0.0

    def __call__(self, values: AnyFloats) -> Floats:
        return np.asarray(values, dtype=np.float64) * self.factor + self.offset


# By (given, shown), both as normalised by `spelled`.
CONVERSIONS = {
    ("K", "°C"): Conversion(1, -273.15),
    ("K", "°F"): Conversion(1.8, -459.67),
    ("°F", "°C"): Conversion(5 / 9, -160 / 9),
    ("Pa", "hPa"): Conversion(0.01),
    ("Pa", "inHg"): Conversion(1 / INHG_PA),
    ("kg m-2", "mm"): Conversion(),
    ("kg m-2", "in"): Conversion(1 / INCH_MM),
    ("m", "mm"): Conversion(1000),
    ("m", "cm"): Conversion(100),
    ("m", "km"): Conversion(0.001),
    ("m", "in"): Conversion(1000 / INCH_MM),
    ("m", "ft"): Conversion(1 / FOOT_M),
    ("m", "mi"): Conversion(1 / MILE_M),
    ("kg m-2 s-1", "mm h-1"): Conversion(3600),
    ("kg m-2 s-1", "in h-1"): Conversion(3600 / INCH_MM),
    ("mm s-1", "mm h-1"): Conversion(3600),
    ("m s-1", "mm h-1"): Conversion(3_600_000),
    ("m s-1", "in h-1"): Conversion(3_600_000 / INCH_MM),
    ("1", "%"): Conversion(100),
    ("kg kg-1", "g kg-1"): Conversion(1000),
    ("gpm", "m"): Conversion(),
    ("m2 s-2", "m"): Conversion(1 / STANDARD_GRAVITY),
    ("m3 m-3", "%"): Conversion(100),
    ("1", "m3 m-3"): Conversion(),
    ("s-1", "10-5 s-1"): Conversion(1e5),
    ("kt", "m s-1"): Conversion(1 / KNOTS_PER_M_S),
    ("km h-1", "m s-1"): Conversion(1 / 3.6),
    ("mph", "m s-1"): Conversion(0.44704),
    ("m s-1", "kt"): Conversion(KNOTS_PER_M_S),
    ("m s-1", "mph"): Conversion(3600 / MILE_M),
    ("in", "mm"): Conversion(INCH_MM),
}
SPELLINGS = {
    "kelvin": "K",
    "degC": "°C",
    "C": "°C",
    "celsius": "°C",
    "degF": "°F",
    "F": "°F",
    "(0 - 1)": "1",
    "fraction": "1",
    "Proportion": "1",
    "percent": "%",
    "dB": "dBZ",
    "degree": "°",
    "degrees": "°",
    "deg": "°",
    "degree true": "°",
    "Degree true": "°",
    "knots": "kt",
    "kts": "kt",
    "mi h-1": "mph",
    "meter": "m",
    "metre": "m",
    "mb": "hPa",
    "mm of water equivalent": "mm",
    "m of water equivalent": "m",
}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def spelled(units: str) -> str:
    """Normalises the spelling: `m s-1` for `m/s`, `m s**-1`, `m s^-1` and `m s-1`."""
    text = units.strip().translate(SUPERSCRIPTS).replace("**", "").replace("^", "").replace(".", " ")
    text = SPELLINGS.get(text, text)
    head, *below = text.split("/")
    for part in below:
        unit = part.strip()
        name = unit.rstrip("0123456789")
        head += f" {name}-{unit[len(name) :] or 1}"
    return SPELLINGS.get(head, head)


def conversion(given: str, shown: str) -> Conversion | None:
    """The conversion from `given` to `shown`, in any spelling; None if there is none."""
    ours, theirs = spelled(given), spelled(shown)
    if ours == theirs:
        return Conversion()
    return CONVERSIONS.get((ours, theirs))
