"""The kernel inflates the streams that it deflated, and declines those of other encoders."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from isal import isal_zlib
from numpy.typing import NDArray

from gribmill.kernel import native
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import DeflateStream, write_npz
from gribmill.tiles.format.restart_points import RestartPoints, parse_restart_points
from gribmill.tiles.format.zip_directory import DEFLATED
from tests.kernel.restart_segments import inflate_all
from tests.kernel.test_deflate import KINDS, encoded

pytestmark = pytest.mark.skipif(native.state() != "native", reason="the kernel is not in use")
# Arrays without matches within a segment are stored, and an array of one segment has no restart points.
DEFLATING = [kind for kind in KINDS if kind not in ("noise", "periods")]
SIZES = (16_351, 16_352, 16_353, 40_000)


def deflated(array: NDArray[np.float32]) -> tuple[DeflateStream, bytes]:
    made, raw = encoded(array)
    points = parse_restart_points(made.extra, len(raw))
    assert made.method == DEFLATED and points is not None
    return DeflateStream(bytes(made.data), made.crc, points), raw


def some(kind: str, size: int) -> NDArray[np.float32]:
    return KINDS[kind](np.random.default_rng(size), size).view(np.float32)


@pytest.mark.parametrize("kind", DEFLATING)
@pytest.mark.parametrize("size", SIZES)
def test_deflated_arrays_are_inflated(kind: str, size: int) -> None:
    stream, raw = deflated(some(kind, size))
    assert inflate_all(stream.data, stream.points, len(raw)) == raw


@pytest.mark.parametrize("size", [40_001, 40_002, 65_473])
def test_integer_arrays_may_end_within_a_word(size: int) -> None:
    steps = np.random.default_rng(size).geometric(0.3, size).astype(np.uint16)
    made, raw = encoded(steps)
    points = parse_restart_points(made.extra, len(raw))
    assert made.method == DEFLATED and points is not None
    assert inflate_all(bytes(made.data), points, len(raw)) == raw


@pytest.mark.parametrize("kind", ["fields", "few", "runs"])
def test_streams_of_other_encoders_are_declined(kind: str) -> None:
    array = some(kind, 40_000)
    stream, raw = deflated(array)
    for other in (zlib.compress(raw, 6, -15), isal_zlib.compress(raw, 2, -15), zlib.compress(raw, 0, -15), b"", b"\5"):
        assert inflate_all(other, stream.points, len(raw)) is None


@pytest.mark.parametrize("kind", DEFLATING)
def test_damaged_streams_are_declined_or_give_other_bytes(kind: str) -> None:
    stream, raw = deflated(some(kind, 20_000))
    random = np.random.default_rng(7)
    for _ in range(200):
        damaged = bytearray(stream.data)
        for place in random.integers(0, len(damaged), 3):
            damaged[place] ^= int(random.integers(1, 256))
        cut = bytes(damaged[: int(random.integers(1, len(damaged) + 1))])
        found = inflate_all(cut, stream.points, len(raw))
        assert found is None or len(found) == len(raw)


def test_wrong_restart_points_are_declined_or_give_other_bytes() -> None:
    stream, raw = deflated(some("fields", 40_000))
    points = stream.points
    for shift in (1, 7, 8, 1000, 2**31):
        blocks, bits = (
            [(number + shift) % 2**32 for number in one] for one in (points.block_offsets, points.bit_offsets)
        )
        for wrong in (replace(points, block_offsets=blocks), replace(points, bit_offsets=bits)):
            assert inflate_all(stream.data, wrong, len(raw)) != raw


def test_restart_points_with_a_giant_block_take_no_memory() -> None:
    stream, raw = deflated(some("fields", 20_000))
    count = -(-len(raw) // 16)
    points = RestartPoints(16, 2**31, [0], [0] * count, [0] * count)
    assert inflate_all(stream.data, points, len(raw)) is None


def test_segments_that_do_not_match_streams_or_output_are_refused() -> None:
    numbers = np.array([0, 100, 16], np.uint32)
    for streams, segments, size in (((b"x",), numbers[:2], 16), ((b"x",), numbers, 12), ((b"x",) * 2, numbers, 32)):
        with pytest.raises(ValueError, match=r"do not (match|fill)"):
            native.inflate(streams, segments, bytearray(size))
    with pytest.raises(TypeError):
        native.inflate(("text",), numbers, bytearray(16))  # type: ignore[arg-type]
    assert native.inflate((), b"", bytearray())
    assert not native.inflate((b"x",), np.array([0, 0, 6], np.uint32), bytearray(6))


def test_arrays_are_read_the_same_with_and_without_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = some("fields", 60_000).reshape(200, 300)
    write_npz(tmp_path / "a.npz", {"t2m": array})
    spans = [(0, 1), (4063, 4065), (30_000, 60_000)]

    def read() -> list[bytes]:
        archive = Archive(tmp_path / "a.npz")
        parts = [archive.read_span(["t2m"], (200, 300), np.dtype(np.float32), *span)["t2m"] for span in spans]
        return [part.tobytes() for part in (archive.read("t2m"), *parts)]

    with_kernel = read()
    monkeypatch.setattr(native, "switched_off", True)
    assert read() == with_kernel
    assert with_kernel[0] == array.tobytes()
