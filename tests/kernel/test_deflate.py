"""What the kernel deflates is what everybody inflates, in one piece or from any of its stretches."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pytest
from isal import isal_zlib
from numpy.typing import NDArray

from gribmill.tiles.directory import Entry
from gribmill.tiles.grib import kernel
from gribmill.tiles.npz import DEFLATED, member, npy_header
from gribmill.tiles.stream import BLOCK, SPAN, Stream, deflate_words
from gribmill.tiles.stretches import inflate, stretches_of

pytestmark = pytest.mark.skipif(kernel.state() != "native", reason="the kernel is not in use")
Words = NDArray[np.uint32]
SIZES = (1, 2, 7, 15, 16, 17, 31, 600, 4063, 4064, 4065, 16_351, 16_352, 16_353, 40_000)


def _fields(random: np.random.Generator, size: int) -> Words:
    return np.round(np.cumsum(random.normal(size=size)), 1).astype(np.float32).view(np.uint32)


KINDS: dict[str, Callable[[np.random.Generator, int], Words]] = {
    "noise": lambda random, size: random.integers(0, 2**32, size, dtype=np.uint32),
    "few": lambda random, size: random.integers(0, 5, size, dtype=np.uint32),
    "zeros": lambda _, size: np.zeros(size, np.uint32),
    "runs": lambda random, size: np.repeat(random.integers(0, 2**32, size, dtype=np.uint32), 70)[:size],
    "periods": lambda random, size: np.resize(random.integers(0, 2**32, 3001, dtype=np.uint32), size),
    "rare bytes": lambda random, size: np.uint32(0x01010101) * random.geometric(0.5, size).astype(np.uint32),
    "noise, then one word": lambda random, size: np.where(
        np.arange(size) < 4200, random.integers(0, 2**32, size, dtype=np.uint32), np.uint32(0x01010101)
    ).astype(np.uint32),
    "fields": _fields,
    "missing": lambda random, size: np.where(random.random(size) < 0.5, np.nan, 1.5).astype(np.float32).view(np.uint32),
}


def deflated(array: NDArray[np.float32]) -> tuple[Stream, bytes]:
    header = npy_header(array.dtype, array.shape)
    stream = deflate_words(header, array.view(np.uint8).data)
    assert stream is not None
    return stream, header + array.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_every_inflater_gives_back_what_was_deflated(kind: str, size: int) -> None:
    array = KINDS[kind](np.random.default_rng(size), size).view(np.float32)
    stream, raw = deflated(array)
    assert zlib.decompress(stream.data, -15) == raw
    assert isal_zlib.decompress(stream.data, -15) == raw
    assert stream.crc == zlib.crc32(raw)


@pytest.mark.parametrize("kind", KINDS)
def test_any_stretch_is_read_alone(kind: str) -> None:
    array = KINDS[kind](np.random.default_rng(1), 60_001).view(np.float32)
    stream, raw = deflated(array)
    entry = Entry("x", DEFLATED, stream.crc, len(stream.data), len(raw), 0, stream.segments.extra())
    assert stream.segments.span == SPAN
    for begin in [*range(0, len(raw), SPAN), BLOCK - 4, len(raw) - 4]:
        for end in {begin + 4, min(begin + SPAN, len(raw)), min(begin + SPAN + 4, len(raw))}:
            stretches = stretches_of(entry, stream.segments, begin, end)
            parts = inflate([stream.data[found.begin : found.end] for found in stretches], stretches)
            first, last = begin // SPAN * SPAN, min((end - 1) // SPAN * SPAN + SPAN, len(raw))
            assert stretches[0].raw_begin == first
            assert b"".join(part or b"" for part in parts) == raw[first:last]


def test_a_field_takes_little_more_than_zlib_takes() -> None:
    steps = np.random.default_rng(3).normal(size=(500, 400))
    smooth = np.cumsum(np.cumsum(steps, axis=0), axis=1)
    array = np.round(smooth / np.abs(smooth).max() * 30 + 280, 1).astype(np.float32)
    stream, raw = deflated(array.reshape(-1))
    assert len(stream.data) < 1.25 * len(zlib.compress(raw, 6))


def test_the_same_array_gives_the_same_bytes() -> None:
    array = _fields(np.random.default_rng(9), 50_000).view(np.float32)
    first = member("x", array)
    member("y", array[:777])
    assert member("x", array) == first


@pytest.mark.parametrize(
    ("header", "body", "blocks", "bits"),
    [(0, 0, 0, 0), (128, 3, 1, 1), (128, 400, 2, 1), (128, 400, 1, 2), (BLOCK + 4, 400, 2, 5)],
)
def test_sizes_that_do_not_fit_are_refused(header: int, body: int, blocks: int, bits: int) -> None:
    places = np.empty(blocks, np.uint32), np.empty(bits, np.uint32)
    with pytest.raises(ValueError, match="no room"):
        kernel.native().deflate(bytes(header), bytes(body), *places)


def test_without_the_kernel_the_same_values_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    array = _fields(np.random.default_rng(4), 50_000).view(np.float32)
    native = member("x", array)
    monkeypatch.setenv(kernel.SWITCH, "off")
    other = member("x", array)
    assert native.data != other.data and native.crc == other.crc
    assert zlib.decompress(bytes(native.data), -15) == zlib.decompress(bytes(other.data), -15)
