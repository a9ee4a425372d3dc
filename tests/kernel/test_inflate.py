"""The kernel inflates what it deflated, to the last bit as everybody does, and declines what it did not."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from isal import isal_zlib
from numpy.typing import NDArray

from gribmill.kernel import native
from gribmill.tiles.format.deflate_isal import Stream
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import DEFLATED, write_npz
from gribmill.tiles.format.partial_inflate import inflate_whole
from gribmill.tiles.format.restart_points import Segments, segments_in
from tests.kernel.test_deflate import KINDS, encoded

pytestmark = pytest.mark.skipif(native.state() != "native", reason="the kernel is not in use")
# What hardly repeats within a stretch is stored, and an array of one stretch has no list of them.
DEFLATING = [kind for kind in KINDS if kind not in ("noise", "periods")]
SIZES = (16_351, 16_352, 16_353, 40_000)


def deflated(array: NDArray[np.float32]) -> tuple[Stream, bytes]:
    made, raw = encoded(array)
    segments = segments_in(made.extra, len(raw))
    assert made.method == DEFLATED and segments is not None
    return Stream(bytes(made.data), made.crc, segments), raw


def some(kind: str, size: int) -> NDArray[np.float32]:
    return KINDS[kind](np.random.default_rng(size), size).view(np.float32)


@pytest.mark.parametrize("kind", DEFLATING)
@pytest.mark.parametrize("size", SIZES)
def test_what_was_deflated_is_inflated(kind: str, size: int) -> None:
    stream, raw = deflated(some(kind, size))
    found = inflate_whole(stream.data, stream.segments, len(raw))
    assert found is not None
    assert bytes(found) == raw


@pytest.mark.parametrize("size", [40_001, 40_002, 65_473])
def test_integers_need_not_fill_their_last_word(size: int) -> None:
    steps = np.random.default_rng(size).geometric(0.3, size).astype(np.uint16)
    made, raw = encoded(steps)
    segments = segments_in(made.extra, len(raw))
    assert made.method == DEFLATED and segments is not None
    assert bytes(inflate_whole(bytes(made.data), segments, len(raw)) or b"") == raw


@pytest.mark.parametrize("kind", ["fields", "few", "runs"])
def test_streams_of_other_writers_are_declined(kind: str) -> None:
    array = some(kind, 40_000)
    stream, raw = deflated(array)
    for other in (zlib.compress(raw, 6, -15), isal_zlib.compress(raw, 2, -15), zlib.compress(raw, 0, -15), b"", b"\5"):
        assert inflate_whole(other, stream.segments, len(raw)) is None


@pytest.mark.parametrize("kind", DEFLATING)
def test_damage_is_declined_or_gives_other_bytes_never_a_crash(kind: str) -> None:
    stream, raw = deflated(some(kind, 20_000))
    random = np.random.default_rng(7)
    for _ in range(200):
        damaged = bytearray(stream.data)
        for place in random.integers(0, len(damaged), 3):
            damaged[place] ^= int(random.integers(1, 256))
        cut = bytes(damaged[: int(random.integers(1, len(damaged) + 1))])
        found = inflate_whole(cut, stream.segments, len(raw))
        assert found is None or len(found) == len(raw)


def test_a_wrong_list_is_declined_or_gives_other_bytes() -> None:
    stream, raw = deflated(some("fields", 40_000))
    for shift in (1, 7, 8, 1000, 2**31):
        for told in (stream.segments.blocks, stream.segments.bits):
            moved = [(number + shift) % 2**32 for number in told]
            parts = (moved, stream.segments.bits) if told is stream.segments.blocks else (stream.segments.blocks, moved)
            segments = Segments(
                stream.segments.span, stream.segments.block, parts[0], stream.segments.checksums, parts[1]
            )
            found = inflate_whole(stream.data, segments, len(raw))
            assert found is None or bytes(found) != raw


def test_a_list_that_speaks_of_giant_blocks_takes_no_memory() -> None:
    stream, raw = deflated(some("fields", 20_000))
    count = -(-len(raw) // 16)
    segments = Segments(16, 2**31, [0], [0] * count, [0] * count)
    assert inflate_whole(stream.data, segments, len(raw)) is None


def test_what_does_not_fit_is_refused() -> None:
    numbers = np.array([0, 100, 16], np.uint32)
    for streams, places, room in (((b"x",), numbers[:2], 16), ((b"x",), numbers, 12), ((b"x",) * 2, numbers, 32)):
        with pytest.raises(ValueError, match=r"do not (match|fill)"):
            native.inflate(streams, places, bytearray(room))
    with pytest.raises(TypeError):
        native.inflate(("text",), numbers, bytearray(16))  # type: ignore[arg-type]
    assert native.inflate((), b"", bytearray())
    assert not native.inflate((b"x",), np.array([0, 0, 6], np.uint32), bytearray(6))


def test_an_array_is_the_same_with_and_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = some("fields", 60_000).reshape(200, 300)
    write_npz(tmp_path / "a.npz", {"t2m": array})
    spans = [(0, 1), (4063, 4065), (30_000, 60_000)]

    def read() -> list[bytes]:
        archive = Archive(tmp_path / "a.npz")
        parts = [archive.read_span(["t2m"], (200, 300), np.dtype(np.float32), *span)["t2m"] for span in spans]
        return [part.tobytes() for part in (archive.read("t2m"), *parts)]

    with_it = read()
    monkeypatch.setattr(native, "switched_off", True)
    assert read() == with_it
    assert with_it[0] == array.tobytes()
