"""Units by choice: what the GRIB says (si), what most of the world reads (metric), or US customary (us)."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

System = Literal["metric", "us", "si"]
SYSTEMS: tuple[System, ...] = get_args(System)

# unit in the GRIB -> system -> (unit, factor, offset): shown = value * factor + offset.
CONVERSIONS: dict[str, dict[str, tuple[str, float, float]]] = {
    "K": {"metric": ("°C", 1.0, -273.15), "us": ("°F", 1.8, -459.67)},
    "m s-1": {"metric": ("m/s", 1.0, 0.0), "us": ("mph", 3600 / 1609.344, 0.0)},
    "Pa": {"metric": ("hPa", 0.01, 0.0), "us": ("inHg", 1 / 3386.389, 0.0)},
    "kg m-2": {"metric": ("mm", 1.0, 0.0), "us": ("in", 1 / 25.4, 0.0)},
    "kg m-2 s-1": {"metric": ("mm/h", 3600.0, 0.0), "us": ("in/h", 3600 / 25.4, 0.0)},
    "W m-2": {"metric": ("W/m²", 1.0, 0.0), "us": ("W/m²", 1.0, 0.0)},
    "J m-2": {"metric": ("J/m²", 1.0, 0.0), "us": ("J/m²", 1.0, 0.0)},
    "degree": {"metric": ("°", 1.0, 0.0), "us": ("°", 1.0, 0.0)},
    "J kg-1": {"metric": ("J/kg", 1.0, 0.0), "us": ("J/kg", 1.0, 0.0)},
}
# Metres mean different things: how deep the rain is, how far one sees, how high a wave or a cloud is.
METRES: dict[str, dict[str, tuple[str, float, float]]] = {
    "water": {"metric": ("mm", 1000.0, 0.0), "us": ("in", 1000 / 25.4, 0.0)},
    "snow": {"metric": ("cm", 100.0, 0.0), "us": ("in", 1000 / 25.4, 0.0)},
    "visibility": {"metric": ("km", 0.001, 0.0), "us": ("mi", 1 / 1609.344, 0.0)},
    "height": {"metric": ("m", 1.0, 0.0), "us": ("ft", 1 / 0.3048, 0.0)},
}
# Where rain is given as a depth, metres per second are no wind.
RAIN = {"metric": ("mm/h", 3_600_000.0, 0.0), "us": ("in/h", 3_600_000 / 25.4, 0.0)}
RATES = {"prate", "cprat"}
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
# Differences of temperatures, whatever the zero of the scale: lifted indices, spreads of an ensemble, changes.
DIFFERENCES = {"lftx", "lftx4"}
OF_DIFFERENCES = {"sd", "spread", "iqr", "diff", "sdiff"}
# Of arrays that are called by GRIB numbers nobody has said whether they are temperatures or differences, rain or dust.
UNNAMED, AMBIGUOUS = {"g1", "g2"}, {"K", "kg m-2", "kg m-2 s-1"}

# ECMWF gives cloud cover as a share, NOAA in percent.
SHARES = {"tcc", "lcc", "mcc", "hcc", "snowc", "icec"}


def shown_unit(name: str, unit: str, system: System) -> str:
    """The unit in which a variable is shown."""
    return _conversion(name, unit, system)[0]


def convert(values: np.ndarray[Any, Any], name: str, unit: str, system: System) -> np.ndarray[Any, Any]:
    """Values in the unit that `shown_unit` names; untouched where nothing has to change."""
    _, factor, offset = _conversion(name, unit, system)
    if factor == 1.0 and offset == 0.0:
        return values
    return np.asarray(values, np.float64) * factor + offset


def _conversion(name: str, unit: str, system: System) -> tuple[str, float, float]:
    base, *parts = name.split("_")
    if unit == "1" and base in SHARES and system != "si":
        return "%", 100.0, 0.0
    if unit in AMBIGUOUS and base in UNNAMED:
        return unit, 1.0, 0.0
    shown, factor, offset = _table(base, unit).get(system, (unit, 1.0, 0.0))
    difference = base in DIFFERENCES or not OF_DIFFERENCES.isdisjoint(parts)
    return shown, factor, 0.0 if difference else offset


def _table(base: str, unit: str) -> dict[str, tuple[str, float, float]]:
    if unit == "m":
        return METRES[METRES_OF.get(base, "height")]
    return RAIN if unit == "m s-1" and base in RATES else CONVERSIONS.get(unit, {})
