"""The NPZ writer: readable by anyone, the same bytes every time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gribmill.tiles.errors import TileError
from gribmill.tiles.format import npz_writer as npz
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.zip_directory import LIMIT_MEMBERS, STORED

WRITE_IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
import numpy as np
from gribmill.tiles.format.npz_writer import write_npz
names = {"t2m", "u10", "v10", "lat", "lon", "meta"}
arrays = {name: np.full((3, 4), len(name), "f4") for name in names}
write_npz(Path(sys.argv[1]), arrays)
"""


def some_arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    smooth = np.cumsum(rng.integers(-3, 4, (40, 60)), axis=1)
    t2m = (280 + smooth / 10).astype("f4")
    t2m[3:5, 7] = np.nan
    return {
        "t2m": t2m,
        "noise": rng.random((9, 11)).astype("f4"),
        "lat": np.linspace(30, 40, 40),
        "empty": np.zeros((0, 5), "f4"),
        "meta": np.array(b'{"hour": 5}'),
    }


@pytest.mark.parametrize("encoding", npz.COMPRESSIONS)
def test_numpy_load_reads_every_array_exactly_and_without_pickle(tmp_path: Path, encoding: npz.Compression) -> None:
    path = tmp_path / "005.npz"
    size = npz.write_npz(path, some_arrays(), encoding)
    assert size == path.stat().st_size
    with np.load(path, allow_pickle=False) as loaded:
        assert sorted(loaded.files) == sorted(some_arrays())
        for name, array in some_arrays().items():
            assert loaded[name].dtype == array.dtype
            np.testing.assert_array_equal(loaded[name], array)


@pytest.mark.parametrize("encoding", npz.COMPRESSIONS)
def test_gribmill_reads_what_numpy_reads(tmp_path: Path, encoding: npz.Compression) -> None:
    path = tmp_path / "005.npz"
    npz.write_npz(path, some_arrays(), encoding)
    archive = Archive(path)
    assert set(archive.entries) == set(some_arrays())
    for name, array in some_arrays().items():
        np.testing.assert_array_equal(archive.read(name), array)


@pytest.mark.process
def test_other_zip_tools_find_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "005.npz"
    npz.write_npz(path, some_arrays())
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        assert {info.date_time for info in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert opened.namelist() == sorted(opened.namelist())
    if unzip := shutil.which("unzip"):
        done = subprocess.run([unzip, "-t", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_order_of_the_arrays_does_not_change_the_bytes(tmp_path: Path) -> None:
    arrays = some_arrays()
    npz.write_npz(tmp_path / "a.npz", arrays)
    npz.write_npz(tmp_path / "b.npz", dict(reversed(arrays.items())))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.process
def test_bytes_do_not_depend_on_the_hash_seed_of_the_process(tmp_path: Path) -> None:
    written = set()
    for seed in ("0", "1", "4242"):
        path = tmp_path / f"{seed}.npz"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", WRITE_IN_ANOTHER_PROCESS, str(path)], check=True, env=environment)
        written.add(path.read_bytes())
    assert len(written) == 1


def test_python_objects_are_never_written() -> None:
    with pytest.raises(TileError, match="Python objects"):
        npz.encode_member("bad", np.array([{"a": 1}], dtype=object))


def test_two_arrays_of_one_name_are_refused() -> None:
    twice = [npz.encode_member("t2m", np.zeros(3)), npz.encode_member("t2m", np.ones(3))]
    with pytest.raises(TileError, match="same name"):
        npz.zip_pieces(twice)


def test_no_more_arrays_are_written_than_can_be_read(tmp_path: Path) -> None:
    members = [npz.encode_member(f"v{number}", np.zeros(1)) for number in range(LIMIT_MEMBERS + 1)]
    with pytest.raises(TileError, match=f"{LIMIT_MEMBERS + 1} arrays are more than one tile may have"):
        npz.zip_pieces(members)
    path = tmp_path / "005.npz"
    path.write_bytes(b"".join(npz.zip_pieces(members[:-1])))
    assert len(Archive(path).entries) == LIMIT_MEMBERS


def test_more_than_four_gib_are_refused_before_anything_is_written() -> None:
    huge = npz.Member("t2m", STORED, 0, 2**31, np.zeros(2**31, "u1").data)
    with pytest.raises(TileError, match="4 GiB"):
        npz.zip_pieces([huge, npz.Member("u10", *[getattr(huge, f) for f in ("method", "crc", "raw_size", "data")])])


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path: Path) -> None:
    from gribmill.storage.atomic import write_atomic

    path = tmp_path / "005.npz"
    npz.write_npz(path, some_arrays())
    before = path.read_bytes()

    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        write_atomic(path, chunks())
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["005.npz"]


def test_all_pieces_are_written_though_the_system_takes_a_few_bytes_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gribmill.storage.atomic import MOST_PIECES, write_atomic

    pieces = [b"", *(bytes([number % 251]) * (number % 7) for number in range(2 * MOST_PIECES + 3)), b""]
    write_atomic(tmp_path / "new folder" / "whole", pieces)

    def a_few(descriptor: int, buffers: list[memoryview]) -> int:
        assert len(buffers) <= MOST_PIECES
        return os.write(descriptor, b"".join(buffers)[:11])

    monkeypatch.setattr(os, "writev", a_few)
    assert write_atomic(tmp_path / "in parts", pieces) == len(b"".join(pieces))
    assert (tmp_path / "in parts").read_bytes() == b"".join(pieces)
    assert (tmp_path / "new folder" / "whole").read_bytes() == b"".join(pieces)


def test_a_tile_can_be_read_by_other_accounts(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        npz.write_npz(tmp_path / "005.npz", some_arrays())
    finally:
        os.umask(old)
    assert (tmp_path / "005.npz").stat().st_mode & 0o777 == 0o644
