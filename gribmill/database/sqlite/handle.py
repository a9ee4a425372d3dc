"""One thread's connection to jobs.db, its host lock and its log."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from gribmill.database.sqlite.files import create_private
from gribmill.database.sqlite.host_lock import PAUSES_SECONDS, HostLock
from gribmill.database.sqlite.write_ahead_log import DurableLog, LogRoom

BUSY_TIMEOUT_MS = 10_000
# A claim or a completion changes a few rows on half a dozen pages and logs whole pages, so small pages save writes.
PAGE_BYTES = 2048
# SQLite checkpoints in the commit that reaches this many pages, so under the host lock. The log is then overwritten
# from its start: with a growing log, every fsync would also wait for the file system's journal.
CHECKPOINT_PAGES = 2000
# With `normal`, only checkpoints wait for the disk, and one with four times as many pages takes only twice as long.
CHECKPOINT_PAGES_NORMAL = 8000


def log_bytes_kept(pages: int) -> int:
    """The size of a log of `pages` pages with its headers, plus room for a transaction beyond the checkpoint mark."""
    return 32 + (pages + 100) * (24 + PAGE_BYTES)


# Device and inode identify the file behind the name.
Inode = tuple[int, int]


def inode_of(path: Path) -> Inode | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino


class SqliteHandle:
    """With `full` durability it has a `log`, with `normal` a `room`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        lock: HostLock,
        log: DurableLog | None,
        room: LogRoom | None,
        file: Inode | None,
        log_file: Inode | None,
    ) -> None:
        self.connection = connection
        self.file = file
        # SQLite keeps the log in place while any connection is open. A new database has none yet.
        self.log_file = log_file
        self.cursor = connection.cursor()
        self.lock = lock
        self.log = log
        self.room = room
        self.pid = os.getpid()
        self.data_version = -1


def open_handle(path: Path, wal: Path, *, durable: bool) -> SqliteHandle:
    """Connect, creating the file if it does not exist."""
    # With `full`, the lock is free most of the time, because it is not held while a process waits for the disk.
    lock = HostLock(path.with_name(path.name + ".lock"), () if durable else PAUSES_SECONDS)
    with contextlib.suppress(OSError):  # SQLite's own error is more precise
        create_private(path)
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1000)
    try:
        _set_up(connection, lock, CHECKPOINT_PAGES if durable else CHECKPOINT_PAGES_NORMAL)
    except BaseException:
        connection.close()
        raise
    log = DurableLog(wal) if durable else None
    room = None if durable else LogRoom(wal, log_bytes_kept(CHECKPOINT_PAGES_NORMAL))
    return SqliteHandle(connection, lock, log, room, inode_of(path), inode_of(wal))


def _set_up(connection: sqlite3.Connection, lock: HostLock, checkpoint_pages: int) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")  # the file is still empty
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        with lock:
            connection.execute("PRAGMA journal_mode=WAL")
    # Cannot corrupt the file; `full` flushes the log itself, see `_Writing` in database.py.
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA wal_autocheckpoint={checkpoint_pages}")
    connection.execute(f"PRAGMA journal_size_limit={log_bytes_kept(checkpoint_pages)}")
