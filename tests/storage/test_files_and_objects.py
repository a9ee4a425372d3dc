"""Local files and objects in a store give the same guarantees."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gribmill.identity import RunRef
from gribmill.storage.atomic import write_atomic
from gribmill.storage.errors import Superseded
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest, read_latest
from gribmill.storage.layout import DataRoot, TileFolder, remove_folder
from gribmill.storage.object_path import ObjectPath, StoredPath

pytestmark = pytest.mark.process
RUN = RunRef("hrrr", "20230722_06")
OLD, NEW = "20230722_06", "20230722_07"


@pytest.fixture(params=["files", "objects", "azure", "google"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> DataRoot:
    """A data root with tiles on local disk, in an S3 server, in Azurite, or in our server of Google's protocol."""
    if request.param == "files":
        return DataRoot(tmp_path)
    prefixes = {"objects": "prefix", "azure": "azure_prefix", "google": "google_prefix"}
    return DataRoot(tmp_path, request.getfixturevalue(prefixes[request.param]))


@pytest.fixture
def folder(root: DataRoot) -> TileFolder:
    return TileFolder(root.tile_root, "hrrr", OLD, "ne")


def contents(path: StoredPath) -> bytes:
    return path.read_bytes()


def test_written_content_is_read_back_completely(folder: TileFolder) -> None:
    path = folder.tile(60)
    assert write_atomic(path, [b"one", bytearray(b"two"), memoryview(b"three")]) == 11
    assert contents(path) == b"onetwothree"
    assert path.stat().st_size == 11
    assert path.exists()


def test_unwritten_content_does_not_exist(folder: TileFolder) -> None:
    assert not folder.tile(60).exists()
    assert not folder.tile(60).is_file()
    assert folder.tiles() == {}
    with pytest.raises(FileNotFoundError):
        folder.tile(60).stat()


def test_write_replaces_existing_content(folder: TileFolder) -> None:
    path = folder.tile(60)
    for content in (b"long before", b"now"):
        write_atomic(path, [content])
    assert contents(path) == b"now"


def test_check_refuses_to_replace_existing_content(folder: TileFolder) -> None:
    path = folder.tile(60)
    write_atomic(path, [b"newer"])

    def refuse() -> None:
        raise Superseded("there is a newer one")

    with pytest.raises(Superseded):
        write_atomic(path, [b"older"], refuse)
    assert contents(path) == b"newer"


def test_late_writer_never_replaces_a_newer_file(folder: TileFolder) -> None:
    """Each writer may replace only lower numbers, and pauses between its check and its write."""
    path = folder.tile(60)

    def write(number: int) -> None:
        def check() -> None:
            if path.exists() and int(contents(path)) > number:
                raise Superseded("there is a higher one")

        try:
            write_atomic(path, [str(number).encode()], check)
        except Superseded:
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [*range(20), *reversed(range(20))]))
    assert contents(path) == b"19"


def test_writer_frozen_after_its_check_has_to_check_again(folder: TileFolder) -> None:
    path = folder.tile(60)
    write_atomic(path, [b"1"])
    if isinstance(path, Path):
        pytest.skip("files have a lock: the other writer waits (test_fence.py)")
    looked, go_on = threading.Event(), threading.Event()
    looks: list[bytes] = []

    def check() -> None:
        looks.append(contents(path))
        looked.set()
        assert go_on.wait(60)
        if int(looks[-1]) > 2:
            raise Superseded("there is a newer one")

    def write_late() -> None:
        with pytest.raises(Superseded):
            write_atomic(path, [b"2"], check)

    late = threading.Thread(target=write_late)
    late.start()
    assert looked.wait(60)
    write_atomic(path, [b"3"])
    go_on.set()
    late.join()
    assert looks == [b"1", b"3"]
    assert contents(path) == b"3"


def test_tiles_are_listed_in_order_of_time_and_nothing_else_is(folder: TileFolder) -> None:
    for name in ("010.npz", "002.npz", "002m15.npz", "grid.npz", "notes.txt"):
        write_atomic(folder.path / name, [b"x"])
    assert [path.name for path in folder.tiles().values()] == ["002.npz", "002m15.npz", "010.npz"]
    assert [*folder.tiles()] == [120, 135, 600]


