"""Formats the numbers of a point forecast for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gribmill.grib.names.time_range import window_text

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Column, Series

DECIMALS = {
    "°C": 1,
    "°F": 0,
    "m/s": 1,
    "mph": 0,
    "hPa": 1,
    "inHg": 2,
    "mm": 1,
    "in": 2,
    "°": 0,
    "%": 0,
    "km": 1,
    "mi": 1,
}
# Smaller numbers are shown with four significant digits.
WHOLE_FROM = 1000


def cell(value: float, units: str) -> str:
    """A value with the digits that are significant in its unit; empty if it is missing, and never `-0.0`."""
    if math.isnan(value):
        return ""
    if units in DECIMALS:
        text = f"{value:.{DECIMALS[units]}f}"
    else:
        text = f"{value:.0f}" if abs(value) >= WHOLE_FROM else f"{value:.4g}"
    return text.removeprefix("-") if text.strip("-0.") == "" else text


def row_cell(series: Series, column: Column, row: int) -> str:
    """The value of one row. Codes are shown by meaning; an unusual time range is appended, as in 10.5/6h."""
    value = column.values[row]
    if value in column.flags:
        return f"{value:.0f} {column.flags[int(value)]}"
    text, length = cell(value, column.units), series.odd_minutes(column, row)
    return text if length is None or not text else f"{text}/{window_text(length)}"
