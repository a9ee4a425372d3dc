"""Where things are in a data root, while others write and remove them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gribmill.identity import HourRef, IdentityError, RunRef
from gribmill.storage.layout import DataRoot, TileFolder, root_of_tile
from tests.local_path import local

RUN = RunRef("hrrr", "20261101_13")


def test_files_removed_during_counting_are_not_an_error(tmp_path: Path) -> None:
    run = tmp_path / "tiles" / "hrrr" / "20261101_13"
    for region in ("ne", "se"):
        (run / region).mkdir(parents=True)
        for name in ("000.npz", "001.npz"):
            (run / region / name).write_bytes(b"tile")
    files = DataRoot(tmp_path).run_files(RUN)
    assert next(files).st_size == 4
    shutil.rmtree(run)
    assert list(files) == []


def test_messages_and_tiles_are_counted(tmp_path: Path) -> None:
    for room, size in (("grib", 3), ("tiles", 5)):
        folder = tmp_path / room / "hrrr" / "20261101_13"
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(bytes(size))
    assert sorted(file.st_size for file in DataRoot(tmp_path).run_files(RUN)) == [3, 5]


def test_listing_has_the_tiles_of_whole_hours_and_the_size_of_everything(tmp_path: Path) -> None:
    folder = tmp_path / "tiles" / "hrrr" / "20261101_13" / "ne"
    folder.mkdir(parents=True)
    for size, name in enumerate(("005.npz", "120.npz", "005m15.npz", "grid.npz", ".006.npz.part"), start=1):
        (folder / name).write_bytes(bytes(size))
    listed = DataRoot(tmp_path).listed_tiles(RUN)
    assert (listed.sizes, listed.total) == ({("ne", 5): 1, ("ne", 120): 2}, 15)
    assert DataRoot(tmp_path).listed_tiles(RunRef("hrrr", "20261101_14")).sizes == {}


def test_every_path_is_where_older_data_roots_have_it() -> None:
    root = DataRoot(Path("/d"))
    folder = TileFolder(root.path, "gefs.p01", "20261101_13", "ne")
    found = [
        root.jobs_db, root.rates, root.latest("hrrr"), root.spool(HourRef("hrrr", "20261101_13", 5)),
        folder.path, folder.grid, folder.tile(300), folder.tile(315), folder.tile(840 * 60),
    ]  # fmt: skip
    assert [str(path) for path in found] == [
        "/d/jobs.db",
        "/d/.rates",
        "/d/tiles/hrrr/latest.json",
        "/d/grib/hrrr/20261101_13/005.grib2",
        "/d/tiles/gefs.p01/20261101_13/ne",
        "/d/tiles/gefs.p01/20261101_13/ne/grid.npz",
        "/d/tiles/gefs.p01/20261101_13/ne/005.npz",
        "/d/tiles/gefs.p01/20261101_13/ne/005m15.npz",
        "/d/tiles/gefs.p01/20261101_13/ne/840.npz",
    ]
    assert root_of_tile(folder.tile(300)) == root
    assert root_of_tile(Path("/d/elsewhere/005.npz")) is None


@pytest.mark.parametrize("names", [("..", "20261101_13", "ne"), ("hrrr", "..", "ne"), ("hrrr", "20261101_13", "../x")])
def test_no_name_leads_out_of_the_data_root(names: tuple[str, str, str]) -> None:
    with pytest.raises(IdentityError):
        TileFolder(Path("/d"), *names).path  # noqa: B018
    with pytest.raises(IdentityError):
        DataRoot(Path("/d")).latest("../x")


def test_folders_that_are_not_ours_are_left_out(tmp_path: Path) -> None:
    for name in ("tiles/hrrr/20261101_13/ne", "tiles/hrrr/notes", "tiles/My Notes/20261101_13", "grib/gfs/20261101_12"):
        (tmp_path / name).mkdir(parents=True)
    root = DataRoot(tmp_path)
    assert root.runs() == {RUN, RunRef("gfs", "20261101_12")}
    assert root.runs("hrrr") == {RUN}
    assert list(root.tile_folders()) == [TileFolder(tmp_path, "hrrr", "20261101_13", "ne")]


def test_a_damaged_or_odd_name_is_not_a_tile(tmp_path: Path) -> None:
    folder = TileFolder(tmp_path, "hrrr", "20261101_13", "ne")
    local(folder.path).mkdir(parents=True)
    for name in ("001.npz", "000m15.npz", "grid.npz", ".002.npz.77.abcd.part", "3.npz", "004m60.npz", "x"):
        local(folder.path / name).touch()
    assert folder.tiles() == {15: folder.path / "000m15.npz", 60: folder.path / "001.npz"}
    assert [path.name for path in DataRoot(tmp_path).parts()] == [".002.npz.77.abcd.part"]
