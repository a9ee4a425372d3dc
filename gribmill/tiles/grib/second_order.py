"""GRIB1's second-order packing in ECMWF's general extended form: its groups must add up to the values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.tiles.grib.error import GribError
from gribmill.tiles.grib.octets import Section, unsigned

GENERAL_EXTENDED, TWO_ORDERS, PLUS_ONE = 0x08, 0x02, 0x01
BITS_LIMIT = 32


def check_second_order(data: memoryview, values: int) -> None:
    """Raise GribError unless the groups hold `values` values and their bits lie within the data.

    ecCodes writes past its memory where they do not. Older forms of the packing are left to it unchecked.
    """
    flags = unsigned(data, 14, 14)
    if not flags & GENERAL_EXTENDED or values == 0:
        return
    groups = unsigned(data, 17, 18) + 65536 * unsigned(data, 21, 21)
    order = (2 if flags & TWO_ORDERS else 0) + (1 if flags & PLUS_ONE else 0)
    widths_at, lengths_at, second_at = _widths_at(data, order), unsigned(data, 24, 25), unsigned(data, 15, 16)
    widths = _numbers(data, widths_at, groups, unsigned(data, 22, 22))
    lengths = _numbers(data, lengths_at, groups, unsigned(data, 23, 23))
    _numbers(data, unsigned(data, 12, 13), groups, unsigned(data, 11, 11))
    if int(lengths.sum()) + order != values:
        raise GribError(f"its groups hold {int(lengths.sum()) + order} values of {values}")
    room = max(len(data) - second_at + 1, 0) * 8
    if int(widths.max(initial=0)) > BITS_LIMIT or int((widths * lengths).sum()) > room:
        raise GribError("its groups need more bytes of data than there are")


def _widths_at(data: memoryview, order: int) -> int:
    """The octet of the groups' widths: behind the first values and the bias of the differences, if any."""
    if order == 0:
        return 26
    return 27 + ((order + 1) * unsigned(data, 26, 26) + 7) // 8


def _numbers(data: memoryview, first: int, count: int, width: int) -> NDArray[np.int64]:
    room = len(data) - first + 1
    if width > BITS_LIMIT or first < 12 or count * width > room * 8:
        raise GribError(f"its {len(data)} bytes of data are too few for {count} groups")
    return bit_numbers(data[first - 1 : first - 1 + (count * width + 7) // 8], count, width)


def bit_numbers(data: Section, count: int, width: int) -> NDArray[np.int64]:
    """`count` unsigned numbers of `width` bits each, one after the other."""
    if width == 0:
        return np.zeros(count, np.int64)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), count=count * width).reshape(count, width)
    weights = np.int64(1) << np.arange(width - 1, -1, -1, dtype=np.int64)
    return bits @ weights
