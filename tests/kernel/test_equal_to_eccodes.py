"""The kernel decodes to the values of ecCodes, bit for bit, for every kind of message that it covers."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.sections import Sections2
from tests.kernel.both_decoders import by_eccodes, by_kernel, needs_kernel
from tests.kernel.message_variants import COVERED, SCANNING_MODES, TINY, fields_of_values, packings, small_messages
from tests.make_grib import GRIDS, make_message, smooth_values

pytestmark = [needs_kernel, pytest.mark.slow]


def only(message: bytes) -> Field:
    (field,) = fields(message, "made")
    return field


def only_sections(message: bytes) -> Sections2:
    sections = only(message).sections
    assert isinstance(sections, Sections2)
    return sections


def check(message: bytes) -> None:
    for field in fields(message, "made"):
        found = by_kernel(field)
        if found is None and field.packing.bits == 0 and field.packing.template in (2, 3):
            continue  # a group reference of 0 bits: releases of ecCodes differ on it
        assert found is not None, "the kernel declined the field"
        assert found.tobytes() == by_eccodes(field).tobytes()


@pytest.mark.parametrize("name", sorted(small_messages()))
def test_every_small_message_is_equal(name: str) -> None:
    check(small_messages()[name])


@pytest.mark.parametrize("kind", sorted(fields_of_values((60, 90))))
def test_every_packing_of_a_larger_field_is_equal(kind: str) -> None:
    for message in packings("hrrr-small", fields_of_values((60, 90))[kind]).values():
        check(message)


@pytest.mark.parametrize("bits", range(1, 33))
def test_every_number_of_bits_is_equal(bits: int) -> None:
    values = smooth_values(TINY.shape)
    for packing in ("grid_simple", "grid_ccsds"):
        check(make_message(TINY, values=values, packing=packing, bits=bits))
    if bits < 24:  # ecCodes does not write wider groups
        check(make_message(TINY, values=values, packing="grid_complex", bits=bits))


@pytest.mark.parametrize("mode", SCANNING_MODES)
@pytest.mark.parametrize("packing", COVERED)
def test_every_scanning_mode_is_equal(mode: int, packing: str) -> None:
    for kind in ("smooth", "holed"):
        check(make_message(TINY, values=fields_of_values(TINY.shape)[kind], packing=packing, scanning=mode))


@pytest.mark.parametrize("offset", [0x01, 0x02, 0x04, 0x08])
def test_offset_rows_are_declined(offset: int) -> None:
    """Bits 5 to 8 of the scanning mode: the points of such rows are not on one grid."""
    message = make_message(TINY, scanning=0, packing="grid_simple")
    field = only(message)
    place = message.find(field.sections.grid) + 71
    changed = only(message[:place] + bytes([offset]) + message[place + 1 :])
    assert by_kernel(field) is not None
    assert by_kernel(changed) is None


@pytest.mark.parametrize("packing", ["grid_png", "grid_jpeg", "grid_ieee"])
def test_templates_that_are_not_covered_are_left_to_eccodes(packing: str) -> None:
    field = only(make_message("hrrr-small", packing=packing))
    assert by_kernel(field) is None
    assert field.values().tobytes() == by_eccodes(field).tobytes()


@pytest.mark.parametrize("mode", [0x00, 0xC0, 0x20, 0xF0])
def test_lines_longer_than_the_decode_buffer_are_equal(mode: int) -> None:
    long = replace(TINY, nx=9001, ny=3, keys=TINY.keys | {"longitudeOfLastGridPointInDegrees": 350,
                                                          "iDirectionIncrementInDegrees": 350 / 9000})  # fmt: skip
    tall = replace(TINY, nx=3, ny=9001, keys=TINY.keys | {"jDirectionIncrementInDegrees": 25 / 9000})
    for spec in (long, tall):
        for kind in ("smooth", "pinholes"):
            values = fields_of_values(spec.shape)[kind]
            for packing in COVERED:
                check(make_message(spec, values=values, packing=packing, scanning=mode))


@pytest.mark.parametrize("packing", COVERED)
@pytest.mark.parametrize("reference", [0.0, 1.0, -273.15, 1.1754944e-38, 3.4e38, -1e-20, 2.5])
def test_every_reference_value_and_scale_factor_is_equal(packing: str, reference: float) -> None:
    """Overwritten in a message: the kernel gives the values of ecCodes, or declines."""
    message = make_message(TINY, values=smooth_values(TINY.shape), packing=packing)
    declined = 0
    for binary in (-300, -126, -31, -7, -1, 0, 1, 15, 127, 300):
        for decimal in (-100, -20, -3, -1, 0, 1, 2, 7, 22, 100):
            field = only(rescaled(message, reference, binary, decimal))
            found = by_kernel(field)
            declined += found is None
            assert found is None or found.tobytes() == by_eccodes(field).tobytes()
    assert declined == 0


def test_reference_values_that_libraries_read_differently_are_declined() -> None:
    message = make_message(TINY, packing="grid_simple")
    for reference in (float("inf"), float("nan"), 1e-40, -0.0):
        assert by_kernel(only(rescaled(message, reference, 0, 0))) is None


def rescaled(message: bytes, reference: float, binary: int, decimal: int) -> bytes:
    place = message.find(only_sections(message).packing)
    words = (abs(number) | (0x8000 if number < 0 else 0) for number in (binary, decimal))
    return message[: place + 11] + struct.pack(">fHH", reference, *words) + message[place + 19 :]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["smooth", "holed"])
def test_differences_beyond_the_range_of_the_kernel_are_declined(order: int, kind: str) -> None:
    values = fields_of_values((60, 90))[kind]
    message = make_message("hrrr-small", values=values, order=order, bits=20, missing="management")
    sections = only_sections(message)
    octets = sections.packing[48]
    minimum = message.find(bytes(sections.data)) + 5 + order * octets
    assert by_kernel(only(message)) is not None
    for first in (0x7F, 0xFF):
        field = only(message[:minimum] + bytes([first] + [0xFF] * (octets - 1)) + message[minimum + octets :])
        assert by_kernel(field) is None
        assert field.values().tobytes() == by_eccodes(field).tobytes()


@pytest.mark.parametrize("flags", [0, 2, 4, 8, 12, 14, 10, 14 | 64])
@pytest.mark.parametrize("block", [8, 16, 32, 64])
@pytest.mark.parametrize("interval", [1, 3, 128])
def test_every_combination_of_ccsds_options_is_equal(flags: int, block: int, interval: int) -> None:
    keys = {"packingType": "grid_ccsds", "ccsdsFlags": flags, "ccsdsBlockSize": block, "ccsdsRsi": interval}
    for kind in ("smooth", "showers", "steps", "pinholes"):
        for bits in (3, 8, 14, 24):
            values = fields_of_values(TINY.shape)[kind]
            check(make_message(TINY, values=values, packing="grid_ccsds", bits=bits, keys=keys))


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_ccsds_with_restricted_code_options_is_equal(bits: int) -> None:
    keys = {"packingType": "grid_ccsds", "ccsdsFlags": 14 | 16}
    values = np.rint(fields_of_values(TINY.shape)["smooth"]) % (1 << bits)
    check(make_message(TINY, values=values, packing="grid_ccsds", bits=bits, keys=keys))


@pytest.mark.parametrize("preprocess", [False, True])
@pytest.mark.parametrize("place", range(1, 17))
@pytest.mark.parametrize("high", [3, 4, 8, 15])
def test_ccsds_codes_wider_than_a_sample_are_declined(preprocess: bool, place: int, high: int) -> None:
    """64 samples of 30 bits, split into a fundamental sequence and 28 low bits: more than 3 in the first do not fit."""
    square = replace(TINY, nx=8, ny=8, keys=TINY.keys | {
        "longitudeOfLastGridPointInDegrees": 17.5, "latitudeOfLastGridPointInDegrees": 2.5})  # fmt: skip
    keys = {"packingType": "grid_ccsds", "ccsdsFlags": 14 if preprocess else 6, "ccsdsBlockSize": 64, "ccsdsRsi": 1}
    message = make_message(square, values=smooth_values(square.shape), packing="grid_ccsds", bits=30, keys=keys)
    highs = [high if number == place else 0 for number in range(64 - preprocess)]
    text = f"{28 + 1:05b}" + (f"{1000:030b}" if preprocess else "") + "".join("0" * number + "1" for number in highs)
    text += "".join(("1" if number else "0") * 28 for number in highs)
    data = int(text + "0" * (-len(text) % 8), 2).to_bytes((len(text) + 7) // 8, "big")
    packed = (5 + len(data)).to_bytes(4, "big") + b"\7" + data
    field = only(only_sections(message)._replace(data=memoryview(packed)).message())
    found = by_kernel(field)
    assert (found is None) == (high > 3)
    assert (field.values() if found is None else found).tobytes() == by_eccodes(field).tobytes()


def test_a_whole_operational_grid_is_equal() -> None:
    values = smooth_values(GRIDS["gfs"].shape)
    check(make_message("gfs", values=values, packing="grid_ccsds"))
    check(make_message("gfs", values=np.where(values > 300, np.nan, values), packing="grid_simple"))
