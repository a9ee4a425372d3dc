"""The units that values are read in. This is the only table of them.

`native` (also `si`) is the unit of the GRIB. `common` is one unit per quantity for all models: mm, %, hPa, W m-2, K.
`metric` and `us` are for people: °C and m/s, °F and mph.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from gribmill.tiles.read.unit_conversion import Conversion, conversion

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
# Rates of rain as a depth: metres per second, but not a wind.
RATES = {"prate", "cprat"}
RATE_SHOWN: Shown = {"metric": "mm/h", "us": "in/h", "common": "mm h-1"}
# m2 s-2 is a geopotential or a helicity. The share of water in the soil has no unit, or one.
GEOPOTENTIAL, SOIL_WATER = "z", {"soilw", "soill", "vsw"}
# Temperature differences, for which the offset of the scale does not apply: lifted indices, ensemble spreads, changes.
DIFFERENCES = {"lftx", "lftx4"}
OF_DIFFERENCES = {"sd", "spread", "iqr", "diff", "sdiff"}
# Arrays named by GRIB numbers may be temperatures or differences, rain or dust: these units are kept.
UNNAMED, AMBIGUOUS = {"g1", "g2"}, {"K", "kg m-2", "kg m-2 s-1"}
# ECMWF has cloud cover as a fraction, NOAA in percent.
FRACTIONS = {"tcc", "lcc", "mcc", "hcc", "snowc", "icec", "asn"}


def shown_unit(name: str, unit: str, system: System) -> str:
    """The unit in which a variable is shown."""
    base = name.partition("_")[0]
    if system in ("si", "native") or (unit in AMBIGUOUS and base in UNNAMED):
        return unit
    if unit == "1" and base in FRACTIONS:
        return "%"
    if system == "common" and unit == "m2 s-2" and base == GEOPOTENTIAL:
        return "gpm"
    if system == "common" and unit == "1" and base in SOIL_WATER:
        return "m3 m-3"
    return _units_shown(base, unit).get(system, unit)


def conversion_for(name: str, unit: str, system: System) -> Conversion:
    """The conversion of a variable to the unit that `shown_unit` gives; of a difference, without the offset."""
    found = conversion(unit, shown_unit(name, unit, system)) or Conversion()
    base, *parts = name.split("_")
    if base in DIFFERENCES or not OF_DIFFERENCES.isdisjoint(parts):
        found = Conversion(found.factor)
    return found


def convert(values: np.ndarray[Any, Any], name: str, unit: str, system: System) -> np.ndarray[Any, Any]:
    """Values in the unit that `shown_unit` gives; the same array if nothing changes."""
    found = conversion_for(name, unit, system)
    return values if found == Conversion() else found(values)


def _units_shown(base: str, unit: str) -> Shown:
    if unit == "m":
        return METRES[METRES_OF.get(base, "height")]
    return RATE_SHOWN if unit == "m s-1" and base in RATES else SHOWN.get(unit, {})
