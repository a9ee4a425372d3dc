"""Validates second-order packing: rejects groups that do not add up to the number of values.

GRIB1 has ECMWF's general extended form, and older forms whose groups are rows or are marked in a secondary bitmap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.grib.errors import GribError
from gribmill.grib.grid.rows import J_CONSECUTIVE, ScanLayout
from gribmill.grib.sections import Octets, unsigned

# Flags in octet 14 of GRIB1's data section.
MATRIX, SECONDARY_BITMAP, OWN_WIDTHS, GENERAL_EXTENDED, TWO_ORDERS, PLUS_ONE = 0x40, 0x20, 0x10, 0x08, 0x02, 0x01
FORM = MATRIX | SECONDARY_BITMAP | OWN_WIDTHS | GENERAL_EXTENDED
# ecCodes reads a number into one machine word of 64 bits, from the octet in which it begins.
BITS_LIMIT = 57
HIGHEST_ORDER = 3
# ECMWF's GRIB2 template for boustrophedonic rows has an octet of flags before the order of the differences.
BOUSTROPHEDONIC2 = 50002


def check_second_order1(data: memoryview, values: int) -> None:
    """Raise GribError unless the groups hold `values` values and their bits are within the data.

    Otherwise ecCodes writes out of bounds.
    """
    flags = unsigned(data, 14, 14)
    if values == 0:
        return
    groups = unsigned(data, 17, 18) + 65536 * unsigned(data, 21, 21)
    order = (2 if flags & TWO_ORDERS else 0) + (1 if flags & PLUS_ONE else 0)
    widths_at, lengths_at, second_at = _widths_at(data, order), unsigned(data, 24, 25), unsigned(data, 15, 16)
    widths = numbers_at(data, widths_at, groups, unsigned(data, 22, 22))
    lengths = numbers_at(data, lengths_at, groups, unsigned(data, 23, 23))
    numbers_at(data, unsigned(data, 12, 13), groups, unsigned(data, 11, 11))
    check_groups(widths, lengths, values - order, data, second_at)


def check_second_order2(section: bytes, data: memoryview, values: int) -> None:
    """The same check for a GRIB2 field: `section` is section 5, `data` the packed values of section 7."""
    groups, order_at = unsigned(section, 22, 25), 33 if unsigned(section, 10, 11) == BOUSTROPHEDONIC2 else 32
    order = unsigned(section, order_at, order_at)
    bits = (order + 1) * unsigned(section, order_at + 1, order_at + 1) if order else 0
    if order > HIGHEST_ORDER or bits > (len(section) - order_at - 1) * 8:
        raise GribError(f"it has differences of order {order} in {len(section)} bytes")
    place, found = 1, []
    for octet in (30, 31, 21):  # Widths, lengths and first values of the groups, in this order.
        width = unsigned(section, octet, octet)
        found.append(numbers_at(data, place, groups, width))
        place += (groups * width + 7) // 8
    check_groups(found[0], found[1], values - order, data, place)


def check_old_second_order(data: memoryview, present: NDArray[np.bool_], layout: ScanLayout | None) -> None:
    """The same check for GRIB1's older forms: the groups must hold one value for each `present` point.

    Otherwise ecCodes crashes or loops forever. It reads the parts in sequence and ignores their stated positions.
    """
    form, groups = unsigned(data, 14, 14) & FORM, unsigned(data, 17, 18) + 65536 * unsigned(data, 21, 21)
    values = int(present.sum())
    count = groups if form & OWN_WIDTHS else 1
    widths, place = numbers_at(data, 22, count, 8), 22 + count
    if form == OWN_WIDTHS:
        lengths = _row_lengths(present, layout)
        if len(lengths) != groups:
            raise GribError(f"it has {groups} groups for {len(lengths)} rows")
    elif form in (SECONDARY_BITMAP, SECONDARY_BITMAP | OWN_WIDTHS):
        if unsigned(data, 19, 20) != values:
            raise GribError(f"it has {unsigned(data, 19, 20)} packed values for {values} points")
        lengths = _bitmap_lengths(numbers_at(data, place, values, 1), groups)
        place += (values + 7) // 8
    else:
        raise GribError("this form of second-order packing is not supported")
    bits = unsigned(data, 11, 11)
    numbers_at(data, place, groups, bits)
    check_groups(widths, lengths, values, data, place + (groups * bits + 7) // 8)


def _row_lengths(present: NDArray[np.bool_], layout: ScanLayout | None) -> NDArray[np.int64]:
    if layout is None:
        raise GribError("second-order packing by rows is not supported on a reduced grid")
    length = layout.ny if layout.scanning & J_CONSECUTIVE else layout.nx
    return np.asarray(present.reshape(-1, length).sum(axis=1), np.int64)


def _bitmap_lengths(starts: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The length of each group, from a bitmap with a 1 at the start of each group."""
    begin = np.flatnonzero(starts)
    if begin.size != groups or groups == 0 or begin[0] != 0:
        raise GribError(f"its secondary bitmap has {begin.size} groups, not {groups}")
    return np.diff(begin, append=starts.size)


def check_groups(
    widths: NDArray[np.int64], lengths: NDArray[np.int64], values: int, data: memoryview, first: int
) -> None:
    """Raise GribError unless the groups hold `values` values and their bits fit in the data from octet `first` on."""
    if int(lengths.sum()) != values:
        raise GribError(f"its groups have {int(lengths.sum())} values, not {values}")
    room = max(len(data) - first + 1, 0) * 8
    if int(widths.max(initial=0)) > BITS_LIMIT or int((widths * lengths).sum()) > room:
        raise GribError("its groups need more bytes of data than there are")


def _widths_at(data: memoryview, order: int) -> int:
    """The first octet of the group widths, which follow the first values and the bias of the differences, if any."""
    if order == 0:
        return 26
    return 27 + ((order + 1) * unsigned(data, 26, 26) + 7) // 8


def numbers_at(data: Octets, first: int, count: int, width: int) -> NDArray[np.int64]:
    """`count` numbers of `width` bits, starting at octet `first`. Raises GribError if the data are too short."""
    room = len(data) - first + 1
    if width > BITS_LIMIT or first < 1 or count * width > room * 8 or count > 8 * len(data):
        raise GribError(f"its {len(data)} bytes of data are too few for {count} groups")
    return bit_numbers(data[first - 1 : first - 1 + (count * width + 7) // 8], count, width)


def bit_numbers(data: Octets, count: int, width: int) -> NDArray[np.int64]:
    """Unpacks `count` consecutive unsigned numbers of `width` bits each."""
    if width == 0:
        return np.zeros(count, np.int64)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), count=count * width).reshape(count, width)
    weights = np.int64(1) << np.arange(width - 1, -1, -1, dtype=np.int64)
    return bits @ weights
