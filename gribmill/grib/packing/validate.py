"""Rejects fields whose sections contradict each other, before a decoder allocates memory or reads data based on them.

Japan's radar analyses use run-length packing with level values (template 5.200).
"""

from __future__ import annotations

import math

import numpy as np

from gribmill.grib.errors import GribError
from gribmill.grib.grid.rows import HARMONICS1, ScanLayout
from gribmill.grib.packing.describe import REFERENCED2, FieldPacking
from gribmill.grib.packing.images import check_jpeg, check_png
from gribmill.grib.packing.second_order import (
    BITS_LIMIT,
    FORM,
    GENERAL_EXTENDED,
    OWN_WIDTHS,
    bit_numbers,
    check_old_second_order,
    check_second_order1,
    check_second_order2,
)
from gribmill.grib.sections import BITMAP_FOLLOWS, NO_BITMAP, Sections1, Sections2, ieee32, unsigned
from gribmill.regions.grids import MOST_POINTS

# The largest known field has 47 million points. Decoding a field at this limit takes 0.8 GB.
POINT_LIMIT = MOST_POINTS
RUN_LENGTH_BITS = 16
# Powers of 2 and 10 beyond these may be infinite or zero, and all values with them.
LARGEST_BINARY, LARGEST_DECIMAL = 1000, 300

COMPLEX_DIFFERENCED = 3
IEEE = 4
SPECTRAL = {50, 51}


def check2(sections: Sections2, packing: FieldPacking, layout: ScanLayout | None) -> None:
    """Raise GribError unless points, bitmap, packed values and bytes of a GRIB2 field agree."""
    check_points(packing.points, layout)
    coded = packing.coded or 0
    if coded > packing.points:
        raise GribError(f"it has {coded} packed values for {packing.points} points")
    indicator = sections.bitmap[5]
    if indicator == BITMAP_FOLLOWS:
        _check_bitmap(sections.bitmap[6:], packing.points, coded)
        if coded == 0:
            return  # Every point is missing: ecCodes ignores the packed values, and images have none.
    elif indicator != NO_BITMAP:
        raise GribError(f"it uses the predefined bitmap {indicator} of its centre, which is not supported")
    elif coded != packing.points and (layout or packing.template in SPECTRAL):
        raise GribError(f"it has {coded} packed values for {packing.points} points and no bitmap")
    _check_packed2(sections.packing, sections.data[5:], packing, coded)


def check1(sections: Sections1, packing: FieldPacking, layout: ScanLayout | None) -> None:
    """Raise GribError unless points, bitmap, packed values and bytes of a GRIB1 field agree."""
    check_points(packing.points, layout)
    coded = packing.points
    if sections.bitmap:
        if unsigned(sections.bitmap, 5, 6) != 0:
            raise GribError("it uses a predefined bitmap of its centre, which is not supported")
        coded = _check_bitmap(sections.bitmap[6:], packing.points, packing.points)
    bits = packing.bits or 0
    if packing.name != "ieee":
        _check_scaling(packing)
    match packing.name:
        case "simple":
            _check_room(coded, bits, len(sections.data) - 11)
        case "ieee":
            _check_room(coded, bits, len(sections.data) - 12)
        case "second order":
            _check_second_order1(sections, packing, layout, coded)
        case name if sections.grid[5] != HARMONICS1:
            raise GribError(f"values packed as {name} on a grid of points are not supported")


def _check_second_order1(sections: Sections1, packing: FieldPacking, layout: ScanLayout | None, coded: int) -> None:
    if unsigned(sections.data, 14, 14) & FORM == GENERAL_EXTENDED | OWN_WIDTHS:
        check_second_order1(sections.data, coded)
        return
    present = np.ones(packing.points, np.bool_)
    if sections.bitmap:
        present = np.unpackbits(np.frombuffer(sections.bitmap[6:], np.uint8), count=packing.points) == 1
    check_old_second_order(sections.data, present, layout)


def check_points(points: int, layout: ScanLayout | None) -> None:
    """Raise GribError if there are no points, too many, or not rows × columns."""
    if points > POINT_LIMIT:
        raise GribError(f"it states {points} points, more than the limit of {POINT_LIMIT}")
    if points < 1:
        raise GribError("its grid has no points")
    if layout and layout.ny * layout.nx != points:
        raise GribError(f"it states {points} points on a grid of {layout.nx} × {layout.ny}")


def _check_bitmap(bits: bytes, points: int, most: int) -> int:
    if len(bits) * 8 < points:
        raise GribError(f"its bitmap of {len(bits)} bytes is too short for {points} points")
    present = int(np.unpackbits(np.frombuffer(bits, np.uint8), count=points).sum())
    if present > most:
        raise GribError(f"its bitmap needs {present} values, it has {most}")
    return present


