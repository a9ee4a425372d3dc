"""Numbers as decimal text: rounded like Python's round(), written like JSON."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from gribmill.kernel import native
from tests.kernel.both_decoders import needs_kernel

pytestmark = needs_kernel

DECIMALS = range(7)
# The kernel declines products with the scale from here on.
LIMIT = 2.0**50


def texts(values: Sequence[float], decimals: int) -> list[str]:
    found = native.decimal_rows(np.array(values, np.float64), len(values), decimals)
    assert found is not None
    (row,) = found
    return row.decode().split(",")


def expected(value: float, decimals: int) -> str:
    """By Python, which rounds the exact binary value and writes the shortest text that is read back as the same."""
    if not math.isfinite(value):
        return "null"
    near = round(value, decimals) + 0.0
    return f"{near:.0f}" if not decimals else _without_zeros(f"{near:.{decimals}f}")


def _without_zeros(text: str) -> str:
    short = text.rstrip("0")
    return short + "0" if short.endswith(".") else short


def numbers(decimals: int) -> Iterator[float]:
    """Random ones, ones with a digit 5 after the last decimal and their neighbours, exact ties, and special ones."""
    choose = random.Random(decimals)
    scale = 10.0**decimals
    for _ in range(2_000):
        yield choose.uniform(-1, 1) * 10 ** choose.uniform(-8, 14 - decimals)
        middle = (choose.randrange(-(10**7), 10**7) + 0.5) / scale
        yield from (middle, math.nextafter(middle, math.inf), math.nextafter(middle, -math.inf))
        yield choose.randrange(-(2**20), 2**20) / 2 ** (decimals + 1)
        (single,) = struct.unpack("<f", struct.pack("<f", choose.uniform(-400, 400)))
        yield single
    yield from (0.0, -0.0, 1e-300, -1e-300, 5e-324, math.nan, math.inf, -math.inf)
    yield from (sign * math.nextafter(LIMIT / scale, 0) for sign in (1, -1))


@pytest.mark.parametrize("decimals", DECIMALS)
def test_text_is_that_of_the_number_rounded_by_python(decimals: int) -> None:
    values = [*numbers(decimals)]
    wrong = [
        (value, text, expected(value, decimals))
        for value, text in zip(values, texts(values, decimals), strict=True)
        if text != expected(value, decimals)
    ]
    assert wrong == []


def test_text_is_json() -> None:
    assert json.loads(f"[{','.join(texts([-0.04, 12.0, 0.05, math.nan, -7.25], 1))}]") == [0.0, 12.0, 0.1, None, -7.2]
    assert texts([-0.4, 2.5, 3.5, 1e15, math.nan], 0) == ["0", "2", "4", "1000000000000000", "null"]


def test_each_row_is_a_text() -> None:
    values = np.array([[1.0, 2.5], [-3.25, np.nan]])
    assert native.decimal_rows(values, 2, 2) == [b"1.0,2.5", b"-3.25,null"]
    assert native.decimal_rows(values, 4, 0) == [b"1,2,-3,null"]
    assert native.decimal_rows(np.empty((0, 2)), 2, 1) == []


@pytest.mark.parametrize("decimals", DECIMALS)
def test_numbers_beyond_the_limit_are_declined(decimals: int) -> None:
    for value in (LIMIT / 10.0**decimals, -LIMIT / 10.0**decimals, 1e300):
        assert native.decimal_rows(np.array([1.0, value]), 2, decimals) is None


@pytest.mark.parametrize(("size", "width", "decimals"), [(4, 3, 1), (4, 0, 1), (4, -2, 1), (4, 2, 7), (4, 2, -1)])
def test_impossible_shapes_are_refused(size: int, width: int, decimals: int) -> None:
    with pytest.raises(ValueError, match="do not match"):
        native.decimal_rows(np.zeros(size), width, decimals)


def test_bytes_that_are_not_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="do not match"):
        native.decimal_rows(np.zeros(12, np.uint8), 1, 1)
