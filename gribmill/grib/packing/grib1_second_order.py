"""GRIB1's first forms of second-order packing, whose groups are rows, or begin where a secondary bitmap says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.grib.errors import GribError
from gribmill.grib.grid.scan_order import J_CONSECUTIVE, Layout
from gribmill.grib.octets import unsigned
from gribmill.grib.packing.second_order import FORM, OWN_WIDTHS, SECONDARY_BITMAP, check_groups, numbers_at


def check_old_second_order(data: memoryview, present: NDArray[np.bool_], layout: Layout | None) -> None:
    """Raise GribError unless the groups hold the values of the points that are `present`.

    ecCodes crashes or never ends where they do not. It reads the parts one after the other, wherever they say they are.
    """
    form, groups = unsigned(data, 14, 14) & FORM, unsigned(data, 17, 18) + 65536 * unsigned(data, 21, 21)
    values = int(present.sum())
    count = groups if form & OWN_WIDTHS else 1
    widths, place = numbers_at(data, 22, count, 8), 22 + count
    if form == OWN_WIDTHS:
        lengths = _rows(present, layout)
        if len(lengths) != groups:
            raise GribError(f"it has {groups} groups for {len(lengths)} rows")
    elif form in (SECONDARY_BITMAP, SECONDARY_BITMAP | OWN_WIDTHS):
        if unsigned(data, 19, 20) != values:
            raise GribError(f"it has {unsigned(data, 19, 20)} packed values for {values} points")
        lengths = _lengths(numbers_at(data, place, values, 1), groups)
        place += (values + 7) // 8
    else:
        raise GribError("its second-order packing is of a form that is not supported")
    bits = unsigned(data, 11, 11)
    numbers_at(data, place, groups, bits)
    check_groups(widths, lengths, values, data, place + (groups * bits + 7) // 8)


def _rows(present: NDArray[np.bool_], layout: Layout | None) -> NDArray[np.int64]:
    if layout is None:
        raise GribError("second-order packing by rows is not supported on a reduced grid")
    length = layout.ny if layout.scanning & J_CONSECUTIVE else layout.nx
    return np.asarray(present.reshape(-1, length).sum(axis=1), np.int64)


def _lengths(starts: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """How long each group is, from a bitmap with a 1 where one begins."""
    begin = np.flatnonzero(starts)
    if begin.size != groups or groups == 0 or begin[0] != 0:
        raise GribError(f"its secondary bitmap has {begin.size} groups of {groups}")
    return np.diff(begin, append=starts.size)
