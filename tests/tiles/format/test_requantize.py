"""Packed integers are stored only if they reproduce every bit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gribmill.tiles.format.meta import PackedAs
from gribmill.tiles.format.requantize import MISSING, dequantize, requantize


def packing(reference: float = 2500.0, binary: int = 0, decimal: int = 1) -> SimpleNamespace:
    return SimpleNamespace(reference=reference, binary=binary, decimal=decimal)


def values(integers: np.ndarray, how: SimpleNamespace) -> np.ndarray:
    doubles: np.ndarray = (integers * 2.0**how.binary + how.reference) * 10.0**-how.decimal
    return doubles.astype(np.float32)


@pytest.mark.parametrize("how", [packing(), packing(-3.5, -4, 2), packing(9.0e4, 3, 0), packing(0.0, 1, -2)])
def test_the_sources_own_values_come_back_bit_for_bit(how: SimpleNamespace) -> None:
    original = values(np.random.default_rng(2).integers(0, 4096, (30, 40)), how)
    original[3, 4] = np.nan
    found = requantize(original, how)
    assert found is not None
    integers, undo = found
    assert integers.dtype == np.uint16
    assert np.cumsum(integers >> 1 ^ -(integers & 1), axis=1, dtype=np.uint16)[3, 4] == MISSING
    assert dequantize(integers, undo).tobytes() == original.tobytes()


def test_fields_of_many_chunks_with_holes_anywhere_come_back() -> None:
    original = values(np.random.default_rng(3).integers(0, 65535, (300, 401)), packing())
    original[np.random.default_rng(4).random(original.shape) < 0.3] = np.nan
    original[100:200] = np.nan
    found = requantize(original, packing())
    assert found is not None
    assert dequantize(*found).tobytes() == original.tobytes()


@pytest.mark.parametrize("differences", [False, True])
def test_tiles_with_plain_integers_or_plain_differences_are_read(differences: bool) -> None:
    integers = np.array([[3, 9, MISSING], [0, 7, 7]], np.uint16)
    undo = PackedAs(reference=2500.0, scale=1.0, factor=0.1, differences=differences)
    expected = values(integers.astype(np.float64), packing())
    expected[0, 2] = np.nan
    held = np.diff(integers, axis=1, prepend=np.uint16(0)) if differences else integers
    assert dequantize(held, undo).tobytes() == expected.tobytes()


def test_values_that_are_off_by_the_last_bit_are_not_packed() -> None:
    original = values(np.arange(12).reshape(3, 4), packing())
    original[1, 1] = np.nextafter(original[1, 1], np.float32(1e9))
    assert requantize(original, packing()) is None


@pytest.mark.parametrize("integer", [-1, MISSING, 10**6])
def test_integers_that_do_not_fit_are_not_packed(integer: int) -> None:
    assert requantize(values(np.array([[0, integer]]), packing()), packing()) is None


@pytest.mark.parametrize(
    "how",
    [
        packing(float("nan")),
        packing(binary=5000),
        packing(decimal=4000),
        SimpleNamespace(reference=None, binary=None, decimal=None),
    ],
)
def test_packings_without_a_scale_are_left_alone(how: SimpleNamespace) -> None:
    assert requantize(np.ones((2, 2), np.float32), how) is None
