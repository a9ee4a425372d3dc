"""One writer at a time, a small log, one connection per thread and process, consistent copies."""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.synchronize
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gribmill.database.sqlite import SqliteDatabase, host_lock
from gribmill.database.sqlite import handle as handle_module
from gribmill.database.sqlite.database import IDS_AT_ONCE
from gribmill.database.sqlite.host_lock import HostLock
from gribmill.database.sqlite.session import SqliteSession, statement
from gribmill.queue.errors import StatementRefused, StoreBusy, StoreError
from gribmill.queue.model import Definition, NewJob
from gribmill.queue.store import Store
from tests.queue.store.guarantees.mutant import Mutant
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, claim, drain, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest, SqliteUnderTest

MEGABYTE = 1024 * 1024


@pytest.fixture
def jobs_db(tmp_path: Path) -> Iterator[SqliteUnderTest]:
    backend = SqliteUnderTest(tmp_path)
    yield backend
    backend.close()
    assert SqliteUnderTest(tmp_path).store.verify() == []


def write_transaction_shuts_others_out(backend: BackendUnderTest) -> None:
    """G2, G3: from its first statement, even before a write, no other transaction can begin to write."""
    assert isinstance(backend, SqliteUnderTest)
    with backend.store.database.write(), closing(sqlite3.connect(backend.path, timeout=0)) as other:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")


