"""Statistics, rotated winds and packed integers are the same to the last bit with and without the kernel."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gribmill.grib.decode.winds import rotate
from gribmill.kernel import native
from gribmill.tiles.build.tile_writer import statistics
from gribmill.tiles.format.requantize import dequantize, requantize

pytestmark = pytest.mark.skipif(native.state() != "native", reason="the kernel is not in use")
SIZES = (1, 7, 8, 9, 16, 4099, 200_000)


def _values(size: int, missing: float) -> np.ndarray:
    random = np.random.default_rng(size)
    values = (random.normal(285, 9, size) * 10.0 ** random.integers(-3, 4, size)).astype(np.float32)
    return np.where(random.random(size) < missing, np.float32(np.nan), values)


@pytest.mark.parametrize("missing", [0, 0.01, 0.9, 1])
@pytest.mark.parametrize("size", SIZES)
def test_statistics_are_the_same(size: int, missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    values = _values(size, missing)
    with_kernel = statistics(values)
    monkeypatch.setattr(native, "switched_off", True)
    assert statistics(values) == with_kernel
    present = values[~np.isnan(values)]
    assert with_kernel["missing"] == size - present.size
    if present.size:
        assert (with_kernel["min"], with_kernel["max"]) == (present.min(), present.max())
        assert with_kernel["mean"] == pytest.approx(present.mean(dtype=np.float64), rel=1e-12)
    else:
        assert with_kernel["min"] is with_kernel["max"] is with_kernel["mean"] is None


def test_infinite_statistics_are_left_out_with_and_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for values in ([np.inf, 1, 2], [-np.inf, 1, np.inf], [np.nan, -np.inf, 3], [-0.0, 0.0]):
        array = np.array(values, np.float32)
        monkeypatch.setattr(native, "switched_off", False)
        with_kernel = statistics(array)
        monkeypatch.setattr(native, "switched_off", True)
        assert repr(statistics(array)) == repr(with_kernel)


@pytest.mark.parametrize("size", SIZES)
def test_rotated_winds_are_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    u, v = _values(size, 0.05), _values(size, 0.05)[::-1].copy()
    angle = np.random.default_rng(7).uniform(-3, 3, size)
    with_kernel = rotate(u, v, np.cos(angle), np.sin(angle))
    monkeypatch.setattr(native, "switched_off", True)
    for one, other in zip(rotate(u, v, np.cos(angle), np.sin(angle)), with_kernel, strict=True):
        # The bits of a NaN do not matter: a tile has one kind.
        assert np.array_equal(one.view(np.uint32)[~np.isnan(one)], other.view(np.uint32)[~np.isnan(other)])
        assert np.array_equal(np.isnan(one), np.isnan(other))


PACKINGS = [(2500.0, 0, 1), (-3.5, -4, 2), (9.0e4, 3, 0), (0.0, 1, -2), (101325.25, -9, 0), (1.0e30, 0, 0)]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("greatest", [0, 9, 65534, 65536, 10**6])
@pytest.mark.parametrize("missing", [0, 0.3, 1])
def test_packed_integers_are_the_same_and_give_back_every_value(
    packing: tuple[float, int, int], greatest: int, missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference, binary, decimal = packing
    random = np.random.default_rng(greatest)
    integers = random.integers(0, greatest + 1, (37, 53))
    values = ((integers * 2.0**binary + reference) * 10.0**-decimal).astype(np.float32)
    values[random.random(values.shape) < missing] = np.nan
    how = SimpleNamespace(reference=reference, binary=binary, decimal=decimal)
    with_kernel = requantize(values, how)
    monkeypatch.setattr(native, "switched_off", True)
    other = requantize(values, how)
    assert (with_kernel is None) == (other is None)
    if with_kernel is not None and other is not None:
        assert with_kernel[1] == other[1] and with_kernel[0].tobytes() == other[0].tobytes()
        assert np.array_equal(dequantize(*with_kernel), values, equal_nan=True)


@pytest.mark.parametrize(("values", "width", "integers"), [(12, 5, 12), (12, 4, 11), (12, 0, 12), (12, -4, 12)])
def test_rows_that_do_not_fit_are_refused(values: int, width: int, integers: int) -> None:
    with pytest.raises(ValueError, match="do not match"):
        native.requantize(np.zeros(values, np.float32), width, 0.0, 1.0, 1.0, np.zeros(integers, np.uint16))


def test_arrays_that_do_not_match_are_refused() -> None:
    three, four = np.zeros(3, np.float32), np.zeros(4, np.float32)
    with pytest.raises(ValueError, match="do not match"):
        native.rotate_winds(three, four, np.zeros(3), np.zeros(3), three.copy(), three.copy())
    with pytest.raises(ValueError, match="do not match"):
        native.rotate_winds(three, three, np.zeros(3), np.zeros(3, np.float32), three.copy(), three.copy())
