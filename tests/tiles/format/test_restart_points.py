"""Rows are read without the rest of an array, with the same values, and never from damaged bytes."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from gribmill.tiles.errors import TileError
from gribmill.tiles.format import npz_writer as npz
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import BLOCK_BYTES as BLOCK
from gribmill.tiles.format.restart_points import (
    MOST_SEGMENTS,
    RestartPoints,
    Segment,
    inflate_segments,
    parse_restart_points,
    segments_between,
)
from gribmill.tiles.format.zip_directory import DEFLATED, STORED, ZipEntry
from tests.local_path import local

SHAPE = (300, 401)


def listed(entry: ZipEntry, start: int, stop: int) -> list[Segment]:
    return segments_between(entry, parse_restart_points(entry.extra, entry.raw_size), start, stop)


@pytest.fixture(scope="module")
def field() -> np.ndarray:
    return np.round(np.random.default_rng(5).normal(280, 9, SHAPE), 1).astype(np.float32)


def written(path: Path, array: np.ndarray, encoding: npz.Compression = "fast") -> Archive:
    npz.write_npz(path, {"t2m": array}, encoding)
    return Archive(path)


def rows_of(archive: Archive, first: int, stop: int, dtype: type = np.float32) -> np.ndarray:
    found = archive.read_span(["t2m"], SHAPE, np.dtype(dtype), first * SHAPE[1], stop * SHAPE[1])["t2m"]
    return found.reshape(-1, SHAPE[1])


@pytest.mark.parametrize("encoding", npz.COMPRESSIONS)
@pytest.mark.parametrize("rows", [(0, 1), (0, 300), (11, 12), (40, 42), (37, 160), (299, 300)])
def test_rows_equal_those_of_the_whole_array(
    tmp_path: Path, field: np.ndarray, encoding: npz.Compression, rows: tuple[int, int]
) -> None:
    archive = written(tmp_path / "a.npz", field, encoding)
    assert rows_of(archive, *rows).tobytes() == field[slice(*rows)].tobytes()


def kinds_of_fields() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    return {
        "constant": np.full(SHAPE, 3.5, np.float32),
        "few values": rng.integers(0, 4, SHAPE).astype(np.float32),
        "noise": rng.random(SHAPE).astype(np.float32),
        "steps": (np.arange(SHAPE[0] * SHAPE[1]) // 50).reshape(SHAPE).astype(np.float32),
        "rare": np.where(rng.random(SHAPE) < 0.001, rng.random(SHAPE), 0).astype(np.float32),
        "missing": np.where(rng.random(SHAPE) < 0.5, np.nan, 280.0).astype(np.float32),
    }


@pytest.mark.parametrize("kind", kinds_of_fields())
def test_any_points_equal_those_of_the_whole_array(tmp_path: Path, kind: str) -> None:
    field = kinds_of_fields()[kind]
    archive = written(tmp_path / "a.npz", field)
    flat = field.reshape(-1)
    # Around every place where a segment or a block may begin.
    for border in range(0, flat.size, 2**10):
        for begin, end in ((border - 40, border - 32), (border - 33, border + 1), (border, border + 1)):
            if 0 <= begin < end <= flat.size:
                found = archive.read_span(["t2m"], SHAPE, np.dtype(np.float32), begin, end)["t2m"]
                assert found.tobytes() == flat[begin:end].tobytes(), (kind, begin, end)


def test_every_other_reader_sees_a_plain_npz(tmp_path: Path, field: np.ndarray) -> None:
    path = written(tmp_path / "a.npz", field).path
    assert listed(Archive(path).entries["t2m"], 0, 1)
    with np.load(local(path)) as loaded:
        assert loaded["t2m"].tobytes() == field.tobytes()
    with zipfile.ZipFile(local(path)) as plain:
        assert plain.testzip() is None


def test_only_the_block_around_the_rows_is_read(tmp_path: Path, field: np.ndarray) -> None:
    archive = written(tmp_path / "a.npz", field)
    entry = archive.entries["t2m"]
    content = bytearray(archive.path.read_bytes())
    middle = content.index(b"t2m.npy") + len("t2m.npy") + entry.packed_size // 2
    content[middle] ^= 0x55
    local(archive.path).write_bytes(content)
    damaged = Archive(archive.path)
    assert rows_of(damaged, 0, 1).tobytes() == field[:1].tobytes()
    assert rows_of(damaged, 299, 300).tobytes() == field[299:].tobytes()
    with pytest.raises(TileError, match="damaged"):
        rows_of(damaged, 0, 300)
    with pytest.raises(TileError, match=r"damaged|declared"):
        damaged.read("t2m")


@pytest.mark.parametrize("step", range(7, 200, 31))
def test_a_changed_byte_is_never_returned(tmp_path: Path, field: np.ndarray, step: int) -> None:
    archive = written(tmp_path / "a.npz", field)
    content = archive.path.read_bytes()
    start = content.index(b"t2m.npy") + len("t2m.npy")
    for position in range(start + step, start + archive.entries["t2m"].packed_size, 9973):
        local(archive.path).write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        for first in range(0, 300, 60):
            try:
                rows = rows_of(Archive(archive.path), first, first + 2)
            except TileError:
                continue
            assert rows.tobytes() == field[first : first + 2].tobytes()


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_a_wrong_list_of_restart_points_never_gives_wrong_values(tmp_path: Path, field: np.ndarray, flip: int) -> None:
    archive = written(tmp_path / "a.npz", field)
    content, extra = archive.path.read_bytes(), archive.entries["t2m"].extra
    start = content.rindex(extra)
    for position in range(start, start + len(extra), 3):
        local(archive.path).write_bytes(
            content[:position] + bytes([content[position] ^ flip]) + content[position + 1 :]
        )
        for begin in (0, 20_000, SHAPE[0] * SHAPE[1] - 1):
            try:
                found = Archive(archive.path).read_span(["t2m"], SHAPE, np.dtype(np.float32), begin, begin + 1)["t2m"]
            except TileError:
                continue
            assert found[0] == field.reshape(-1)[begin]


def test_an_array_of_another_kind_is_refused(tmp_path: Path, field: np.ndarray) -> None:
    archive = written(tmp_path / "a.npz", field.astype(np.float64))
    with pytest.raises(TileError, match="float64"):
        rows_of(archive, 0, 1)


@pytest.mark.parametrize("seed", range(12))
def test_every_segment_of_a_healthy_array_is_read(seed: int) -> None:
    """ISA-L holds back a code that ends with its input: one in twenty noise segments lacked its last byte."""
    random = np.random.default_rng(seed)
    array = (random.normal(size=70_000) * [1, 100, 1e-3][seed % 3]).astype(np.float32)
    array = np.round(array, 1) if seed % 2 else array
    made = npz.encode_member("t2m", array)
    entry = ZipEntry("t2m", made.method, made.crc, len(made.data), made.raw_size, 0, made.extra)
    raw = npz.npy_header(array.dtype, array.shape) + array.tobytes()
    for begin in range(0, made.raw_size, 2**12):
        (segment,) = listed(entry, begin, begin + 1)
        (found,) = inflate_segments([bytes(made.data[segment.begin : segment.end])], [segment])
        assert found == raw[segment.raw_begin : segment.raw_begin + segment.raw_size]


def test_segments_of_a_stored_array_are_its_bytes() -> None:
    raw = np.random.default_rng(1).bytes(3 * BLOCK // 2)
    checksums = (zlib.crc32(raw[:BLOCK]), zlib.crc32(raw))
    entry = ZipEntry(
        "t2m",
        STORED,
        checksums[1],
        len(raw),
        len(raw),
        0,
        RestartPoints(BLOCK, BLOCK, (0, BLOCK), checksums).extra_field(),
    )
    for begin, part in ((5, raw[:BLOCK]), (BLOCK + 5, raw[BLOCK:])):
        (segment,) = listed(entry, begin, begin + 1)
        assert inflate_segments([raw[segment.begin : segment.end]], [segment]) == [part]
        assert inflate_segments([bytes(segment.end - segment.begin)], [segment]) == [None]


@pytest.mark.slow
def test_more_segments_than_the_kernel_takes_are_refused_as_damaged(tmp_path: Path) -> None:
    """Lists nearly as long as a ZIP directory allows, in many arrays, with a block every eight bytes."""
    count, blocks = 6016, 3008
    bits = [64 * (number // 2) + 3 + number % 2 for number in range(count)]
    extra = RestartPoints(4, 8, range(0, 8 * blocks, 8), range(count), bits).extra_field()
    names = [f"v{number}" for number in range(22)]
    shape = (1, count - 32)
    members = [npz.Member(name, DEFLATED, 0, 4 * count, bytes(8 * blocks), extra) for name in names]
    (tmp_path / "a.npz").write_bytes(b"".join(npz.zip_pieces(members)))
    with pytest.raises(TileError, match="damaged in array v0"):
        Archive(tmp_path / "a.npz").read_span(names, shape, np.dtype(np.float32), 0, shape[1])


def described(extra: bytes, raw_size: int = 2 * BLOCK, packed_size: int = 20) -> ZipEntry:
    return ZipEntry("t2m", DEFLATED, 0, packed_size, raw_size, 0, extra)


HALF = BLOCK // 2


@pytest.mark.parametrize(
    "segments",
    [
        RestartPoints(BLOCK, BLOCK, (10, 5), (1, 2)),
        RestartPoints(BLOCK, BLOCK, (0, 21), (1, 2)),
        RestartPoints(BLOCK, BLOCK, (0,), (1,)),
        RestartPoints(0, BLOCK, (0, 10), (1, 2)),
        RestartPoints(BLOCK, 0, (0, 10), (1, 2)),
        RestartPoints(2 * BLOCK, BLOCK, (0, 10), (1, 2)),
        RestartPoints(HALF - 1, BLOCK, (0, 10), (1, 2, 3, 4, 5), (3, 30, 83, 100, 110)),
        RestartPoints(HALF, BLOCK, (0, 10), (1, 2, 3, 4)),
        RestartPoints(HALF, BLOCK, (0, 10), (1, 2, 3, 4), (3, 30, 83, 79)),
        RestartPoints(HALF, BLOCK, (0, 10), (1, 2, 3, 4), (3, 30, 83, 81)),
        RestartPoints(HALF, BLOCK, (0, 10), (1, 2, 3, 4), (3, 30, 83, 160)),
    ],
)
def test_impossible_lists_of_restart_points_are_ignored(segments: RestartPoints) -> None:
    found = [listed(described(segments.extra_field()), begin, begin + 1) for begin in (BLOCK - 1, 2 * BLOCK - 1)]
    assert [] in found


@pytest.mark.parametrize("extra", [b"", b"gm", RestartPoints(BLOCK, BLOCK, (0, 10), (1, 2)).extra_field() + b"x"])
def test_an_invalid_list_of_restart_points_is_ignored(extra: bytes) -> None:
    assert listed(described(extra), 0, 1) == []


def test_a_valid_list_of_restart_points_is_read() -> None:
    entry = described(RestartPoints(BLOCK, BLOCK, (0, 10), (1, 2)).extra_field())
    first, second = Segment(0, 18, 0, BLOCK, 0, 1), Segment(10, 20, BLOCK, BLOCK, 1, 2)
    assert listed(entry, 0, BLOCK) == [first]
    assert listed(entry, BLOCK, BLOCK + 1) == [second]
    assert listed(entry, 5, BLOCK + 1) == [first, second]


def test_a_segment_within_a_block_comes_with_the_blocks_codes() -> None:
    entry = described(RestartPoints(HALF, BLOCK, (0, 10), (1, 2, 3, 4), (3, 30, 83, 100)).extra_field())
    assert listed(entry, 0, 1) == [Segment(0, 12, 0, HALF, 0, 1, header_bits=3, skip_bits=3)]
    assert listed(entry, HALF, HALF + 1) == [Segment(0, 18, HALF, HALF, 1, 2, header_bits=3, skip_bits=30)]
    assert listed(entry, BLOCK + HALF, BLOCK + HALF + 1) == [
        Segment(10, 20, 3 * HALF, HALF, 3, 4, header_bits=3, skip_bits=20)
    ]
    # The codes of one block do not apply to the next.
    across = [
        Segment(0, 18, HALF, HALF, 1, 2, header_bits=3, skip_bits=30),
        Segment(10, 20, BLOCK, HALF, 2, 3, header_bits=3, skip_bits=3),
    ]
    assert listed(entry, HALF, BLOCK + 1) == across


@pytest.mark.parametrize("bounds", [(0, 0), (-1, 5), (5, 4), (0, 2 * BLOCK + 1), (2 * BLOCK, 2 * BLOCK + 1)])
def test_bytes_beyond_the_array_are_in_no_block(bounds: tuple[int, int]) -> None:
    assert listed(described(RestartPoints(BLOCK, BLOCK, (0, 10), (1, 2)).extra_field()), *bounds) == []


def test_large_arrays_have_longer_segments_not_more() -> None:
    made = npz.encode_member("t2m", np.zeros(BLOCK * MOST_SEGMENTS // 4 + 5, np.float32))
    entry = described(made.extra, made.raw_size, len(made.data))
    assert len(made.extra) <= 12 + 12 * MOST_SEGMENTS
    assert listed(entry, made.raw_size - 1, made.raw_size)
