"""The fields of a GRIB file as ecCodes reads them: values and coordinates, rows south to north, columns west to east.

Uses nothing from gribmill.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
FULL_CIRCLE = 360.0


@dataclass(frozen=True)
class EccodesField:
    """One field. Without `lat` and `lon`, ecCodes does not know where its points are; reduced rows are kept flat."""

    offset: int
    values: Doubles
    lat: Doubles | None
    lon: Doubles | None
    reduced: bool


def eccodes_fields(path: Path, wanted: Collection[int]) -> Iterator[tuple[int, EccodesField]]:
    """The wanted fields, counted from 0 over the file; fields of one message count separately."""
    if not wanted:
        return
    eccodes.codes_grib_multi_support_on()
    try:
        with path.open("rb") as file:
            for place in range(max(wanted) + 1):
                handle = eccodes.codes_grib_new_from_file(file)
                if handle is None:
                    return
                try:
                    if place in wanted:
                        yield place, _field(handle)
                finally:
                    eccodes.codes_release(handle)
    finally:
        eccodes.codes_grib_multi_support_off()


def _field(handle: int) -> EccodesField:
    eccodes.codes_set(handle, "missingValue", float("nan"))
    values = eccodes.codes_get_values(handle)
    lat = lon = None
    with suppress(eccodes.CodesInternalError):
        lat, lon = (eccodes.codes_get_array(handle, name, float) for name in ("latitudes", "longitudes"))
    reduced = bool(_number(handle, "PLPresent") or _number(handle, "numberOfOctectsForNumberOfPoints"))
    shape = _number(handle, "Nj") or _number(handle, "Ny"), _number(handle, "Ni") or _number(handle, "Nx")
    offset = int(eccodes.codes_get(handle, "offset", float))
    if reduced or shape[0] * shape[1] != values.size:
        return EccodesField(offset, values, lat, lon, reduced=True)
    # ecCodes computes the coordinates of alternating rows as if all had the same direction.
    order, straight = _order(handle, shape, alternate=True), _order(handle, shape, alternate=False)
    lat, lon = (None if array is None or array.size != values.size else array[straight] for array in (lat, lon))
    return EccodesField(offset, values[order], lat, lon, reduced=False)


def _order(handle: int, shape: tuple[int, int], *, alternate: bool) -> NDArray[Any]:
    """The position of each point in the message."""
    rows, columns = shape
    by_columns = bool(_number(handle, "jPointsAreConsecutive"))
    lines = np.arange(rows * columns).reshape((columns, rows) if by_columns else shape)
    if alternate and _number(handle, "alternativeRowScanning"):
        lines[1::2] = lines[1::2, ::-1]
    lines = lines.T if by_columns else lines
    # ecCodes has no scanning mode for NCEP's own templates, which begin in the south.
    if not _number(handle, "jScansPositively") and eccodes.codes_is_defined(handle, "jScansPositively"):
        lines = lines[::-1]
    return lines[:, ::-1] if _number(handle, "iScansNegatively") else lines


def _number(handle: int, key: str) -> int:
    try:
        return 0 if eccodes.codes_is_missing(handle, key) else int(eccodes.codes_get(handle, key, int))
    except eccodes.CodesInternalError:
        return 0
