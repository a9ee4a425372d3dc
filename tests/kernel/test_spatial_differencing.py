"""Differences of any size, up to the limits of the kernel's arithmetic: equal to ecCodes, or declined."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.sections import Sections2
from tests.kernel.both_decoders import by_eccodes, by_kernel, needs_kernel
from tests.kernel.complex_packing_writer import grouped
from tests.kernel.message_variants import TINY
from tests.make_grib import make_message

pytestmark = needs_kernel
LONG = replace(TINY, nx=1031, ny=3, keys=TINY.keys | {"longitudeOfLastGridPointInDegrees": 257.5,
                                                      "iDirectionIncrementInDegrees": 0.25})  # fmt: skip
POINTS = LONG.nx * LONG.ny
BOUND = 1 << 30


def field_of(codes: list[int], order: int) -> Field:
    (model,) = fields(make_message(LONG, packing="grid_complex"), "made")
    assert isinstance(model.sections, Sections2)
    (field,) = fields(grouped(model.sections, codes, management=0, order=order, seed=len(codes)), "made")
    return field


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("bits", [1, 5, 9, 13, 17, 21, 24, 28])
def test_noise_of_any_amplitude_is_equal(order: int, bits: int) -> None:
    chance = random.Random(bits)
    field = field_of([chance.randrange(1 << bits) for _ in range(POINTS)], order)
    found = by_kernel(field)
    assert (found is None) == (bits > 24)
    assert (field.values() if found is None else found).tobytes() == by_eccodes(field).tobytes()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("place", [2, 3, 9, 17, 1030, 1031, 1033, 2000, POINTS - 1])
@pytest.mark.parametrize("over", [0, 1, 5000])
def test_one_value_out_of_range_is_noticed_wherever_it_is(order: int, place: int, over: int) -> None:
    codes = [BOUND - 60_000 + number % 7 for number in range(POINTS)]
    codes[place] = BOUND - 1 + over
    field = field_of(codes, order)
    found = by_kernel(field)
    assert (found is None) == (over > 0)
    assert (field.values() if found is None else found).tobytes() == by_eccodes(field).tobytes()


@pytest.mark.parametrize("order", [1, 2])
def test_values_that_wrap_around_in_32_bits_are_declined(order: int) -> None:
    """A growing slope: the values would be in range again after they have wrapped around."""
    codes = [number * (number + 1) // 2 * 2000 for number in range(POINTS)]
    field = field_of(codes, order)
    assert max(codes) > 1 << 33
    assert by_kernel(field) is None
    assert field.values().tobytes() == by_eccodes(field).tobytes()
