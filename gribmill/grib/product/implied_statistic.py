"""Parameters that are a maximum or minimum by definition, for messages that do not specify their statistic."""

from __future__ import annotations

from gribmill.grib.product.keys import ECMWF, NOAA, Parameter
from gribmill.grib.product.statistic import Statistic

# Temperature, relative and absolute humidity, wind speed; temperature in the tables of GRIB1.
COMMON: dict[Parameter, Statistic] = {
    (0, 0, 4): "max", (0, 0, 5): "min", (0, 1, 27): "max", (0, 1, 28): "max", (0, 2, 21): "max",
    **{(table, 15): "max" for table in (1, 2, 3)}, **{(table, 16): "min" for table in (1, 2, 3)},
}  # fmt: skip
# Humidity, updrafts and downdrafts, wind, updraft helicity, reflectivity.
NCEP_OWN: dict[Parameter, Statistic] = {
    (0, 1, 198): "min", (0, 1, 219): "max", (0, 1, 220): "min", (0, 2, 220): "max", (0, 2, 221): "max",
    (0, 2, 222): "max", (0, 2, 223): "max", (0, 7, 199): "max", (0, 7, 200): "min", (0, 16, 198): "max",
}  # fmt: skip
# Gusts, temperatures and rates of precipitation, in GRIB1.
ECMWF_OWN: dict[Parameter, Statistic] = {
    **{(128, number): "max" for number in (49, 51, 121, 123, 201)},
    **{(128, number): "min" for number in (52, 122, 202)},
    **{(228, number): "max" for number in (26, 28, 222, 224, 226)},
    **{(228, number): "min" for number in (27, 223, 225, 227)},
}


def implied_statistic(centre: int, parameter: Parameter) -> Statistic:
    """The statistic that the parameter implies; `other` where it implies none."""
    own = NCEP_OWN if centre in NOAA else ECMWF_OWN if centre == ECMWF else {}
    return COMMON.get(parameter) or own.get(parameter, "other")
