"""A commit is on the disk before anybody is told of it, and nobody else waits for the disk meanwhile."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from gribmill.queue.errors import StoreError
from gribmill.queue.model import NewJob
from gribmill.queue.sqlite import SqliteDatabase
from gribmill.queue.sqlite.host_lock import HostLock
from gribmill.queue.store import Store
from tests.queue.store.hands import add, claim, succeed, take
from tests.queue.store.sample_types import TYPES


class Disk:
    """Stands before the system's flush and writes down what the file held, and whether the lock was free, each time."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.flushed: list[tuple[str, int]] = []
        self.broken = False
        self._path = path
        self._real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", self._flush)

    def _flush(self, fd: int) -> None:
        if self.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._real(fd)
        lock = HostLock(Path(f"{self._path}.lock"))
        lock.acquire(patience_seconds=0.01)
        lock.release()
        lock.close()
        with closing(sqlite3.connect(self._path)) as other:
            jobs = other.execute("SELECT count(*) FROM jobs WHERE status <> 'pending'").fetchone()[0]
        self.flushed.append((str(Path(f"/proc/self/fd/{fd}").readlink()), jobs))


def open_store(path: Path, synchronous: Literal["full", "normal"]) -> Iterator[Store]:
    store = Store(SqliteDatabase(path, synchronous=synchronous), TYPES)
    yield store
    store.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    yield from open_store(tmp_path / "jobs.db", "full")


@pytest.fixture
def disk(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "jobs.db", monkeypatch)


def test_each_change_is_flushed_once_after_its_commit_with_the_lock_free(store: Store, disk: Disk) -> None:
    add(store)
    job = take(store)
    succeed(store, job)
    store.enqueue_many(NewJob("plain", {"n": n}) for n in range(50))
    assert [jobs for _, jobs in disk.flushed] == [0, 1, 1, 1]
    assert {Path(name).name for name, _ in disk.flushed} == {"jobs.db-wal"}


def test_looking_for_work_in_vain_costs_no_flush(store: Store, disk: Disk) -> None:
    assert claim(store) == ()
    assert not store.recover().requeued
    assert disk.flushed == []


def test_disk_that_refuses_is_told_of(store: Store, disk: Disk) -> None:
    disk.broken = True
    with pytest.raises(StoreError, match=r"jobs\.db-wal: .*cannot be put on the disk \(Input/output error\)"):
        add(store)
    disk.broken = False
    assert len(store.jobs().jobs) == 1, "it was committed: others may have seen it"
    add(store)
    assert len(disk.flushed) == 1


def test_normal_leaves_the_disk_to_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in open_store(tmp_path / "jobs.db", "normal"):
        disk = Disk(tmp_path / "jobs.db", monkeypatch)
        add(store)
        succeed(store, take(store))
        assert disk.flushed == []
