"""Lossless requantization: converts float32 values back to the packed integers of their GRIB message."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Values
from gribmill.kernel import native
from gribmill.tiles.format.meta import PackedAs

Integers = npt.NDArray[np.uint16]

MISSING = 65535
# Points per step, so that their float64 values stay in the processor's cache.
CHUNK_POINTS = 16_384


def requantize(values: Values, packing: Any) -> tuple[Integers, PackedAs] | None:
    """The integers, and how to restore the values; None if the values could not be restored bit for bit.

    Rows are stored as differences between adjacent points, which compress 10 to 20 % better than the integers.
    """
    if packing.reference is None or packing.binary is None or packing.decimal is None:
        return None
    if abs(packing.binary) > 300 or abs(packing.decimal) > 100 or not math.isfinite(packing.reference):
        return None
    how = _packed_as(packing.reference, packing.binary, packing.decimal)
    integers = np.empty(values.shape, np.uint16)
    if not native.available() or not values.size:
        return (integers, how) if _requantize(values, how, integers) else None
    body = values if values.flags.c_contiguous else np.ascontiguousarray(values)
    packed = native.requantize(body, values.shape[-1], how.reference, how.scale, how.factor, integers)
    return (integers, how) if packed else None


def dequantize(integers: Integers, how: PackedAs) -> Values:
    """Restores the float32 values, bit for bit."""
    if how.zigzag:
        integers = integers >> 1 ^ np.negative(integers & 1)
    if how.differences:
        integers = np.cumsum(integers, axis=-1, dtype=np.uint16)
    with np.errstate(over="ignore", invalid="ignore"):
        doubles = (integers.astype(np.float64) * how.scale + how.reference) * how.factor
        return np.where(integers == MISSING, np.float32(np.nan), doubles.astype(np.float32))


@lru_cache(maxsize=256)
def _packed_as(reference: float, binary: int, decimal: int) -> PackedAs:
    scale, factor = 2.0**binary, _factor(decimal)
    return PackedAs(reference=reference, scale=scale, factor=factor, differences=True, zigzag=True)


def _requantize(values: Values, how: PackedAs, integers: Integers) -> bool:
    """The kernel's function in Python: fill `integers` with differences; False if they do not restore the values."""
    flat, whole = np.ascontiguousarray(values).reshape(-1), integers.reshape(-1)
    for start in range(0, flat.size, CHUNK_POINTS):
        part = slice(start, start + CHUNK_POINTS)
        if not _requantize_chunk(flat[part], how, whole[part]):
            return False
    differences = np.diff(integers, axis=-1, prepend=np.uint16(0)).view(np.int16)
    np.copyto(integers, (differences << 1 ^ differences >> 15).view(np.uint16))
    return True


def _requantize_chunk(values: Values, how: PackedAs, integers: Integers) -> bool:
    """Fill `integers`; False if they are out of range or do not restore the values."""
    missing = np.isnan(values) if np.isnan(values.min()) else None
    doubles = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        doubles *= 1.0 / how.factor
        doubles -= how.reference
        doubles *= 1.0 / how.scale
        np.rint(doubles, out=doubles)
        if missing is not None:
            doubles[missing] = 0.0
        if not (doubles.min() >= 0 and doubles.max() < MISSING):
            return False
        np.copyto(integers, doubles, casting="unsafe")
        doubles *= how.scale
        doubles += how.reference
        doubles *= how.factor
        same = doubles.astype(np.float32).view(np.uint32) == values.view(np.uint32)
    if missing is not None:
        same |= missing
        integers[missing] = MISSING
    return bool(same.all())


def _factor(decimal: int) -> float:
    """10^-decimal by repeated division, as in ecCodes: the last bit can differ from the result of a power."""
    factor = 1.0
    for _ in range(abs(decimal)):
        factor = factor / 10.0 if decimal > 0 else factor * 10.0
    return factor