def test_write_transaction_shuts_others_out(jobs_db: SqliteUnderTest) -> None:
    write_transaction_shuts_others_out(jobs_db)
    with closing(sqlite3.connect(jobs_db.path, timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert other.in_transaction, "it is over, and the next may write"


def test_deferred_transaction_fails_if_another_writer_intervenes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why transactions are IMMEDIATE: one that reads and then writes is refused at once, whatever its timeout."""
    Mutant(sent={"BEGIN IMMEDIATE": "BEGIN"}, host_lock=False).apply(monkeypatch)
    backend = SqliteUnderTest(tmp_path)
    other = backend.open()
    with pytest.raises(StoreBusy), backend.store.database.write() as tx:
        tx.query(Definition, "types/list")
        add(other)
        tx.change("types/pause", {"key": "plain", "paused_at": None, "now": "x"})
    monkeypatch.undo()
    backend.close()


def test_error_inside_a_transaction_rolls_back_and_frees_the_lock(jobs_db: SqliteUnderTest) -> None:
    with pytest.raises(KeyError), jobs_db.store.database.write() as tx:
        tx.change("types/pause", {"key": "plain", "paused_at": "x", "now": "x"})
        raise KeyError
    with pytest.raises(StatementRefused, match="nothing was written"), jobs_db.store.database.write() as tx:
        tx.change("types/pause", {})
    other = jobs_db.open()
    add(other)
    assert take(other).type == "plain"


# Locks that are never released


def test_waiting_for_a_holder_that_never_releases_times_out(
    jobs_db: SqliteUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostLock.acquire, "__defaults__", (0.05,))
    job_id = add(jobs_db.store)
    holder = HostLock(Path(f"{jobs_db.path}.lock"))
    holder.acquire()
    for _ in range(3):
        with pytest.raises(
            StoreBusy, match=rf"jobs\.db\.lock was locked for more than 0\.05 s by process {os.getpid()} "
        ):
            add(jobs_db.store)
    assert [job.id for job in jobs_db.store.jobs.list().jobs] == [job_id], "reading needs no turn"
    holder.release()
    holder.close()
    monkeypatch.undo()
    assert add(jobs_db.store) == job_id + 1
    assert drain(jobs_db.open()) == [job_id, job_id + 1]


def test_waiting_for_a_program_that_keeps_sqlites_lock_times_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handle_module, "BUSY_TIMEOUT_MS", 50)
    backend = SqliteUnderTest(tmp_path)
    with closing(sqlite3.connect(backend.path, isolation_level=None)) as shell:
        shell.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="another program keeps the queue locked; nothing was written"):
            add(backend.store)
        shell.execute("ROLLBACK")
    add(backend.store)
    backend.close()


def test_waiting_writers_all_get_their_turn(jobs_db: SqliteUnderTest) -> None:
    """Many threads wait for one lock: none is refused, and nothing is lost."""
    errors: list[BaseException] = []

    def write(n: int) -> None:
        try:
            store = jobs_db.open()
            for _ in range(10):
                add(store)
            store.close()
        except BaseException as error:  # noqa: BLE001 — reported to the test below
            errors.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(jobs_db.store.jobs.list(limit=1000).jobs) == 80


def open_files(path: Path) -> int:
    """How many times this process has the file open."""
    gc.collect()  # a sqlite3 connection is part of a cycle
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return sum(os.readlink(link) == str(path) for link in links if link.exists())  # noqa: PTH115


@pytest.mark.slow
def test_threads_that_come_and_go_leave_no_lock_open(jobs_db: SqliteUnderTest) -> None:
    for _ in range(10):
        thread = threading.Thread(target=add, args=(jobs_db.store,))
        thread.start()
        thread.join()
    assert open_files(jobs_db.path.with_name("jobs.db.lock")) == 1
    assert open_files(jobs_db.path.with_name("jobs.db-wal")) == 1


@pytest.mark.slow
def test_failed_opening_leaves_nothing_open_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    path.write_bytes(b"nonsense" * 1000)
    for _ in range(5):
        with pytest.raises(StoreError):
            SqliteDatabase(path)
    assert open_files(path.with_name("jobs.db.lock")) == 0
    assert open_files(path) == 0


# fork


def connection_of(store: Store) -> sqlite3.Connection:
    """This thread's connection."""
    assert isinstance(store.database, SqliteDatabase)
    return store.database._handle().connection


@pytest.mark.process
def test_forked_child_gets_its_own_connection(jobs_db: SqliteUnderTest) -> None:
    first = add(jobs_db.store)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            connection = connection_of(jobs_db.store)
            job = take(jobs_db.store, "child")
            succeed(jobs_db.store, job, "child")
            made = add(jobs_db.store)
            jobs_db.store.close()
            os.write(writer, f"{id(connection)} {job.id} {made}".encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().split()
    assert os.waitpid(pid, 0)[1] == 0
    assert int(said[0]) != id(connection_of(jobs_db.store))
    assert int(said[1]) == first
    # The parent's connection and lock still work.
    assert take(jobs_db.store).id == int(said[2])
    assert jobs_db.store.jobs.get(first).status == "completed"


@pytest.mark.process
def test_exit_of_a_forked_child_does_not_affect_its_parent(jobs_db: SqliteUnderTest) -> None:
    with jobs_db.store.database.write() as tx:
        tx.change("types/pause", {"key": "plain", "paused_at": "x", "now": "x"})
        pid = os.fork()
        if pid == 0:
            jobs_db.store.close()
            os._exit(0)
        os.waitpid(pid, 0)
        write_is_still_exclusive(jobs_db)
    assert [stats.type for stats in jobs_db.store.types.stats() if stats.paused] == ["plain"]


def write_is_still_exclusive(backend: SqliteUnderTest) -> None:
    with closing(sqlite3.connect(backend.path, timeout=0)) as other:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")


# Claims


def test_claim_of_one_type_equals_claim_of_a_list(jobs_db: SqliteUnderTest) -> None:
    """Different statements find the next job for one type and for several."""
    store = jobs_db.store

    def found() -> list[tuple[Any, ...]]:
        asked = {"now": "2100-01-01 00:00:00.000", "worker_id": "w"}
        cursor = connection_of(store).cursor()
        one = cursor.execute(statement("claims/head_of_type"), {**asked, "type": "plain"}).fetchall()
        of_list = cursor.execute(statement("claims/head"), {**asked, "types": '["plain"]'}).fetchall()
        assert [tuple(row) for row in one] == [tuple(row) for row in of_list]
        return [tuple(row) for row in one]

    assert found() == []
    late = add(store, priority=5, delay_seconds=60)
    low = add(store, priority=1)
    high = add(store, priority=2, max_attempts=7, timeout_seconds=9, group_id=None)
    assert found()[0][:2] == (high, "plain")
    store.jobs.move_before(low, high)
    assert found()[0][0] == low
    store.types.pause("plain")
    assert found() == []
    store.types.resume("plain")
    assert found()[0][-1], f"{late} is due"


# Ids


def test_id_of_a_deleted_job_is_not_reused(jobs_db: SqliteUnderTest) -> None:
    """Neither by the queue, which assigns ids itself, nor by manual SQL, which uses AUTOINCREMENT."""
    last = add(jobs_db.store)
    for _ in range(2):
        for insert in (_add_one, _add_many, _add_manually):
            jobs_db.by_hand("DELETE FROM jobs WHERE id > ?", last - 1)
            new = insert(jobs_db)
            assert new > last
            last = new
    jobs_db.by_hand("DELETE FROM jobs")
    assert add(jobs_db.store) == last + 1


def test_ids_are_consecutive(jobs_db: SqliteUnderTest) -> None:
    first = add(jobs_db.store)
    for _ in range(2 * IDS_AT_ONCE):
        add(jobs_db.store)
    jobs_db.store.jobs.enqueue_many(NewJob("plain", {"n": n}) for n in range(3))
    add(jobs_db.store, "tile", {"region": "x"}, correlation_id="c")
    ids = sorted(job.id for job in jobs_db.store.jobs.list(limit=1000).jobs)
    assert ids == [*range(first, first + len(ids))]
    (stored,) = jobs_db.by_hand("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'")[0]
    assert stored >= ids[-1]


def _add_one(backend: SqliteUnderTest) -> int:
    return add(backend.store)


def _add_many(backend: SqliteUnderTest) -> int:
    return backend.store.jobs.enqueue_many(NewJob("plain", {"n": n}) for n in range(3))[0].id


def _add_manually(backend: SqliteUnderTest) -> int:
    ((made,),) = backend.by_hand("INSERT INTO jobs (type) VALUES ('plain') RETURNING id")
    assert isinstance(made, int)
    return made


# The log


@pytest.fixture
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the log's size limit so that few writes fill it."""
    monkeypatch.setattr(handle_module, "CHECKPOINT_PAGES_NORMAL", handle_module.CHECKPOINT_PAGES)


def log_bytes(backend: SqliteUnderTest) -> int:
    return backend.path.with_name(f"{backend.path.name}-wal").stat().st_size


@pytest.mark.slow
@pytest.mark.usefixtures("small_log")
def test_wal_stays_small_under_load(jobs_db: SqliteUnderTest) -> None:
    largest = 0
    for _ in range(12):
        jobs_db.store.jobs.enqueue_many(NewJob("tile", {"region": "x" * 1000}) for _ in range(1000))
        largest = max(largest, log_bytes(jobs_db))
    size = jobs_db.path.stat().st_size
    assert size > 10 * MEGABYTE, "enough was written to overflow a log that is never emptied"
    assert largest < 9 * MEGABYTE


@pytest.mark.slow
@pytest.mark.usefixtures("small_log")
def test_old_snapshot_makes_the_log_grow_and_its_end_lets_it_shrink(jobs_db: SqliteUnderTest) -> None:
    def write_much(times: int) -> None:
        for _ in range(times):
            jobs_db.store.jobs.enqueue_many(NewJob("tile", {"region": "x" * 1000}) for _ in range(1000))

    with closing(sqlite3.connect(jobs_db.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
        write_much(8)
        grown = log_bytes(jobs_db)
        assert grown > 8 * MEGABYTE
        assert reader.execute("SELECT count(*) FROM jobs").fetchone() == (0,), "the snapshot holds"
        reader.execute("ROLLBACK")
    write_much(2)
    assert log_bytes(jobs_db) < grown
    assert log_bytes(jobs_db) < 9 * MEGABYTE
    assert len(claim(jobs_db.store)) == 4


# Copies


def keep_writing(path: Path, ready: multiprocessing.synchronize.Event, stop: multiprocessing.synchronize.Event) -> None:
    store = Store(SqliteDatabase(path, synchronous="normal"), TYPES)
    while not stop.is_set():
        store.jobs.enqueue_many([NewJob("plain", {"n": 1})] * 5)
        for job in claim(store):
            succeed(store, job)
        ready.set()
    store.close()


@pytest.mark.process
def test_copy_made_during_writes_is_consistent(jobs_db: SqliteUnderTest, tmp_path: Path) -> None:
    jobs_db.store.jobs.enqueue_many(NewJob("tile", {"region": "x" * 2000}) for _ in range(6000))
    spawn = multiprocessing.get_context("spawn")
    ready, stop = spawn.Event(), spawn.Event()
    writer = spawn.Process(target=keep_writing, args=(jobs_db.path, ready, stop))
    writer.start()
    try:
        assert ready.wait(60)
        target = tmp_path / "copy" / "jobs.db"
        target.parent.mkdir()
        jobs_db.database.backup(target)
        assert writer.is_alive()
    finally:
        stop.set()
        writer.join(60)
    assert [path.name for path in target.parent.iterdir()] == ["jobs.db"], "one file, nothing beside it"
    copy = Store(SqliteDatabase(target), TYPES)
    assert copy.verify() == []
    assert sum(stats.counts.get("pending", 0) for stats in copy.types.stats()) >= 6000
    take(copy, limit=1)
    copy.close()


def test_failed_copy_leaves_nothing_and_keeps_the_old_one(jobs_db: SqliteUnderTest, tmp_path: Path) -> None:
    add(jobs_db.store)
    with pytest.raises(StoreError, match="missing"):
        jobs_db.database.backup(tmp_path / "missing" / "copy.db")
    folder = tmp_path / "folder.db"
    (folder / "inside").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"folder\.db"):
        jobs_db.database.backup(folder)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_the_host_lock_times_out_only_for_stuck_holders() -> None:
    assert host_lock.PATIENCE_SECONDS >= 10


def test_waiter_looks_again_before_it_joins_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, paused = tmp_path / "jobs.db.lock", []
    holder, waiting = HostLock(path), HostLock(path, (0.001, 0.002, 0.003))
    holder.acquire()

    def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 2:
            holder.release()

    monkeypatch.setattr(time, "sleep", pause)
    waiting.acquire(patience_seconds=5)
    assert paused == [0.001, 0.002]
    with pytest.raises(StoreBusy):
        holder.acquire(patience_seconds=0.01)
    waiting.release()
    for lock in (holder, waiting):
        lock.close()


def test_interrupted_wait_does_not_take_the_lock_later(
    jobs_db: SqliteUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C while waiting, the lock must not stay held without an owner."""
    path = Path(f"{jobs_db.path}.lock")
    holder, waiting, third = HostLock(path), HostLock(path), HostLock(path)
    holder.acquire()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):

        def interrupted(_waiter: host_lock._Waiter, _seconds: float) -> bool:
            real(_waiter, 0.05)
            raise KeyboardInterrupt

        real = host_lock._Waiter.given_within
        patch.setattr(host_lock._Waiter, "given_within", interrupted)
        waiting.acquire()
    holder.release()
    for lock in (third, waiting, holder, waiting):
        lock.acquire(patience_seconds=5)
        lock.release()
    for lock in (holder, waiting, third):
        lock.close()


def test_job_and_its_dependencies_are_written_in_one_transaction(
    jobs_db: SqliteUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = jobs_db.store
    parent = add(store)
    real = SqliteSession.execute_many

    def execute_many(tx: SqliteSession, name: str, rows: Any) -> int:
        if name == "dependencies/insert":
            raise sqlite3.OperationalError("database or disk is full")
        return real(tx, name, rows)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteSession, "execute_many", execute_many)
        with pytest.raises(StatementRefused):
            add(store, after=(parent,))
    assert [job.id for job in store.jobs.list().jobs] == [parent]
