"""Writes a GRIB message with ecCodes: keys, then values in any packing that ecCodes supports."""

from __future__ import annotations

# Before ecCodes: its wheel contains an old SQLite, which Python would use if sqlite3 were imported later.
import sqlite3  # noqa: F401
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gribmill.sandbox.grib_writer.scan_order import to_scan_order

MISSING = 1e30
Missing = Literal["bitmap", "management"]


@dataclass(frozen=True, slots=True)
class PackingChoice:
    """`packing` is ecCodes' packingType; `bits` per value (not for grid_ieee); `order` of spatial differencing.

    `missing`: points without a value are marked by a bitmap, or by a reserved number (missing value management).
    """

    packing: str
    bits: int
    order: int | None = None
    missing: Missing = "bitmap"


class GribMessage:
    """A message held by an ecCodes handle. Use it as a context manager."""

    def __init__(self, edition: int = 2, copy_of: GribMessage | None = None) -> None:
        import eccodes

        self._codes: Any = eccodes
        if copy_of is None:
            self._handle: int = eccodes.codes_grib_new_from_samples(f"GRIB{edition}")
        else:
            self._handle = eccodes.codes_clone(copy_of._handle)

    def __enter__(self) -> GribMessage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._codes.codes_release(self._handle)

    def set(self, keys: Iterable[tuple[str, Any]]) -> None:
        """Set keys in this order, which matters to ecCodes."""
        for key, value in keys:
            self._codes.codes_set(self._handle, key, value)

    def get(self, key: str) -> Any:
        """The value of a key."""
        return self._codes.codes_get(self._handle, key)

    def pack(self, rows: NDArray[Any], choice: PackingChoice) -> None:
        """Set the values: rows from south to north, NaN where missing."""
        flat = to_scan_order(rows, self.get("scanningMode")).astype(np.float64, copy=False)
        holes = np.isnan(flat)
        some = bool(holes.any())
        # ecCodes writes second-order packing only by repacking.
        later = choice.packing.startswith("grid_second_order")
        self.set(_packing_keys(choice, later=later, bitmap=some and choice.missing == "bitmap"))
        self._codes.codes_set_values(self._handle, np.where(holes, MISSING, flat) if some else flat)
        if later:
            self.set([("packingType", choice.packing)])

    def data(self) -> bytes:
        """The message."""
        data: bytes = self._codes.codes_get_message(self._handle)
        return data


def _packing_keys(choice: PackingChoice, *, later: bool, bitmap: bool) -> Iterable[tuple[str, Any]]:
    yield "missingValue", MISSING
    if not later:
        yield "packingType", choice.packing
    if choice.order is not None and choice.packing == "grid_complex_spatial_differencing":
        yield "orderOfSpatialDifferencing", choice.order
    if choice.missing == "management":
        yield "missingValueManagementUsed", 1
    if choice.packing == "grid_ieee":
        yield "precision", 1
    else:
        yield "bitsPerValue", choice.bits
    if bitmap:
        yield "bitmapPresent", 1
