"""Faults of disk, file and machine: the error says what to do, nothing is lost, and work continues."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from gribmill.database.sqlite import SqliteDatabase, files
from gribmill.database.sqlite.handle import PAGE_BYTES
from gribmill.queue.errors import QueueError, StoreCorrupt, StoreError, StoreFull, StoreReadOnly, StoreUnsafe
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.store.guarantees.mutant import Mutant
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, attempts, claim, drain, succeed, take
from tests.queue.store.tested_backend import SqliteUnderTest

NOBODY = 65_534


@pytest.fixture
def jobs_db(tmp_path: Path) -> Iterator[SqliteUnderTest]:
    backend = SqliteUnderTest(tmp_path)
    yield backend
    backend.close()


def connection_of(store: Store) -> sqlite3.Connection:
    database = store.database
    assert isinstance(database, SqliteDatabase)
    return database._handle().connection


# No space


def test_full_database_refuses_writes_until_there_is_space(jobs_db: SqliteUnderTest) -> None:
    store = jobs_db.store
    first = add(store)
    job = take(store)
    connection = connection_of(store)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFull, match=r"jobs\.db: no space is left for the queue; nothing was written\. Free some"):
        store.jobs.enqueue_many(NewJob("tile", {"region": "x" * 5000}) for _ in range(50))
    assert [entry.id for entry in store.jobs.list().jobs] == [first]
    assert store.verify() == []
    connection.execute("PRAGMA max_page_count = 1000000")
    assert succeed(store, job).accepted, "what ran is still held and can be reported"
    assert add(store) > first
    assert store.verify() == []


def test_full_database_keeps_the_attempt_open_until_it_can_be_reported(jobs_db: SqliteUnderTest) -> None:
    store = jobs_db.store
    job_id = add(store)
    job = take(store)
    connection = connection_of(store)
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    then = tuple(NewJob("tile", {"region": "y" * 60_000}) for _ in range(20))
    with pytest.raises(StoreFull):
        succeed(store, job, then=then)
    assert attempts(store, job_id) == ["running"]
    assert len(store.jobs.list().jobs) == 1
    connection.execute("PRAGMA max_page_count = 1000000")
    assert succeed(store, job, then=then).accepted
    assert len(store.jobs.list().jobs) == 21


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system with room for a few pages."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("a small file system cannot be mounted here (needs root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.process
def test_full_disk_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk:
        backend = SqliteUnderTest(disk)
        store = backend.store
        committed: list[int] = []
        with pytest.raises(StoreError) as caught:
            while True:
                committed += [
                    made.id for made in store.jobs.enqueue_many([NewJob("tile", {"region": "x" * 4000})] * 20)
                ]
        assert isinstance(caught.value, StoreFull), caught.value
        assert "no space is left" in str(caught.value)
        assert sorted(job.id for job in store.jobs.list(limit=1000).jobs) == committed
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        committed.append(add(store))
        assert sorted(job.id for job in store.jobs.list(limit=1000).jobs) == committed
        assert store.verify() == []
        backend.close()


@pytest.mark.process
def test_queue_that_a_full_disk_keeps_from_opening_says_so(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        SqliteUnderTest(disk).close()
        filling = disk / "filling"
        with suppress(OSError), filling.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        with pytest.raises(StoreFull, match="no space is left"):
            SqliteDatabase(disk / "jobs.db")
        filling.unlink()
        SqliteDatabase(disk / "jobs.db").close()


@pytest.mark.process
def test_read_only_file_system_is_not_blamed_on_the_account(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        SqliteUnderTest(disk).close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(StoreReadOnly, match="Read-only file system") as caught:
            SqliteDatabase(disk / "jobs.db")
        assert "account" not in str(caught.value)


@pytest.mark.process
def test_commit_succeeds_even_if_the_full_disk_prevents_a_checkpoint(tmp_path: Path) -> None:
    """A failed checkpoint is not a failed commit: a caller that assumes a failure would repeat it."""
    with small_disk(tmp_path / "disk", "12m") as disk:
        backend = SqliteUnderTest(disk)
        store = backend.store
        accepted = 0
        with pytest.raises(StoreFull):
            while True:
                accepted += len(store.jobs.enqueue_many([NewJob("tile", {"region": "x" * 20_000})] * 5))
        counts = {stats.type: stats.counts for stats in store.types.stats()}
        assert counts["tile"]["pending"] == accepted
        assert store.verify() == []
        backend.close()


@pytest.mark.process
def test_copy_onto_a_full_disk_names_the_target_and_leaves_nothing(tmp_path: Path) -> None:
    backend = SqliteUnderTest(tmp_path)
    backend.store.jobs.enqueue_many([NewJob("tile", {"region": "x" * 4000})] * 200)
    with small_disk(tmp_path / "disk", "100k") as disk:
        with pytest.raises(StoreFull, match=r"copy\.db"):
            backend.database.backup(disk / "copy.db")
        assert list(disk.iterdir()) == []
    backend.close()


# No permission


def as_nobody(path: Path) -> str:
    """Output of an unprivileged process that opens the queue and adds a job; root ignores permissions."""
    if os.geteuid() != 0:
        pytest.skip("only root can change its user")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = "nothing"
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            said = str(Store(SqliteDatabase(path), TYPES).jobs.enqueue(NewJob("plain")))
        except BaseException as error:  # noqa: BLE001 — reported to the test
            said = f"{type(error).__name__} {error}"
        finally:
            os.write(writer, said.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return said


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other accounts can reach; pytest's own are private."""
    with tempfile.TemporaryDirectory(prefix="open-folder-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        if any(not above.stat().st_mode & 0o001 for above in folder.parents):
            pytest.skip(f"{folder.parent} is closed to others")
        yield folder
        folder.chmod(0o777)


@pytest.mark.process
def test_unwritable_file_is_reported(open_folder: Path) -> None:
    backend = SqliteUnderTest(open_folder)
    add(backend.store)
    backend.close()
    for file in open_folder.iterdir():
        if file.is_file():
            file.chmod(0o444)
    said = as_nobody(open_folder / "jobs.db")
    assert said.startswith("StoreReadOnly"), said
    assert "jobs.db" in said
    again = SqliteUnderTest(open_folder)
    assert len(drain(again.store)) == 1
    again.close()


@pytest.mark.process
def test_read_only_database_file_is_reported(open_folder: Path) -> None:
    backend = SqliteUnderTest(open_folder)
    add(backend.store)
    backend.close()
    (open_folder / "jobs.db.lock").chmod(0o666)
    (open_folder / "jobs.db").chmod(0o444)
    said = as_nobody(open_folder / "jobs.db")
    assert said.startswith("StoreReadOnly"), said
    assert "permissions" in said


@pytest.mark.process
def test_unwritable_folder_is_reported(open_folder: Path) -> None:
    backend = SqliteUnderTest(open_folder)
    add(backend.store)
    backend.close()
    for file in open_folder.iterdir():
        if file.is_file():
            file.chmod(0o666)
    open_folder.chmod(0o555)
    said = as_nobody(open_folder / "jobs.db")
    assert said.split(" ")[0] in ("StoreReadOnly", "StoreError"), said
    assert "jobs.db" in said
    open_folder.chmod(0o777)


@pytest.mark.process
def test_folder_that_cannot_be_created_is_reported(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    said = as_nobody(open_folder / "below" / "it" / "jobs.db")
    assert said.startswith("StoreReadOnly"), said
    open_folder.chmod(0o777)


def test_path_through_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        SqliteDatabase(tmp_path / "file" / "jobs.db")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(StoreError, match=r"folder\.db"):
        SqliteDatabase(tmp_path / "folder.db")


def test_database_that_becomes_read_only_refuses_writes_and_recovers(jobs_db: SqliteUnderTest) -> None:
    job_id = add(jobs_db.store)
    connection = connection_of(jobs_db.store)
    connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreReadOnly, match="cannot be written here"):
        add(jobs_db.store)
    assert jobs_db.store.jobs.get(job_id).status == "pending"
    connection.execute("PRAGMA query_only = OFF")
    assert drain(jobs_db.store) == [job_id]


# A damaged file


def many(backend: SqliteUnderTest) -> None:
    backend.store.jobs.enqueue_many(NewJob("plain", {"n": n}) for n in range(2000))
    backend.close()


@pytest.mark.parametrize("content", [b"garbage" * 2000, b"\0" * 8192, b"SQLite format 3\0" + b"\xff" * 8000], ids=len)
def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "jobs.db"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"damaged, or is not an SQLite database.*left as it is.*backup"):
        Store(SqliteDatabase(path), TYPES)
    assert path.read_bytes() == content


