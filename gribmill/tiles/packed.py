"""Exact and smaller: the source's own packed integers in the place of float32 values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.tiles.meta import PackedAs

Integers = npt.NDArray[np.uint16]
Values = npt.NDArray[np.float32]

MISSING = 65535
# Points worked on at once: their doubles stay in the processor's cache.
CHUNK_POINTS = 16_384


def pack(values: Values, packing: Any) -> tuple[Integers, PackedAs] | None:
    """The integers, and how to undo them; None where they would not give back every bit of the values.

    Each row holds differences from point to point: they deflate 10 to 20 % smaller than the integers themselves.
    """
    if packing.reference is None or packing.binary is None or packing.decimal is None:
        return None
    if abs(packing.binary) > 300 or abs(packing.decimal) > 100 or not np.isfinite(packing.reference):
        return None
    factor = _factor(packing.decimal)
    how = PackedAs(reference=packing.reference, scale=2.0**packing.binary, factor=factor, differences=True)
    flat = np.ascontiguousarray(values).reshape(-1)
    integers = np.empty(flat.size, np.uint16)
    for start in range(0, flat.size, CHUNK_POINTS):
        part = slice(start, start + CHUNK_POINTS)
        if not _pack_chunk(flat[part], how, integers[part]):
            return None
    whole = integers.reshape(values.shape)
    differences = whole.copy()
    np.subtract(whole[..., 1:], whole[..., :-1], out=differences[..., 1:])
    return differences, how


def unpack(integers: Integers, how: PackedAs) -> Values:
    """The float32 values that were packed, bit for bit."""
    if how.differences:
        integers = np.cumsum(integers, axis=-1, dtype=np.uint16)
    with np.errstate(over="ignore", invalid="ignore"):
        doubles = (integers.astype(np.float64) * how.scale + how.reference) * how.factor
        return np.where(integers == MISSING, np.float32(np.nan), doubles.astype(np.float32))


def _pack_chunk(values: Values, how: PackedAs, integers: Integers) -> bool:
    """Fill `integers`; False where they are out of range or do not give the values back."""
    missing = np.isnan(values) if np.isnan(values.min()) else None
    doubles = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        doubles /= how.factor
        doubles -= how.reference
        doubles /= how.scale
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
    """10^-decimal as ecCodes works it out, step by step: the last bit may differ from a power's."""
    factor = 1.0
    for _ in range(abs(decimal)):
        factor = factor / 10.0 if decimal > 0 else factor * 10.0
    return factor
