"""Second-order packing in ECMWF's general extended form: its groups must add up to the values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.grib.errors import GribError
from gribmill.grib.octets import Section, unsigned

# In octet 14 of GRIB1's data section.
MATRIX, SECONDARY_BITMAP, OWN_WIDTHS, GENERAL_EXTENDED, TWO_ORDERS, PLUS_ONE = 0x40, 0x20, 0x10, 0x08, 0x02, 0x01
FORM = MATRIX | SECONDARY_BITMAP | OWN_WIDTHS | GENERAL_EXTENDED
# ecCodes reads a number into one machine word.
BITS_LIMIT = 63
HIGHEST_ORDER = 3
# ECMWF's GRIB2 template for rows that run to and fro has an octet of flags before the order of the differences.
BOUSTROPHEDONIC2 = 50002


def check_second_order1(data: memoryview, values: int) -> None:
    """Raise GribError unless the groups hold `values` values and their bits lie within the data.

    ecCodes writes past its memory where they do not.
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
    """The same for a GRIB2 field: section 5, and what section 7 holds behind its head."""
    groups, order_at = unsigned(section, 22, 25), 33 if unsigned(section, 10, 11) == BOUSTROPHEDONIC2 else 32
    order = unsigned(section, order_at, order_at)
    bits = (order + 1) * unsigned(section, order_at + 1, order_at + 1) if order else 0
    if order > HIGHEST_ORDER or bits > (len(section) - order_at - 1) * 8:
        raise GribError(f"it has differences of order {order} in {len(section)} bytes")
    place, found = 1, []
    for octet in (30, 31, 21):  # Widths, lengths and first values of the groups follow each other.
        width = unsigned(section, octet, octet)
        found.append(numbers_at(data, place, groups, width))
        place += (groups * width + 7) // 8
    check_groups(found[0], found[1], values - order, data, place)


def check_groups(
    widths: NDArray[np.int64], lengths: NDArray[np.int64], values: int, data: memoryview, first: int
) -> None:
    """Raise GribError unless groups of these bits and lengths hold so many values, from this octet of the data on."""
    if int(lengths.sum()) != values:
        raise GribError(f"its groups hold {int(lengths.sum())} values of {values}")
    room = max(len(data) - first + 1, 0) * 8
    if int(widths.max(initial=0)) > BITS_LIMIT or int((widths * lengths).sum()) > room:
        raise GribError("its groups need more bytes of data than there are")


def _widths_at(data: memoryview, order: int) -> int:
    """The octet of the groups' widths: behind the first values and the bias of the differences, if any."""
    if order == 0:
        return 26
    return 27 + ((order + 1) * unsigned(data, 26, 26) + 7) // 8


def numbers_at(data: Section, first: int, count: int, width: int) -> NDArray[np.int64]:
    """`count` numbers of `width` bits from an octet on, or a GribError where the data end before."""
    room = len(data) - first + 1
    if width > BITS_LIMIT or first < 1 or count * width > room * 8 or count > 8 * len(data):
        raise GribError(f"its {len(data)} bytes of data are too few for {count} groups")
    return bit_numbers(data[first - 1 : first - 1 + (count * width + 7) // 8], count, width)


def bit_numbers(data: Section, count: int, width: int) -> NDArray[np.int64]:
    """`count` unsigned numbers of `width` bits each, one after the other."""
    if width == 0:
        return np.zeros(count, np.int64)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), count=count * width).reshape(count, width)
    weights = np.int64(1) << np.arange(width - 1, -1, -1, dtype=np.int64)
    return bits @ weights