@pytest.mark.process
def test_a_log_that_was_removed_under_a_process_is_named_with_the_remedy(jobs_db: SqliteUnderTest) -> None:
    add(jobs_db.store)
    jobs_db.path.with_name("jobs.db-wal").unlink()
    code = "import sys, pathlib, gribmill.database.sqlite as s; s.SqliteDatabase(pathlib.Path(sys.argv[1])).integrity()"
    other = subprocess.run([sys.executable, "-c", code, str(jobs_db.path)], capture_output=True, text=True, check=False)
    assert "jobs.db-wal was removed or cut short while processes use it" in other.stderr


def test_truncated_file_is_named_as_damaged(jobs_db: SqliteUnderTest) -> None:
    many(jobs_db)
    with jobs_db.path.open("r+b") as file:
        file.truncate(jobs_db.path.stat().st_size // 2 // PAGE_BYTES * PAGE_BYTES)
    with pytest.raises(StoreCorrupt, match="damaged"):
        store = Store(SqliteDatabase(jobs_db.path), TYPES)
        drain(store)


def root_page(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0])


@pytest.mark.parametrize("name", ["jobs", "jobs_ready"])
def test_overwritten_page_is_named_as_damaged(jobs_db: SqliteUnderTest, name: str) -> None:
    many(jobs_db)
    with jobs_db.path.open("r+b") as file:
        file.seek((root_page(jobs_db.path, name) - 1) * PAGE_BYTES)
        file.write(b"\xa5" * PAGE_BYTES)
    store = Store(SqliteDatabase(jobs_db.path), TYPES)
    for use in (store.verify, lambda: claim(store), lambda: add(store)):
        with pytest.raises(StoreCorrupt, match="Restore a backup"):
            use()
    store.close()


