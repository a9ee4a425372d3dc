"""The files of a run are counted while other processes remove them."""

from __future__ import annotations

import shutil
from pathlib import Path

from gribmill.storage.run_files import files_of


def test_files_removed_during_counting_are_not_an_error(tmp_path: Path) -> None:
    run = tmp_path / "tiles" / "hrrr" / "20261101_13"
    for region in ("ne", "se"):
        (run / region).mkdir(parents=True)
        for name in ("000.npz", "001.npz"):
            (run / region / name).write_bytes(b"tile")
    files = files_of(tmp_path, "hrrr", "20261101_13")
    assert next(files).st_size == 4
    shutil.rmtree(run)
    assert list(files) == []


def test_messages_and_tiles_are_counted(tmp_path: Path) -> None:
    for room, size in (("grib", 3), ("tiles", 5)):
        folder = tmp_path / room / "hrrr" / "20261101_13"
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(bytes(size))
    assert sorted(file.st_size for file in files_of(tmp_path, "hrrr", "20261101_13")) == [3, 5]
