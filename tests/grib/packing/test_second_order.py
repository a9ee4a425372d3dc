"""Second-order packing in each of its forms: consistent messages are decoded, others never reach ecCodes."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.errors import GribError
from tests.make_grib import GRIDS, make_message

Form = Literal["rows", "one width", "own widths"]
FLAGS: dict[Form, int] = {"rows": 0x10, "one width": 0x20, "own widths": 0x30}
FORMS: tuple[Form, ...] = ("rows", "one width", "own widths")
SHAPE = GRIDS["gfs-small"].shape
FIRST_BITS, WIDTH = 8, 5


def bit_string(numbers: NDArray[np.int64] | list[int], width: int) -> bytes:
    """Numbers of this bit width, padded to whole octets."""
    text = "".join(f"{int(number):0{width}b}" for number in numbers)
    text = text.ljust(-(-len(text) // 8) * 8, "0")
    return int(text or "0", 2).to_bytes(len(text) // 8, "big")


def old_form(form: Form, **changes: int) -> tuple[bytes, NDArray[np.int64]]:
    """A GRIB1 message in one of the first forms, which ecCodes reads and cannot write, and its integers.

    `changes` are octets of its data section: `octet_14=0x40`.
    """
    rows, columns = SHAPE
    numbers = np.random.default_rng(5).integers(0, 2**WIDTH, rows * columns)
    length = columns if form == "rows" else 7
    starts = np.arange(numbers.size) % length == 0
    groups = int(starts.sum())
    first = np.random.default_rng(6).integers(0, 2**FIRST_BITS, groups)
    widths = bytes([WIDTH] * (1 if form == "one width" else groups))
    bitmap = b"" if form == "rows" else bit_string(starts.astype(np.int64), 1)
    firsts, seconds = bit_string(first, FIRST_BITS), bit_string(numbers, WIDTH)
    n1 = 22 + len(widths) + len(bitmap)
    message = make_message("gfs-small", packing="grid_simple", edition=1)
    head = message[8 + 28 + 32 :][:11]
    data = bytearray(b"\0\0\0" + b"\x50" + b"\0\0" + head[6:10] + bytes([FIRST_BITS]))
    data += n1.to_bytes(2, "big") + bytes([FLAGS[form]]) + (n1 + len(firsts)).to_bytes(2, "big")
    data += groups.to_bytes(2, "big") + numbers.size.to_bytes(2, "big") + b"\0" + widths + bitmap + firsts + seconds
    data[:3] = len(data).to_bytes(3, "big")
    for octet, value in changes.items():
        data[int(octet.removeprefix("octet_")) - 1] = value
    whole = message[: 8 + 28 + 32] + bytes(data) + b"7777"
    return whole[:4] + len(whole).to_bytes(3, "big") + whole[7:], numbers + first[np.cumsum(starts) - 1]


def only(message: bytes) -> Field:
    (field,) = fields(message, "f")
    return field


@pytest.mark.parametrize("form", FORMS)
def test_the_early_forms_of_second_order_packing_are_decoded(form: Form) -> None:
    message, integers = old_form(form)
    field = only(message)
    reference = field.packing.reference
    assert reference is not None
    assert field.packing.name == "second order"
    assert np.array_equal(field.flat_values(), (reference + integers).astype(np.float32))


@pytest.mark.parametrize(
    ("form", "changes", "words"),
    [
        ("rows", {"octet_18": 3}, "3 groups for"),
        ("rows", {"octet_22": 63}, "need more bytes"),
        ("rows", {"octet_11": 57}, "too few|need more"),
        ("own widths", {"octet_22": 200}, "need more bytes"),
        ("own widths", {"octet_20": 1}, "packed values for"),
        ("own widths", {"octet_18": 1}, "secondary bitmap has"),
        ("one width", {"octet_23": 0}, "secondary bitmap has"),
        ("one width", {"octet_22": 40}, "need more bytes"),
        ("one width", {"octet_21": 255}, "secondary bitmap has"),
        ("one width", {"octet_14": 0x00}, "form of second-order packing is not supported"),
        ("one width", {"octet_14": 0x60}, "form of second-order packing is not supported"),
        ("one width", {"octet_4": 0x00, "octet_11": 200}, "packs values in 200 bits"),
        ("one width", {"octet_4": 0x10}, "packed as matrix"),
        ("one width", {"octet_4": 0x80}, "packed as spectral"),
        ("one width", {"octet_4": 0x30, "octet_12": 2}, "too few for"),
    ],
)
def test_inconsistent_early_forms_are_refused(form: Form, changes: dict[str, int], words: str) -> None:
    with pytest.raises(GribError, match=words):
        only(old_form(form, **changes)[0]).values()


def second_order2(first: int, value: bytes) -> bytes:
    """A GRIB2 message in ECMWF's second-order packing with some octets of its section 5 replaced."""
    message = bytearray(make_message("gfs-small", packing="grid_second_order"))
    place = 16
    while message[place + 4] != 5:
        place += int.from_bytes(message[place : place + 4], "big")
    message[place + first - 1 : place + first - 1 + len(value)] = value
    return bytes(message)


def test_second_order_packing_in_grib2_is_decoded() -> None:
    field = only(make_message("gfs-small", packing="grid_second_order"))
    assert field.packing.name == "second order"
    assert np.unique(field.values()).size > 100


@pytest.mark.parametrize(
    ("first", "value", "words"),
    [
        (21, b"\xff", "too few"),
        (22, b"\xff\xff\xff\xff", "too few"),
        (22, b"\0\0\0\1", "groups have"),
        (30, b"\x3f", "groups"),
        (31, b"\x00", "groups have"),
        (33, b"\x07", "differences of order 7"),
        (33, b"\x01", "groups have"),
        (34, b"\xff", "differences of order"),
    ],
)
def test_inconsistent_grib2_groups_are_refused(first: int, value: bytes, words: str) -> None:
    with pytest.raises(GribError, match=words):
        only(second_order2(first, value)).values()