def test_flipped_byte_is_found_by_verify(jobs_db: SqliteUnderTest) -> None:
    many(jobs_db)
    data = bytearray(jobs_db.path.read_bytes())
    # The last leaf of the index that holds the type's name: one entry now differs from its row.
    pages = range(0, len(data), PAGE_BYTES)
    leaf = max(at for at in pages if data[at] == 10 and b"plain" in data[at : at + PAGE_BYTES])
    at = data.index(b"plain", leaf)
    data[at : at + 5] = b"plaim"
    jobs_db.path.write_bytes(data)
    store = Store(SqliteDatabase(jobs_db.path), TYPES)
    assert "database_sound" in {violation.invariant for violation in store.verify()}
    store.close()


def test_backup_replaces_a_damaged_file(jobs_db: SqliteUnderTest, tmp_path: Path) -> None:
    job_id = add(jobs_db.store)
    jobs_db.database.backup(tmp_path / "copy.db")
    jobs_db.close()
    jobs_db.path.write_bytes(b"oops" * 4096)
    with pytest.raises(StoreCorrupt):
        jobs_db.open()
    for name in ("jobs.db-wal", "jobs.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy.db", jobs_db.path)
    again = jobs_db.open()
    assert drain(again) == [job_id]
    assert again.verify() == []


# Versions and places