def test_folders_are_found_by_model_run_and_region(root: DataRoot) -> None:
    for model, run, region in (("hrrr", OLD, "ne"), ("hrrr", NEW, "ne"), ("hrrr", NEW, "texas"), ("gfs", OLD, "ne")):
        write_atomic(TileFolder(root.tile_root, model, run, region).tile(0), [b"x"])
    found = [(one.model, one.run, one.region) for one in root.tile_folders()]
    assert found == [("gfs", OLD, "ne"), ("hrrr", NEW, "ne"), ("hrrr", NEW, "texas"), ("hrrr", OLD, "ne")]
    assert [one.run for one in root.tile_folders("hrrr", region="ne")] == [NEW, OLD]
    assert [one.region for one in root.tile_folders("hrrr", NEW)] == ["ne", "texas"]
    assert root.runs() == {RunRef("hrrr", OLD), RunRef("hrrr", NEW), RunRef("gfs", OLD)}
    assert root.models() == ["gfs", "hrrr"]


def test_names_that_only_begin_alike_are_other_runs(root: DataRoot) -> None:
    """An object store has no folders: hrrr and hrrr_subh share a prefix."""
    for model in ("hrrr", "hrrr_subh"):
        write_atomic(TileFolder(root.tile_root, model, OLD, "ne").tile(0), [b"x"])
    remove_folder(root.tiles / "hrrr")
    assert root.models() == ["hrrr_subh"]


def test_files_of_a_run_are_counted_and_removed(root: DataRoot) -> None:
    for region in ("ne", "texas"):
        for hour in range(3):
            write_atomic(TileFolder(root.tile_root, "hrrr", OLD, region).tile(60 * hour), [b"x" * 100])
    other = TileFolder(root.tile_root, "hrrr", NEW, "ne").tile(0)
    write_atomic(other, [b"other"])
    files = list(root.run_files(RUN))
    assert sum(file.st_size for file in files) == 600
    assert all(file.st_mtime > 1.7e9 for file in files)
    assert [remove_folder(folder) for folder in root.run_folders(RUN)] == [True, True]
    assert list(root.run_files(RUN)) == []
    assert contents(other) == b"other"


def test_removing_a_file_twice_is_not_an_error(folder: TileFolder) -> None:
    path = folder.tile(0)
    write_atomic(path, [b"x"])
    for _ in range(2):
        path.unlink(missing_ok=True)
    assert not path.exists()


def known(newest: str, complete: str | None) -> Callable[[], KnownRuns]:
    return lambda: KnownRuns({"ne": LatestRuns(newest, complete)}, hours={newest: 2})


def test_latest_runs_move_forward_only(root: DataRoot) -> None:
    publish_latest(root, "hrrr", known(NEW, OLD))
    publish_latest(root, "hrrr", known(OLD, None))
    assert read_latest(root, "hrrr") == {"ne": LatestRuns(NEW, OLD)}


def test_publishers_at_the_same_time_lose_nothing(root: DataRoot) -> None:
    runs = [f"20230722_{hour:02d}" for hour in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda run: publish_latest(root, "hrrr", lambda: KnownRuns({run[-2:]: LatestRuns(run, run)})), runs
            )
        )
    assert read_latest(root, "hrrr") == {run[-2:]: LatestRuns(run, run) for run in runs}


def test_publisher_frozen_after_its_check_writes_nothing_outdated(prefix: ObjectPath, tmp_path: Path) -> None:
    """It checked while a tile was lost. The tile was then repaired, and another publisher found the file correct."""
    root = DataRoot(tmp_path, prefix)
    publish_latest(root, "hrrr", known(OLD, OLD))
    looked, go_on = threading.Event(), threading.Event()
    answers = iter(
        [
            KnownRuns({"ne": LatestRuns(OLD, None)}, lost={("ne", OLD)}),
            KnownRuns({"ne": LatestRuns(OLD, OLD)}),
        ]
    )

    def slow_look() -> KnownRuns:
        answer = next(answers)
        looked.set()
        assert go_on.wait(60)
        return answer

    frozen = threading.Thread(target=publish_latest, args=(root, "hrrr", slow_look))
    frozen.start()
    assert looked.wait(60)
    publish_latest(root, "hrrr", known(OLD, OLD))
    go_on.set()
    frozen.join()
    assert read_latest(root, "hrrr") == {"ne": LatestRuns(OLD, OLD)}


def test_damaged_latest_file_is_written_again(root: DataRoot) -> None:
    write_atomic(root.latest("hrrr"), [b'{"regions": '])
    assert read_latest(root, "hrrr") == {}
    publish_latest(root, "hrrr", known(NEW, OLD))
    assert read_latest(root, "hrrr") == {"ne": LatestRuns(NEW, OLD)}
