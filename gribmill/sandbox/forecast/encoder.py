"""GRIB2 messages of one grid and one publisher, written by ecCodes."""

from __future__ import annotations

import math

# Before ecCodes: its wheel carries an old SQLite, which Python would take for its own if it came later.
import sqlite3  # noqa: F401
from datetime import datetime
from types import TracebackType
from typing import Any

import numpy as np

from gribmill.regions.grids import Grid
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.file_contents import Item
from gribmill.sandbox.forecast.grid_keys import grid_keys, in_scanning_order
from gribmill.sandbox.forecast.product_keys import product_keys
from gribmill.sandbox.forecast.publisher_style import Style
from gribmill.sandbox.forecast.waves import Floats

MISSING = 1e30
# The step between values as a power of two, which keeps it the same from hour to hour, so that sums never fall.
STEP_EXPONENTS = {"K": -4, "m s-1": -4, "Pa": 2, "%": 0, "kg m-2": -6, "dBZ": -2}
# Of other units: about so many steps over the usual range, as NOAA keeps.
STEPS = 2000
# How much one of the lexicon's units is in those that ecCodes names, where they differ.
IN_UNITS = {("kg m-2", "m"): 0.001, ("%", "(0 - 1)"): 0.01, ("kg m-2 s-1", "m s**-1"): 0.001}


class Encoder:
    """Use as a context manager: it holds a handle of ecCodes."""

    def __init__(self, grid: Grid, style: Style) -> None:
        import eccodes

        self._codes: Any = eccodes
        self.grid, self.style = grid, style
        self._base = eccodes.codes_grib_new_from_samples("GRIB2")
        keys = grid_keys(grid, style.scanning, style.grid_relative)
        self._scanning = keys["scanningMode"]
        for key, value in keys.items():
            eccodes.codes_set(self._base, key, value)

    def __enter__(self) -> Encoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._codes.codes_release(self._base)

    def message(self, item: Item, run: datetime, values: Floats) -> bytes:
        """One message; values as gribmill has them: rows from the south, NaN missing, the lexicon's units."""
        handle = self._codes.codes_clone(self._base)
        try:
            for key, value in product_keys(item, self.style, run):
                self._codes.codes_set(handle, key, value)
            units = self._codes.codes_get(handle, "units")
            scale = IN_UNITS.get((item.variable.units, units), 1.0)
            flat = in_scanning_order(values, self._scanning).astype(np.float64) * scale
            self._pack(handle, item, flat)
            message: bytes = self._codes.codes_get_message(handle)
            return message
        except self._codes.CodesInternalError as error:
            raise SandboxError(f"ecCodes cannot write {item.element}:{item.level}: {error}") from None
        finally:
            self._codes.codes_release(handle)

    def _pack(self, handle: int, item: Item, flat: Floats) -> None:
        put, style = self._codes.codes_set, self.style
        holes = np.isnan(flat)
        some = bool(holes.any())
        simple = f"{item.element}:{item.level}" in style.simple
        put(handle, "missingValue", MISSING)
        put(handle, "packingType", "grid_simple" if simple else style.packing)
        if style.missing == "management" and not simple:
            put(handle, "missingValueManagementUsed", 1)
        elif some:
            put(handle, "bitmapPresent", 1)
        if style.bits is None:
            step = _step(item)
            flat = np.rint(flat / step, out=flat) * step
            put(handle, "bitsPerValue", _bits(flat, step))
        else:
            put(handle, "bitsPerValue", style.bits)
        self._codes.codes_set_values(handle, np.where(holes, MISSING, flat) if some else flat)


def _step(item: Item) -> float:
    low, high = item.variable.range
    exponent = STEP_EXPONENTS.get(item.variable.units, math.ceil(math.log2((high - low) / STEPS)))
    return 2.0**exponent


def _bits(flat: Floats, step: float) -> int:
    """As many as count every step of the values; 0 for a constant field."""
    there = flat[~np.isnan(flat)]
    return round((there.max() - there.min()) / step).bit_length() if there.size else 0
