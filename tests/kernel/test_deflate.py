"""Arrays that the kernel deflated are inflated by every inflater, whole and from every restart point."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import deflate
import numpy as np
import pytest
from isal import isal_zlib
from numpy.typing import NDArray

from gribmill.kernel import native
from gribmill.tiles.build.tile_writer import statistics, statistics_from, summarize
from gribmill.tiles.format.npz_writer import FAST_FLOATS, FAST_INTEGERS, Compression, Member, encode_member, npy_header
from gribmill.tiles.format.restart_points import inflate_segments, parse_restart_points, segments_between
from gribmill.tiles.format.zip_directory import DEFLATED, STORED, ZipEntry

pytestmark = pytest.mark.skipif(native.state() != "native", reason="the kernel is not in use")
Words = NDArray[np.uint32]
# Raw bytes of a block, and of a segment.
BLOCK, SPAN = 2**16, 2**14
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
    "all but one": lambda _, size: (np.arange(size) == size // 2).astype(np.uint32) * np.uint32(0xFF804020),
    "one nonzero byte": lambda random, size: np.uint32(256) ** random.integers(0, 4, size, dtype=np.uint32),
    "frequencies of bytes grow with their value": lambda random, size: (
        np.sqrt(random.random(4 * size) * 65536).astype(np.uint8).view(np.uint32)
    ),
    "noise, then one word": lambda random, size: np.where(
        np.arange(size) < 4200, random.integers(0, 2**32, size, dtype=np.uint32), np.uint32(0x01010101)
    ).astype(np.uint32),
    "fields": _fields,
    "missing": lambda random, size: np.where(random.random(size) < 0.5, np.nan, 1.5).astype(np.float32).view(np.uint32),
}


def _ended(size: int, again: int, last: Words | int) -> Words:
    words = np.arange(2**30, 2**30 + size, dtype=np.uint32)
    words[max(size - again, 0) :] = last
    return words


# Special cases at the end of an array.
EDGES: dict[str, Callable[[int], Words]] = {
    "no repetition": lambda size: _ended(size, 0, 0),
    "the last word repeated": lambda size: _ended(size, 1, 2**30 + max(size - 2, 0)),
    "the first word at the end": lambda size: _ended(size, 1, 2**30),
    "the first two at the end": lambda size: _ended(size, 2, np.arange(2**30, 2**30 + min(size, 2), dtype=np.uint32)),
    "one word up to the end": lambda size: _ended(size, size // 2, 7),
    "64 words up to the end": lambda size: _ended(size, 65, 7),
    "two words alternating": lambda size: np.resize(np.array([2**30, 2**31], np.uint32), size),
    "all missing": lambda size: np.full(size, np.nan, np.float32).view(np.uint32),
}
# With the header, 4064 words are a segment, 16352 a block.
EDGE_SIZES = (*range(1, 26), 64, 65, 66, 511, 512, 513, 1024, 1025, 4063, 4064, 4065, 4096, 8160, 16_352, 16_384)


def encoded(array: NDArray[np.generic], encoding: Compression = "fast") -> tuple[Member, bytes]:
    return encode_member("x", array, encoding), npy_header(array.dtype, array.shape) + array.tobytes()


def check(made: Member, raw: bytes) -> None:
    data = bytes(made.data)
    assert made.method == STORED or isal_zlib.decompress(data, -15) == raw
    assert made.method == STORED or deflate.deflate_decompress(data, len(raw)) == raw
    assert (data if made.method == STORED else zlib.decompress(data, -15)) == raw
    assert (made.crc, made.raw_size) == (zlib.crc32(raw), len(raw))


@pytest.mark.parametrize("kind", KINDS)
def test_every_inflater_restores_fast_arrays(kind: str) -> None:
    for size in SIZES:
        array = KINDS[kind](np.random.default_rng(size), size)
        check(*encoded(array.view(np.float32)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_every_inflater_restores_compact_arrays(kind: str, shift: int) -> None:
    for size in (*SIZES[:-5], 8159, 8160, 8161):
        words = KINDS[kind](np.random.default_rng(size), size)
        # Matches then begin at any byte of a word.
        array = np.roll(words.view(np.uint8), shift).view(np.float32)
        made, raw = encoded(array, "compact")
        check(made, raw)
        assert made.extra == b""


@pytest.mark.parametrize("edge", EDGES)
def test_every_inflater_restores_special_endings(edge: str) -> None:
    for size in EDGE_SIZES:
        words = EDGES[edge](size)
        check(*encoded(words.view(np.float32)))
        check(*encoded(words.view(np.float32), "compact"))
        check(*encoded(words.view(np.uint16)))
        check(*encoded(words.view(np.uint16)[:-1]))


def test_every_inflater_restores_a_few_bytes() -> None:
    for size in range(1, 64):
        header, body = b"a", (b"abcab"[size % 4 :] * size)[:size]
        method, _, raw_size, data, *_ = native.encode_array(header, body, FAST_FLOATS)
        assert raw_size == 1 + size
        assert (data if method == STORED else zlib.decompress(data, -15)) == header + body


def test_compact_arrays_are_smaller_than_fast_ones() -> None:
    array = _fields(np.random.default_rng(5), 2000).view(np.float32)
    usual = len(zlib.compress(npy_header(array.dtype, array.shape) + array.tobytes(), 6))
    assert len(encode_member("x", array, "compact").data) < min(1.05 * usual, len(encode_member("x", array).data))


@pytest.mark.parametrize("kind", ["few", "zeros", "fields", "missing"])
@pytest.mark.parametrize("size", SIZES)
def test_statistics_are_the_same_as_without_the_kernel(kind: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    array = KINDS[kind](np.random.default_rng(size), size).view(np.float32)
    while_encoding = encode_member("x", array).summary
    alone = summarize(array)
    assert encode_member("x", array, "compact").summary in (alone, None)
    monkeypatch.setattr(native, "switched_off", True)
    assert encode_member("x", array).summary is None
    assert while_encoding == alone
    assert statistics_from(alone, array.size) == statistics(array)


@pytest.mark.parametrize("kind", KINDS)
def test_every_inflater_restores_integers(kind: str) -> None:
    for size in (*SIZES, *(BLOCK // 2 - 64 + more for more in (-1, 0, 1, 2, 3))):
        check(*encoded(KINDS[kind](np.random.default_rng(size), size).astype(np.uint16)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.uint16])
def test_every_segment_is_read_alone(kind: str, dtype: type) -> None:
    words = KINDS[kind](np.random.default_rng(1), 130_001)
    check_segments(*encoded(words.view(np.float32) if dtype is np.float32 else words.astype(np.uint16)))


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("before", [1, 2, 3, 4, 5])
def test_a_short_or_exactly_full_last_segment_is_read_alone(edge: str, before: int) -> None:
    for size in (2, 4, 6, SPAN - 2, SPAN):
        made, raw = encoded(EDGES[edge](BLOCK).view(np.uint16)[: (before * SPAN + size - 128) // 2])
        assert len(raw) == before * SPAN + size
        check_segments(made, raw)


def check_segments(made: Member, raw: bytes) -> None:
    points = parse_restart_points(made.extra, len(raw))
    assert points is not None and points.segment_size == SPAN
    entry = ZipEntry("x", made.method, made.crc, len(made.data), len(raw), 0, made.extra)
    for begin in [*range(0, len(raw), SPAN), min(BLOCK, len(raw)) - 4, len(raw) - 4]:
        for end in {min(begin + more, len(raw)) for more in (4, SPAN, SPAN + 4)}:
            segments = segments_between(entry, points, begin, end)
            parts = inflate_segments([bytes(made.data[found.begin : found.end]) for found in segments], segments)
            first, last = begin // SPAN * SPAN, min((end - 1) // SPAN * SPAN + SPAN, len(raw))
            assert segments[0].raw_begin == first
            assert b"".join(part or b"" for part in parts) == raw[first:last]


def test_an_array_that_hardly_compresses_is_stored() -> None:
    noise = np.random.default_rng(2).normal(size=200_000).astype(np.float32)
    assert len(zlib.compress(noise.tobytes(), 6)) > 5 / 6 * noise.nbytes
    assert encode_member("x", noise).method == STORED
    assert encode_member("x", np.concatenate([noise, np.zeros(200_000, np.float32)])).method == DEFLATED
    assert encode_member("x", noise[:20_000]).method == DEFLATED


def test_runs_after_noise_are_found() -> None:
    noise = np.random.default_rng(6).normal(size=1000).astype(np.float32)
    dry = np.concatenate([noise, np.zeros(1000, np.float32)])
    assert len(encode_member("x", dry).data) < len(encode_member("x", noise).data) + 50


def test_a_constant_field_is_tiny() -> None:
    made, raw = encoded(np.full(1_000_000, 273.15, np.float32))
    check(made, raw)
    assert len(made.data) < len(raw) / 200


def test_a_field_is_little_larger_than_with_zlib() -> None:
    steps = np.random.default_rng(3).normal(size=(500, 400))
    smooth = np.cumsum(np.cumsum(steps, axis=0), axis=1)
    array = np.round(smooth / np.abs(smooth).max() * 30 + 280, 1).astype(np.float32)
    made, raw = encoded(array)
    assert len(made.data) < 1.25 * len(zlib.compress(raw, 6))


def test_the_same_array_gives_the_same_bytes() -> None:
    array = _fields(np.random.default_rng(9), 50_000).view(np.float32)
    first = encode_member("x", array)
    encode_member("y", array[:777])
    assert encode_member("x", array) == first


@pytest.mark.parametrize(
    ("header", "body", "mode"),
    [
        (0, 400, FAST_FLOATS),
        (128, 0, FAST_FLOATS),
        (BLOCK + 4, 400, FAST_FLOATS),
        (128, 400, FAST_INTEGERS + 1),
    ],
)
def test_arrays_beyond_the_limits_of_a_mode_are_refused(header: int, body: int, mode: int) -> None:
    with pytest.raises(ValueError, match="not an array"):
        native.encode_array(bytes(header), bytes(body), mode)


def test_arrays_hold_the_same_bytes_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    array = _fields(np.random.default_rng(4), 50_000).view(np.float32)
    with_kernel = encode_member("x", array)
    monkeypatch.setattr(native, "switched_off", True)
    other = encode_member("x", array)
    assert with_kernel.data != other.data and with_kernel.crc == other.crc
    assert zlib.decompress(bytes(with_kernel.data), -15) == zlib.decompress(bytes(other.data), -15)
