"""Headers with false sizes are refused before they reach a decoder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from gribmill.grib.decode.field import fields
from gribmill.grib.errors import GribError
from gribmill.grib.packing.second_order import bit_numbers
from gribmill.grib.packing.validate import POINT_LIMIT
from tests.make_grib import GRIDS, make_message, smooth_values

SHAPE = GRIDS["hrrr-small"].shape
HOLED = np.where(np.random.default_rng(3).random(SHAPE) < 0.3, np.nan, smooth_values(SHAPE))


def changed(packing: str, section: int, first: int, value: bytes, *, holes: bool = False) -> bytes:
    """A message with some octets of one section (counted from 1) replaced."""
    message = bytearray(make_message(values=HOLED if holes else None, packing=packing))
    place = 16
    while message[place + 4] != section:
        place += int.from_bytes(message[place : place + 4], "big")
    message[place + first - 1 : place + first - 1 + len(value)] = value
    return bytes(message)


def four(number: int) -> bytes:
    return number.to_bytes(4, "big")


def swollen(packing: str, nx: int, ny: int) -> Callable[[], bytes]:
    """A message that states another number of points in each place that has it."""

    def make() -> bytes:
        message = changed(packing, 3, 7, four(nx * ny))
        for old, new in ((four(SHAPE[1]) + four(SHAPE[0]), four(nx) + four(ny)),):
            message = message.replace(old, new, 1)
        sections = message.index(four(SHAPE[0] * SHAPE[1]) + b"\0")
        return message[:sections] + four(nx * ny) + message[sections + 4 :]

    return make


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (swollen("grid_simple", 40_000, 40_000), f"1600000000 points, more than the limit of {POINT_LIMIT}"),
        (swollen("grid_simple", 4_000, 4_000), "too few for 16000000 values of 16 bits"),
        (swollen("grid_complex", 4_000, 4_000), "groups have 5400 values, not 16000000"),
        (swollen("grid_ieee", 4_000, 4_000), "too few for 16000000 values of 32 bits"),
        (swollen("grid_jpeg", 4_000, 4_000), "packed image has 5400 pixels for 16000000 values"),
        (swollen("grid_png", 4_000, 4_000), "packed image has 5400 pixels for 16000000 values"),
        (lambda: changed("grid_simple", 3, 7, four(5399)), "5399 points on a grid of 90 × 60"),
        (lambda: changed("grid_simple", 3, 31, four(0)), "5400 points on a grid of 0 × 60"),
        (lambda: changed("grid_simple", 5, 6, four(5401)), "5401 packed values for 5400 points"),
        (lambda: changed("grid_simple", 5, 6, four(5399)), "5399 packed values for 5400 points and no bitmap"),
        (lambda: changed("grid_simple", 5, 20, b"\x3d"), "packs values in 61 bits"),
        (lambda: changed("grid_simple", 5, 10, b"\0\1"), "matrix of values at each point is not supported"),
        (lambda: changed("grid_simple", 5, 12, b"\x7f\xc0\0\0"), "reference value is not a finite number"),
        (lambda: changed("grid_jpeg", 5, 12, b"\xff\x80\0\0"), "reference value is not a finite number"),
        (lambda: changed("grid_complex", 5, 16, b"\x7f\xff"), "beyond the range of numbers"),
        (lambda: changed("grid_png", 5, 18, b"\xff\xff"), r"10\^32767, beyond the range of numbers"),
        (lambda: changed("grid_simple", 5, 20, b"\x11"), "too few for 5400 values of 17 bits"),
        (lambda: changed("grid_simple", 5, 10, b"\0\x3d" + bytes(8) + b"\x11"), "too few for 5400 values of 17 bits"),
        (lambda: changed("grid_simple", 6, 6, b"\1"), "predefined bitmap 1"),
        (lambda: changed("grid_simple", 5, 6, four(10), holes=True), r"bitmap needs \d+ values, it has 10"),
        (lambda: changed("grid_complex", 5, 32, four(2**31)), "2147483648 groups for 5400 values"),
        (lambda: changed("grid_complex", 5, 32, four(5399)), "too few for 5399 groups|groups have"),
        (lambda: changed("grid_complex", 5, 37, b"\xff"), "described in more than 32 bits"),
        (lambda: changed("grid_complex", 5, 36, b"\x30"), "need more bytes"),
        (lambda: changed("grid_complex", 5, 43, four(2**31)), "groups have 2147"),
        (lambda: changed("grid_complex_spatial_differencing", 5, 48, b"\7"), "differences of order 7"),
        (lambda: changed("grid_jpeg", 7, 6, b"\0"), "not a JPEG 2000"),
        (lambda: changed("grid_jpeg", 7, 6 + 41, b"\2"), "exactly one unsigned component"),
        (lambda: changed("grid_jpeg", 7, 6 + 42, b"\x8f"), "exactly one unsigned component"),
        (lambda: changed("grid_png", 7, 6, b"\0"), "not a PNG"),
        (lambda: changed("grid_png", 7, 6 + 33, b"\x7f"), "image is damaged"),
        (lambda: changed("grid_png", 5, 20, b"\x05"), "depth 16 and colour type 0 cannot hold 5-bit values"),
        (lambda: changed("grid_ieee", 5, 12, b"\x09"), "IEEE precision 9 is unknown"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused(make: Callable[[], bytes], words: str) -> None:
    with pytest.raises(GribError, match=words):
        [field.values() for field in fields(make(), "f")]


def test_bit_numbers_reads_what_was_packed() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**11, 77)
    bits = "".join(f"{number:011b}" for number in numbers)
    packed = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    assert np.array_equal(bit_numbers(packed, 77, 11), numbers)


def second_order(first: int, value: bytes) -> bytes:
    """A GRIB1 message in second-order packing with some octets of its data section replaced."""
    message = bytearray(make_message("gfs-small", packing="grid_second_order", edition=1))
    data = 8 + 28 + 32
    message[data + first - 1 : data + first - 1 + len(value)] = value
    return bytes(message)


@pytest.mark.parametrize(
    ("first", "value", "words"),
    [
        (17, b"\xff\xff", "too few for 65535 groups"),
        (21, b"\xff", "groups"),
        (22, b"\x30", "too few for|need more bytes"),
        (23, b"\x09", "groups have|too few"),
        (24, b"\x00\x1a", "groups have"),
        (15, b"\xff\xff", "need more bytes"),
        (12, b"\xff\xff", "too few"),
    ],
)
def test_second_order_groups_that_do_not_add_up_are_refused(first: int, value: bytes, words: str) -> None:
    with pytest.raises(GribError, match=words):
        [field.values() for field in fields(second_order(first, value), "f")]


def failure_of_mutations(first: int, last: int) -> str:
    """The output of the process that decodes damaged messages if it failed; empty if each was refused or decoded."""
    # In a separate process, because a failure may crash it.
    command = [sys.executable, "-m", "tests.grib.mutate", str(first), str(last)]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    tail = [line for line in result.stderr.splitlines() if "ECCODES" not in line and "libpng" not in line][-20:]
    if result.returncode == 0 and result.stdout.split()[-1:] == [str(last - 1)]:
        return ""
    return "\n".join([f"exit {result.returncode}", result.stdout[-300:], *tail])


@pytest.mark.process
def test_random_damage_is_refused_or_decoded_but_never_fatal() -> None:
    assert failure_of_mutations(0, 1500) == ""


@pytest.mark.process
@pytest.mark.parametrize("seed", [1888, 39988, 47717, 85830], ids=["PNG chunk", "PNG depth", "groups", "JPEG sign"])
def test_damage_that_once_ended_the_process_is_refused(seed: int) -> None:
    assert failure_of_mutations(seed, seed + 1) == ""


@pytest.mark.soak
def test_much_random_damage_is_refused_or_decoded_but_never_fatal() -> None:
    for first in range(10_000, 200_000, 10_000):
        assert failure_of_mutations(first, first + 10_000) == ""
