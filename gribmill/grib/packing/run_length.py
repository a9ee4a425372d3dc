"""Run-length packing with level values (template 5.200), as Japan's radar analyses have it."""

from __future__ import annotations

import numpy as np

from gribmill.grib.errors import GribError
from gribmill.grib.octets import unsigned
from gribmill.grib.packing.second_order import bit_numbers

MOST_BITS = 16


def check_run_length(section: bytes, data: memoryview, values: int) -> None:
    """Raise GribError unless the runs have `values` values, each of a valid level.

    A number up to `most` is a level; larger ones are the digits of its repetition, the least significant digit first.
    ecCodes writes beyond its memory, or aborts the process, where they do not add up.
    """
    bits, most, levels = unsigned(section, 12, 12), unsigned(section, 13, 14), unsigned(section, 15, 16)
    base = 2**bits - 1 - most
    if not 1 <= bits <= MOST_BITS or not 1 <= most <= levels or base < 1 or 17 + 2 * levels > len(section):
        raise GribError(f"it packs runs of {most} levels out of {levels} in {bits} bits, which is not possible")
    numbers = bit_numbers(data, len(data) * 8 // bits, bits)
    if not numbers.size or numbers[0] > most:
        raise GribError("its runs do not begin with a level")
    is_level = numbers <= most
    place = np.arange(numbers.size)
    digit = place - np.maximum.accumulate(np.where(is_level, place, 0)) - 1
    # In floating point, which cannot overflow; repetitions within the limit of points are exact.
    with np.errstate(over="ignore"):
        repeats = np.where(is_level, 1.0, (numbers - most - 1.0) * float(base) ** np.maximum(digit, 0))
        total = float(repeats.sum())
    if total != values:
        raise GribError(f"its runs have {total:.0f} values, not {values}")
