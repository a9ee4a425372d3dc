"""Run-length packing: consistent messages are decoded, others never reach ecCodes."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from numpy.typing import NDArray

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.errors import GribError
from gribmill.grib.sections import Sections2
from tests.make_grib import make_message

LEVELS = (0, 4, 10, 20, 300)
BITS = 8


def codes(numbers: NDArray[np.int64]) -> bytes:
    """Each run: its level, then how often it repeats, in digits above the highest level."""
    most, found = len(LEVELS), bytearray()
    base = 2**BITS - 1 - most
    for level, run in groupby(numbers.tolist()):
        found.append(level)
        repeats = len(list(run)) - 1
        while repeats:
            repeats, digit = divmod(repeats, base)
            found.append(digit + most + 1)
    return bytes(found)


def run_length(data: bytes | None = None, head: bytes | None = None) -> tuple[Field, NDArray[np.int64]]:
    """A field in run-length packing, and which level each point has; 0 is a missing one."""
    (plain,) = fields(make_message("gfs-small", packing="grid_simple"), "f")
    random = np.random.default_rng(3)
    numbers = np.repeat(random.integers(0, len(LEVELS) + 1, 200), random.integers(1, 600, 200))[: plain.packing.points]
    many = len(LEVELS).to_bytes(2, "big")
    head = head or bytes([BITS]) + many + many + b"\1"
    body = head + b"".join(level.to_bytes(2, "big") for level in LEVELS)
    data = codes(numbers) if data is None else data
    packing = (11 + len(body)).to_bytes(4, "big") + b"\5" + numbers.size.to_bytes(4, "big") + b"\0\xc8" + body
    assert isinstance(plain.sections, Sections2)
    section7 = memoryview((5 + len(data)).to_bytes(4, "big") + b"\7" + data)
    (field,) = fields(plain.sections._replace(packing=packing, data=section7).message(), "f")
    return field, numbers


def test_runs_are_decoded() -> None:
    field, numbers = run_length()
    wanted = np.array([np.nan, *(level / 10 for level in LEVELS)], np.float32)[numbers]
    assert field.packing.name == "run length"
    assert np.array_equal(field.flat_values(), wanted, equal_nan=True)


@pytest.mark.parametrize(
    ("data", "head", "words"),
    [
        (b"", None, "do not begin with a level"),
        (b"\x09\x01", None, "do not begin with a level"),
        (b"\x01\x02", None, "runs have 2 values, not"),
        (b"\x01" + b"\xff" * 400, None, "runs have"),
        (None, b"\0\0\5\0\5\1", "which is not possible"),
        (None, b"\2\0\5\0\5\1", "which is not possible"),
        (None, b"\x40\0\5\0\5\1", "which is not possible"),
        (None, b"\x08\0\0\0\5\1", "which is not possible"),
        (None, b"\x08\0\x09\0\5\1", "which is not possible"),
        (None, b"\x08\0\5\xff\xff\1", "which is not possible"),
    ],
)
def test_inconsistent_runs_are_refused(data: bytes | None, head: bytes | None, words: str) -> None:
    with pytest.raises(GribError, match=words):
        run_length(data, head)[0].values()
