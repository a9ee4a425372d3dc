"""A commit is on disk before it is reported, and other writers do not wait for that flush."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.handle import CHECKPOINT_PAGES, log_bytes_kept
from gribmill.database.sqlite.host_lock import HostLock
from gribmill.database.sqlite.write_ahead_log import (
    FLUSHES_BEFORE_ROOM,
    PIECE,
    STEP_BYTES,
    WRITES_PER_LOOK,
    DurableLog,
    LogRoom,
)
from gribmill.queue.errors import StoreError
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, asks, claim, succeed, take

LOG_BYTES_KEPT = log_bytes_kept(CHECKPOINT_PAGES)


class Disk:
    """Wraps fsync and records each time what the file held and whether the lock was free."""

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
    store.jobs.enqueue_many(NewJob("plain", {"n": n}) for n in range(50))
    assert [jobs for _, jobs in disk.flushed] == [0, 1, 1]
    assert {Path(name).name for name, _ in disk.flushed} == {"jobs.db-wal"}


def test_an_empty_claim_causes_no_fsync(store: Store, disk: Disk) -> None:
    assert claim(store) == ()
    assert not store.maintenance.recover().requeued
    assert disk.flushed == []


def test_claims_and_heartbeats_do_not_wait_for_the_disk(store: Store, disk: Disk) -> None:
    store.jobs.enqueue_many(NewJob("plain", {"n": n}) for n in range(3))
    disk.flushed.clear()
    job = take(store)
    store.workers.heartbeat("w1", 60)
    store.exchange("w1", [], [asks()])
    assert disk.flushed == []
    succeed(store, job)
    assert len(disk.flushed) == 1


def test_a_claim_of_a_type_that_must_not_run_twice_waits_for_the_disk(store: Store, disk: Disk) -> None:
    """A lost job of this type never runs again, so a power failure must not make it pending."""
    for _ in range(2):
        add(store, "fragile")
    disk.flushed.clear()
    take(store)
    assert len(disk.flushed) == 1
    store.exchange("w1", [], [asks()])
    assert len(disk.flushed) == 2


@pytest.mark.slow
def test_log_is_preallocated_once_and_then_stops_growing(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "jobs.db-wal"
    add(store)
    assert log.stat().st_size < LOG_BYTES_KEPT, "a passing command fills up nothing"
    for _ in range(FLUSHES_BEFORE_ROOM):
        add(store)
    assert log.stat().st_size == LOG_BYTES_KEPT
    sizes = set()
    for _ in range(2 * CHECKPOINT_PAGES // 2):  # an enqueue writes two pages: past two checkpoints
        add(store)
        sizes.add(log.stat().st_size)
    assert sizes == {LOG_BYTES_KEPT}


def test_log_with_trailing_zeros_is_recovered_completely(store: Store, tmp_path: Path) -> None:
    for _ in range(3 * FLUSHES_BEFORE_ROOM):
        add(store)
    after = tmp_path / "after the power cut"
    after.mkdir()
    for name in ("jobs.db", "jobs.db-wal"):
        shutil.copy(tmp_path / name, after / name)
    again = Store(SqliteDatabase(after / "jobs.db"), TYPES)
    assert len(again.jobs.list(limit=1000).jobs) == 3 * FLUSHES_BEFORE_ROOM
    assert again.verify() == []
    again.close()


def test_no_process_can_append_while_the_log_is_preallocated(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a manual writer without the host lock: zeros must never overwrite its frames."""
    real, refused = DurableLog.make_room, []

    def make_room(log: DurableLog, size: int) -> None:
        with closing(sqlite3.connect(tmp_path / "jobs.db", timeout=0)) as hand:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                hand.execute("INSERT INTO jobs (type) VALUES ('plain')")
            refused.append(size)
        real(log, size)

    monkeypatch.setattr(DurableLog, "make_room", make_room)
    for _ in range(FLUSHES_BEFORE_ROOM + 5):
        add(store)
    assert refused == [LOG_BYTES_KEPT]


def test_a_failing_fsync_is_reported(store: Store, disk: Disk) -> None:
    disk.broken = True
    with pytest.raises(StoreError, match=r"jobs\.db-wal: .*cannot be flushed to disk \(Input/output error\)"):
        add(store)
    disk.broken = False
    assert len(store.jobs.list().jobs) == 1, "it was committed: others may have seen it"
    add(store)
    assert len(disk.flushed) == 1


def test_synchronous_normal_does_not_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in open_store(tmp_path / "jobs.db", "normal"):
        disk = Disk(tmp_path / "jobs.db", monkeypatch)
        add(store)
        succeed(store, take(store))
        assert disk.flushed == []


def test_busy_process_without_flushes_extends_the_log_in_large_steps(tmp_path: Path) -> None:
    log = tmp_path / "jobs.db-wal"
    for store in open_store(tmp_path / "jobs.db", "normal"):
        add(store)
        assert log.stat().st_size < STEP_BYTES, "a single command fills up nothing"
        for _ in range(WRITES_PER_LOOK):
            add(store)
        extended = log.stat().st_size
        assert extended >= STEP_BYTES
        assert extended % len(PIECE) == 0
        for _ in range(WRITES_PER_LOOK):
            succeed(store, take(store))
        assert log.stat().st_size == extended, "until it is used up"
        after = tmp_path / "after the crash"
        after.mkdir()
        for name in ("jobs.db", "jobs.db-wal"):
            shutil.copy(tmp_path / name, after / name)
        again = Store(SqliteDatabase(after / "jobs.db"), TYPES)
        assert again.jobs.list(limit=1000).jobs == store.jobs.list(limit=1000).jobs
        assert again.verify() == []
        again.close()


def test_no_process_can_append_while_the_log_is_extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for a single enqueue nor for a transaction of several statements."""
    real, refused = LogRoom.extend, []

    def extend(room: LogRoom) -> None:
        with closing(sqlite3.connect(tmp_path / "jobs.db", timeout=0)) as hand:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                hand.execute("INSERT INTO jobs (type) VALUES ('plain')")
            refused.append(True)
        real(room)

    for store in open_store(tmp_path / "jobs.db", "normal"):
        monkeypatch.setattr(LogRoom, "extend", extend)
        for _ in range(2 * WRITES_PER_LOOK):
            add(store)
        assert refused
        with (tmp_path / "jobs.db-wal").open("ab") as log:
            log.truncate(log.tell() - 1)  # as if SQLite had grown it past its room
        refused.clear()
        for _ in range(WRITES_PER_LOOK):
            succeed(store, take(store))
        assert refused
