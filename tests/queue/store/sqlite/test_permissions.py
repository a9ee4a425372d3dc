"""jobs.db and the files beside it are readable by their owner and group at most."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.store import Store
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add

OTHERS = stat.S_IRWXO


@pytest.fixture(params=[0o022, 0o002, 0o000, 0o077], ids="umask {:03o}".format)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


def queue(path: Path) -> tuple[SqliteDatabase, Store]:
    database = SqliteDatabase(path)
    return database, Store(database, TYPES)


def test_no_file_of_the_queue_is_open_to_others(tmp_path: Path, umask: int) -> None:
    database, store = queue(tmp_path / "jobs.db")
    listener = database.listener()
    add(store)
    database.announce()
    found = modes(tmp_path)
    assert {"jobs.db", "jobs.db-wal", "jobs.db-shm", "jobs.db.lock", "jobs.db.wake", "jobs.db.wake/joined"} <= {*found}
    # A socket has the permissions of its folder: others cannot reach it.
    assert {
        name: oct(mode) for name, mode in found.items() if mode & OTHERS and not name.startswith("jobs.db.wake/")
    } == {}
    assert found["jobs.db"] == 0o660 & ~umask, "the umask may take more away"
    listener.close()
    database.close()


def test_a_backup_is_not_open_to_others(tmp_path: Path, umask: int) -> None:
    database, store = queue(tmp_path / "queue" / "jobs.db")
    add(store)
    database.backup(tmp_path / "copy.db")
    assert not modes(tmp_path)["copy.db"] & OTHERS
    database.close()


def test_files_of_an_earlier_version_are_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    database, store = queue(path)
    add(store)
    for name in ("jobs.db", "jobs.db-wal", "jobs.db-shm", "jobs.db.lock"):
        (tmp_path / name).chmod(0o644)
    again, _ = queue(path)
    assert modes(tmp_path)["jobs.db"] == 0o640, "the group keeps what it had"
    assert not any(mode & OTHERS for mode in modes(tmp_path).values())
    again.close()
    database.close()


def test_permissions_that_cannot_be_changed_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "jobs.db"
    queue(path)[0].close()
    path.chmod(0o644)

    def refused(self: Path, mode: int, **_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    with caplog.at_level(logging.WARNING):
        queue(path)[0].close()
    assert f"{path} can be read by every user of this host" in caplog.text
    assert f"chmod o= {path}" in caplog.text
