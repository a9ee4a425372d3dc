"""Rows are read without the rest of an array, equal to what the whole array has, and never from damaged bytes."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gribmill.tiles import npz
from gribmill.tiles.archive import Archive
from gribmill.tiles.directory import Entry
from gribmill.tiles.errors import TileError
from gribmill.tiles.npz import DEFLATED
from gribmill.tiles.segments import MOST, SPAN, Segments, Stretch, stretch_of

SHAPE = (300, 401)


@pytest.fixture(scope="module")
def field() -> np.ndarray:
    return np.round(np.random.default_rng(5).normal(280, 9, SHAPE), 1).astype(np.float32)


def written(path: Path, array: np.ndarray, encoding: npz.Encoding = "fast") -> Archive:
    npz.write_npz(path, {"t2m": array}, encoding)
    return Archive(path)


def rows_of(archive: Archive, first: int, stop: int, dtype: type = np.float32) -> np.ndarray:
    return archive.read_rows(["t2m"], SHAPE, [dtype], first, stop)["t2m"]


@pytest.mark.parametrize("encoding", npz.ENCODINGS)
@pytest.mark.parametrize("rows", [(0, 1), (0, 300), (40, 42), (37, 160), (299, 300)])
def test_rows_are_those_of_the_whole_array(
    tmp_path: Path, field: np.ndarray, encoding: npz.Encoding, rows: tuple[int, int]
) -> None:
    archive = written(tmp_path / "a.npz", field, encoding)
    assert rows_of(archive, *rows).tobytes() == field[slice(*rows)].tobytes()


def test_every_other_reader_sees_a_plain_npz(tmp_path: Path, field: np.ndarray) -> None:
    path = written(tmp_path / "a.npz", field).path
    assert stretch_of(Archive(path).entries["t2m"], 0, 1) is not None
    with np.load(path) as loaded:
        assert loaded["t2m"].tobytes() == field.tobytes()
    with zipfile.ZipFile(path) as plain:
        assert plain.testzip() is None


def test_only_the_stretch_around_the_rows_is_looked_at(tmp_path: Path, field: np.ndarray) -> None:
    archive = written(tmp_path / "a.npz", field)
    entry = archive.entries["t2m"]
    content = bytearray(archive.path.read_bytes())
    middle = content.index(b"t2m.npy") + len("t2m.npy") + entry.packed_size // 2
    content[middle] ^= 0x55
    archive.path.write_bytes(content)
    damaged = Archive(archive.path)
    assert rows_of(damaged, 0, 1).tobytes() == field[:1].tobytes()
    assert rows_of(damaged, 299, 300).tobytes() == field[299:].tobytes()
    with pytest.raises(TileError, match="damaged"):
        rows_of(damaged, 0, 300)
    with pytest.raises(TileError, match="damaged"):
        damaged.read("t2m")


@pytest.mark.parametrize("step", range(7, 200, 31))
def test_a_changed_byte_is_never_handed_out(tmp_path: Path, field: np.ndarray, step: int) -> None:
    archive = written(tmp_path / "a.npz", field)
    content = archive.path.read_bytes()
    start = content.index(b"t2m.npy") + len("t2m.npy")
    for position in range(start + step, start + archive.entries["t2m"].packed_size, 9973):
        archive.path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        for first in range(0, 300, 60):
            try:
                rows = rows_of(Archive(archive.path), first, first + 2)
            except TileError:
                continue
            assert rows.tobytes() == field[first : first + 2].tobytes()


def test_an_array_of_another_kind_is_refused(tmp_path: Path, field: np.ndarray) -> None:
    archive = written(tmp_path / "a.npz", field.astype(np.float64))
    with pytest.raises(TileError, match="float64"):
        rows_of(archive, 0, 1)


def described(extra: bytes, raw_size: int = SPAN + 1, packed_size: int = 20) -> Entry:
    return Entry("t2m", DEFLATED, 0, packed_size, raw_size, 0, extra)


@pytest.mark.parametrize(
    "extra",
    [
        b"",
        b"gm",
        Segments(SPAN, (10, 5), (1, 2)).extra(),
        Segments(SPAN, (10, 10), (1, 2)).extra(),
        Segments(SPAN, (10, 21), (1, 2)).extra(),
        Segments(SPAN, (20,), (1,)).extra(),
        Segments(0, (10, 20), (1, 2)).extra(),
        Segments(SPAN, (10, 20), (1, 2)).extra() + b"x",
    ],
)
def test_lists_that_cannot_be_right_are_passed_over(extra: bytes) -> None:
    assert stretch_of(described(extra), SPAN, SPAN + 1) is None


def test_a_right_list_is_read() -> None:
    entry = described(Segments(SPAN, (10, 20), (1, 2)).extra())
    assert stretch_of(entry, 0, SPAN) == Stretch(0, 10, 0, SPAN, 0, 1)
    assert stretch_of(entry, SPAN, SPAN + 1) == Stretch(10, 20, SPAN, 1, 1, 2)
    assert stretch_of(entry, 5, SPAN + 1) == Stretch(0, 20, 0, SPAN + 1, 0, 2)


@pytest.mark.parametrize("bounds", [(0, 0), (-1, 5), (5, 4), (0, SPAN + 2), (SPAN + 1, SPAN + 2)])
def test_bytes_that_are_not_there_are_in_no_stretch(bounds: tuple[int, int]) -> None:
    assert stretch_of(described(Segments(SPAN, (10, 20), (1, 2)).extra()), *bounds) is None


def test_large_arrays_have_longer_stretches_not_more() -> None:
    made = npz.member("t2m", np.zeros(SPAN * MOST // 4 + 5, np.float32))
    entry = described(made.extra, made.raw_size, len(made.data))
    assert len(made.extra) <= 8 + 8 * MOST
    assert stretch_of(entry, made.raw_size - 1, made.raw_size) is not None
