"""Encodes GRIB2 messages on one grid in the style of one publisher."""

from __future__ import annotations

import math
from datetime import datetime
from types import TracebackType

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.regions.grids import Grid
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.file_contents import PlannedField
from gribmill.sandbox.forecast.product_keys import product_keys
from gribmill.sandbox.forecast.publisher_style import PublisherStyle
from gribmill.sandbox.grib_writer.grib_message import GribMessage, PackingChoice
from gribmill.sandbox.grib_writer.grid_keys import grid_keys

# The step between values is a power of two and the same from hour to hour, so that accumulations never decrease.
STEP_EXPONENTS = {"K": -4, "m s-1": -4, "Pa": 2, "%": 0, "kg m-2": -6, "dBZ": -2}
# For other units: about this many steps over the usual range, as in NOAA's files.
STEPS = 2000
# Conversion factors from the lexicon's units to those of ecCodes, if they differ.
IN_UNITS = {
    ("kg m-2", "m"): 0.001,
    ("kg m-2", "m of water equivalent"): 0.001,
    ("%", "(0 - 1)"): 0.01,
    ("kg m-2 s-1", "m s**-1"): 0.001,
}


class Encoder:
    """Encodes messages. Use it as a context manager: it holds an ecCodes message."""

    def __init__(self, grid: Grid, style: PublisherStyle) -> None:
        self.grid, self.style = grid, style
        self._base = GribMessage()
        self._base.set(grid_keys(grid, style.scanning, style.grid_relative).items())

    def __enter__(self) -> Encoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.__exit__(kind, error, trace)

    def message(self, item: PlannedField, run: datetime, values: AnyFloats) -> bytes:
        """One message; values are in rows from the south, in the lexicon's units, with NaN for missing ones."""
        from eccodes import CodesInternalError

        with GribMessage(copy_of=self._base) as message:
            try:
                message.set(product_keys(item, self.style, run))
                scale = IN_UNITS.get((item.variable.units, message.get("units")), 1.0)
                message.pack(*self._packed(item, values.astype(np.float64) * scale))
                return message.data()
            except CodesInternalError as error:
                raise SandboxError(f"ecCodes cannot write {item.element}:{item.level}: {error}") from None

    def _packed(self, item: PlannedField, values: AnyFloats) -> tuple[AnyFloats, PackingChoice]:
        """The values with the precision of the packing, and the packing."""
        style, bits = self.style, self.style.bits
        if bits is None:
            step = _step(item)
            values = np.rint(values / step, out=values) * step
            bits = _bits(values, step)
        if f"{item.element}:{item.level}" in style.simple:
            return values, PackingChoice("grid_simple", bits)
        return values, PackingChoice(style.packing, bits, missing=style.missing)


def _step(item: PlannedField) -> float:
    low, high = item.variable.range
    exponent = STEP_EXPONENTS.get(item.variable.units, math.ceil(math.log2((high - low) / STEPS)))
    return 2.0**exponent


def _bits(values: AnyFloats, step: float) -> int:
    """The number of bits for all steps between the values; 0 for a constant field."""
    there = values[~np.isnan(values)]
    return round((there.max() - there.min()) / step).bit_length() if there.size else 0
