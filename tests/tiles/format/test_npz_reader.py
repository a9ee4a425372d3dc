"""The NPZ reader refuses damaged, foreign and hostile files with an error that names the file."""

from __future__ import annotations

import contextlib
import io
import os
import random
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.tiles.errors import TileError
from gribmill.tiles.format import zip_directory as directory
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import encode_member, write_npz, zip_pieces


def small() -> dict[str, np.ndarray]:
    field = np.arange(20, dtype="f4").reshape(4, 5) / 3
    field[1, 2] = np.nan
    return {"t2m": field, "lat": np.arange(4.0), "meta": np.array(b'{"hour": 5, "model": "hrrr"}')}


def read_all(path: Path) -> dict[str, np.ndarray]:
    opened = Archive(path)
    return {name: opened.read(name) for name in opened.entries}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return set(one) == set(other) and all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes() for name in one
    )


def zipped(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as opened:
        for name, data in members:
            opened.writestr(name, data)
    return buffer.getvalue()


def npy(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def assert_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "hostile.npz"
    path.write_bytes(data)
    with pytest.raises(TileError, match=reason) as caught:
        read_all(path)
    assert str(path) in str(caught.value)


def test_a_tile_cut_short_at_any_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_npz(path, small())
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(TileError):
            read_all(path)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["fast", "stored"])
def test_one_flipped_byte_is_refused_or_harmless_but_never_wrong_data(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.npz"
    write_npz(path, small(), encoding)  # type: ignore[arg-type]
    whole, wanted, noticed = path.read_bytes(), read_all(path), 0
    for position in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF):
            broken = bytearray(whole)
            broken[position] ^= flip
            path.write_bytes(broken)
            try:
                assert same(read_all(path), wanted), f"byte {position} ^ {flip:#x} changed the data unnoticed"
            except TileError:
                noticed += 1
    assert noticed > 2 * len(whole)


@pytest.mark.slow
def test_random_damage_never_raises_anything_but_a_tile_error(tmp_path: Path) -> None:
    rng = random.Random(11)
    path = tmp_path / "a.npz"
    write_npz(path, small())
    whole, wanted = path.read_bytes(), read_all(path)
    for _ in range(4000):
        broken = bytearray(whole)
        for _ in range(rng.randint(2, 30)):
            start = rng.randrange(len(broken))
            kind = rng.randrange(3)
            if kind == 0:
                broken[start] = rng.randrange(256)
            elif kind == 1:
                del broken[start : start + rng.randint(1, 9)]
            else:
                broken[start:start] = rng.randbytes(rng.randint(1, 9))
            if not broken:
                break
        path.write_bytes(broken)
        with contextlib.suppress(TileError):
            assert same(read_all(path), wanted)


def test_noise_and_foreign_files_are_refused(tmp_path: Path) -> None:
    rng = random.Random(3)
    for size in (0, 1, 21, 22, 23, 4000):
        assert_refused(tmp_path, rng.randbytes(size), "not a tile")
    assert_refused(tmp_path, b"GRIB" + bytes(5000), "not a tile")
    assert_refused(tmp_path, zipped([("readme.txt", b"hello")]), "not an array of a tile")


def test_pickles_are_refused(tmp_path: Path) -> None:
    payload = npy(np.array([os.getpid], dtype=object), allow_pickle=True)
    assert_refused(tmp_path, zipped([("t2m.npy", payload)]), "Python objects|type O")


def test_record_arrays_are_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path, zipped([("t2m.npy", npy(np.zeros(3, dtype=[("a", "f4")])))]), "not a plain array")


@pytest.mark.parametrize(
    "name", ["../t2m.npy", "/etc/t2m.npy", "a/b.npy", ".npy", "t2m", "a\\b.npy", "x" * 200 + ".npy"]
)
def test_names_that_could_escape_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    assert_refused(tmp_path, zipped([(name, npy(np.zeros(3)))]), "not an array of a tile")


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zipped([("t2m.npy", npy(np.zeros(3))), ("t2m.npy", npy(np.ones(3)))])
    assert_refused(tmp_path, data, "two arrays named t2m")


def test_a_zip_bomb_is_refused_before_it_is_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "LIMIT_MEMBER_BYTES", 10**6)
    assert_refused(tmp_path, zipped([("t2m.npy", npy(np.zeros(10**6, "f4")))]), "more than 1000000")


def test_a_member_that_grows_beyond_its_declared_size_is_stopped(tmp_path: Path) -> None:
    data = bytearray(zipped([("t2m.npy", npy(np.zeros(500_000, "f4")))]))
    for signature, at in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<I", data, data.index(signature) + at, 5000)
    assert_refused(tmp_path, bytes(data), "does not end with its data|were declared")


def test_a_size_that_deflate_cannot_reach_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped([("t2m.npy", npy(np.zeros(500, "f4")))]))
    struct.pack_into("<I", data, data.index(b"PK\1\2") + 24, 10**8)
    assert_refused(tmp_path, bytes(data), "impossible")


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    pieces = zip_pieces([encode_member("aa", np.zeros(500, "f4")), encode_member("ab", np.zeros(500, "f4"))])
    data = bytearray(b"".join(pieces))
    second = data.rindex(b"PK\1\2")
    struct.pack_into("<I", data, second + 42, 0)
    assert_refused(tmp_path, bytes(data), "overlap")


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    data = zipped([(f"a{i}.npy", b"") for i in range(directory.LIMIT_MEMBERS + 1)])
    assert_refused(tmp_path, data, "more than a tile may have")


@pytest.mark.parametrize("shape", ["(3, 3)", "(2,)", "(4294967296, 4294967296)", "(1, 1, 1, 1, 3)", "(-3,)"])
def test_shapes_that_the_data_do_not_fill_are_refused(tmp_path: Path, shape: str) -> None:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    raw = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + bytes(12)
    assert_refused(tmp_path, zipped([("t2m.npy", raw)]), "do not fill|dimensions|not a plain array")


def test_a_header_with_code_in_it_is_refused(tmp_path: Path) -> None:
    text = "__import__('os').abort()".ljust(117) + "\n"
    raw = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + bytes(12)
    assert_refused(tmp_path, zipped([("t2m.npy", raw)]), "not a plain array")


def test_stored_garbage_after_the_deflate_stream_is_refused(tmp_path: Path) -> None:
    raw = npy(np.zeros(30, "f4"))
    deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflater.compress(raw) + deflater.flush() + b"hidden" * 20
    from gribmill.tiles.format.npz_writer import Member
    from gribmill.tiles.format.zip_directory import DEFLATED

    pieces = zip_pieces([Member("t2m", DEFLATED, zlib.crc32(raw), len(raw), packed)])
    assert_refused(tmp_path, b"".join(pieces), "does not end with its data")


def test_fifos_and_folders_are_refused_without_blocking(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path, tmp_path / "pipe.npz", tmp_path / "absent.npz"):
        with pytest.raises(TileError, match=r"not a file|cannot be read"):
            Archive(path)


def test_a_tile_replaced_while_it_is_open_is_not_mixed_up(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_npz(path, small())
    opened = Archive(path)
    write_npz(path, {**small(), "u10": np.zeros((4, 5), "f4")})
    with pytest.raises(TileError, match="replaced"):
        opened.read("t2m")


def test_arrays_that_numpy_itself_saved_are_read(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "a": np.arange(6.0).reshape(2, 3),
        "b": np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
    }
    np.savez(tmp_path / "n.npz", **arrays)
    for name, array in read_all(tmp_path / "n.npz").items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.flags.writeable