def test_file_of_a_newer_gribmill_is_refused_and_left_alone(jobs_db: SqliteUnderTest) -> None:
    add(jobs_db.store)
    jobs_db.close()
    jobs_db.by_hand("INSERT INTO schema_migrations VALUES (999, 'later')")
    with pytest.raises(StoreUnsafe, match=r"schema version 999.*use the newer gribmill"):
        SqliteDatabase(jobs_db.path)
    assert jobs_db.by_hand("SELECT count(*) FROM jobs") == [(1,)]


def test_failing_migration_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Mutant({"migrations/0001_queue": (("CREATE VIEW job_runs", "CREATE NONSENSE job_runs"),)})
    broken.apply(monkeypatch)
    with pytest.raises(QueueError, match="nothing was written"):
        SqliteDatabase(tmp_path / "jobs.db")
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    monkeypatch.undo()
    backend = SqliteUnderTest(tmp_path)
    assert add(backend.store) == 1
    backend.close()


def make_and_add(path: Path, count: int) -> None:
    store = Store(SqliteDatabase(path), TYPES)
    for _ in range(count):
        add(store)
    store.close()


@pytest.mark.process
def test_processes_creating_the_same_database_create_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "jobs.db"
    spawn = multiprocessing.get_context("fork")
    makers = [spawn.Process(target=make_and_add, args=(path, 5)) for _ in range(6)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(60)
    assert [maker.exitcode for maker in makers] == [0] * 6
    store = Store(SqliteDatabase(path), TYPES)
    assert len(store.jobs.list(limit=1000).jobs) == 30
    assert store.verify() == []
    store.close()


def test_too_old_sqlite_is_refused_with_its_version() -> None:
    with pytest.raises(StoreUnsafe, match=r"SQLite 3\.34\.1 is too old.*3\.37\.0 or newer"):
        files.check_sqlite_version((3, 34, 1))
    files.check_sqlite_version((3, 37, 0))


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export {root}/net nfs4 rw 0 0
/dev/sdb1 {root}/net/local xfs rw 0 0
//server/share {root}/with\\040space cifs rw 0 0
server:/wetter {root}/größe nfs rw 0 0
sshfs {root}/fuse fuse.sshfs rw 0 0
/dev/sdc1 {root}/stick fuseblk rw 0 0
tmpfs {root}/ram tmpfs rw 0 0
nonsense
"""


@pytest.mark.parametrize(
    ("folder", "kind", "allowed"),
    [
        ("plain/data", "ext4", True),
        ("net", "nfs4", False),
        ("net/data/deep", "nfs4", False),
        ("net/local/data", "xfs", True),
        ("netting", "ext4", True),
        ("with space/data", "cifs", False),
        ("größe", "nfs", False),
        ("fuse", "fuse.sshfs", False),
        ("stick", "fuseblk", True),
        ("ram", "tmpfs", True),
    ],
)
def test_network_file_systems_are_refused_and_a_local_disk_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, kind: str, allowed: bool
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS.format(root=tmp_path), encoding="utf-8")
    assert files.file_system_of(tmp_path / folder, mounts) == kind
    monkeypatch.setattr(files, "file_system_of", lambda path: kind)
    if allowed:
        SqliteDatabase(tmp_path / folder / "jobs.db").close()
        return
    with pytest.raises(StoreUnsafe, match=r"network file system.*local disk of one host"):
        SqliteDatabase(tmp_path / folder / "jobs.db")
    assert not (tmp_path / folder / "jobs.db").exists()
    SqliteDatabase(tmp_path / folder / "jobs.db", allow_network_files=True).close()


def test_an_unknown_mount_table_refuses_nothing(tmp_path: Path) -> None:
    assert files.file_system_of(tmp_path, tmp_path / "missing") is None


# Schema changes made by others


def test_a_dropped_index_is_an_error_not_a_slow_scan(jobs_db: SqliteUnderTest) -> None:
    add(jobs_db.store)
    jobs_db.by_hand("DROP INDEX jobs_ready")
    with pytest.raises(QueueError, match="jobs_ready"):
        claim(jobs_db.store)