def _check_packed2(section: bytes, data: memoryview, packing: FieldPacking, coded: int) -> None:
    if packing.template != IEEE:
        _check_scaling(packing)
    if packing.template in REFERENCED2 and not math.isfinite(ieee32(section, 12)):
        # ecCodes would read another number.
        raise GribError("its reference value is not a finite number")
    match packing.template:
        case 0 | 4 | 61:
            _check_room(coded, packing.bits or 0, len(data))
        case 1:
            # ecCodes would decode it as if each point had one value.
            raise GribError("a matrix of values at each point is not supported")
        case 2 | 3:
            _check_groups(section, data, coded)
        case 40 | 40000 if packing.bits:
            check_jpeg(data, coded)
        case 41 | 40010 if packing.bits:
            check_png(data, coded, packing.bits or 0)
        case 200:
            check_run_length(section, data, coded)
        case 50001 | 50002 if packing.bits:
            check_second_order2(section, data, coded)


def _check_scaling(packing: FieldPacking) -> None:
    if (packing.bits or 0) > BITS_LIMIT:
        raise GribError(f"it packs values in {packing.bits} bits, more than {BITS_LIMIT}")
    binary, decimal = packing.binary or 0, packing.decimal or 0
    if packing.bits and (abs(binary) > LARGEST_BINARY or abs(decimal) > LARGEST_DECIMAL):
        raise GribError(f"it scales values by 2^{binary} and 10^{-decimal}, beyond the range of numbers")


def _check_room(values: int, bits: int, room: int) -> None:
    if values * bits > room * 8:
        raise GribError(f"its {room} bytes of data are too few for {values} values of {bits} bits")


def _check_groups(section: bytes, data: memoryview, coded: int) -> None:
    """Complex packing: the group lengths must add up to the number of values, and their bits must fit in the data."""
    groups = unsigned(section, 32, 35)
    if groups == 0 or coded == 0:
        return
    if groups > coded:
        raise GribError(f"it has {groups} groups for {coded} values")
    widths_of = unsigned(section, 20, 20), unsigned(section, 37, 37), unsigned(section, 47, 47)
    if max(widths_of) > 32:
        raise GribError("its groups are described in more than 32 bits")
    place = 0
    if unsigned(section, 10, 11) == COMPLEX_DIFFERENCED:
        order, octets = unsigned(section, 48, 48), unsigned(section, 49, 49)
        if order not in (1, 2) or octets > 8:
            raise GribError(f"it has differences of order {order} with {octets} octets")
        place = (order + 1) * octets
    spans = [(groups * width + 7) // 8 for width in widths_of]
    if place + sum(spans) > len(data):
        raise GribError(f"its {len(data)} bytes of data are too few for {groups} groups")
    place += spans[0]
    widths = unsigned(section, 36, 36) + bit_numbers(data[place : place + spans[1]], groups, widths_of[1])
    place += spans[1]
    lengths = bit_numbers(data[place : place + spans[2]], groups, widths_of[2])
    lengths = unsigned(section, 38, 41) + lengths * unsigned(section, 42, 42)
    lengths[-1] = unsigned(section, 43, 46)
    place += spans[2]
    if int(lengths.sum()) != coded:
        raise GribError(f"its groups have {int(lengths.sum())} values, not {coded}")
    if int(widths.max()) > BITS_LIMIT or int((lengths * widths).sum()) > (len(data) - place) * 8:
        raise GribError("its groups need more bytes of data than there are")


def check_run_length(section: bytes, data: memoryview, values: int) -> None:
    """Raise GribError unless the runs hold `values` values, each with a valid level.

    A number up to `most` is a level; larger ones are the digits of its repeat count, least significant digit first.
    If the runs do not add up, ecCodes writes out of bounds or aborts the process.
    """
    bits, most, levels = unsigned(section, 12, 12), unsigned(section, 13, 14), unsigned(section, 15, 16)
    base = 2**bits - 1 - most
    if not 1 <= bits <= RUN_LENGTH_BITS or not 1 <= most <= levels or base < 1 or 17 + 2 * levels > len(section):
        raise GribError(f"it packs runs of {most} levels out of {levels} in {bits} bits, which is not possible")
    numbers = bit_numbers(data, len(data) * 8 // bits, bits)
    if not numbers.size or numbers[0] > most:
        raise GribError("its runs do not begin with a level")
    is_level = numbers <= most
    place = np.arange(numbers.size)
    digit = place - np.maximum.accumulate(np.where(is_level, place, 0)) - 1
    # In floating point, where an overflow is harmless; repeat counts up to POINT_LIMIT are exact.
    with np.errstate(over="ignore"):
        repeats = np.where(is_level, 1.0, (numbers - most - 1.0) * float(base) ** np.maximum(digit, 0))
        total = float(repeats.sum())
    if total != values:
        raise GribError(f"its runs have {total:.0f} values, not {values}")
