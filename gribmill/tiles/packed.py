"""Exact and smaller: the source's own packed integers in the place of float32 values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.tiles.meta import PackedAs

MISSING = 65535


def pack(values: npt.NDArray[np.float32], packing: Any) -> tuple[npt.NDArray[np.uint16], PackedAs] | None:
    """The integers, and how to undo them; None where they would not give back every bit of the values."""
    if packing.reference is None or packing.binary is None or packing.decimal is None:
        return None
    if abs(packing.binary) > 300 or abs(packing.decimal) > 100 or not np.isfinite(packing.reference):
        return None
    known = ~np.isnan(values)
    doubles = np.where(known, values, 0.0).astype(np.float64)
    how = PackedAs(reference=packing.reference, scale=2.0**packing.binary, factor=_factor(packing.decimal))
    with np.errstate(over="ignore", invalid="ignore"):
        integers = np.rint((doubles / how.factor - how.reference) / how.scale)
    if not ((integers >= 0) & (integers < MISSING))[known].all():
        return None
    packed = np.where(known, integers, MISSING).astype(np.uint16)
    if unpack(packed, how).tobytes() != np.where(known, values, np.float32(np.nan)).tobytes():
        return None
    return packed, how


def unpack(integers: npt.NDArray[np.uint16], how: PackedAs) -> npt.NDArray[np.float32]:
    """The float32 values that were packed, bit for bit."""
    with np.errstate(over="ignore", invalid="ignore"):
        doubles = (integers.astype(np.float64) * how.scale + how.reference) * how.factor
        return np.where(integers == MISSING, np.float32(np.nan), doubles.astype(np.float32))


def _factor(decimal: int) -> float:
    """10^-decimal as ecCodes works it out, step by step: the last bit may differ from a power's."""
    factor = 1.0
    for _ in range(abs(decimal)):
        factor = factor / 10.0 if decimal > 0 else factor * 10.0
    return factor
