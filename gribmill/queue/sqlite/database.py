"""jobs.db: one connection per process and thread, fair writers, a WAL that stays small."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from gribmill.queue.database import Row
from gribmill.queue.errors import StoreBusy
from gribmill.queue.sqlite.faults import plain_faults
from gribmill.queue.sqlite.host_lock import HostLock
from gribmill.queue.sqlite.migrate import check_version, migrate, migrations, schema_version
from gribmill.queue.sqlite.place import check_place, check_sqlite_version
from gribmill.queue.sqlite.wake import WakeFolder, WakeSocket
from gribmill.queue.statements import HOME, statement
from gribmill.queue.times import Clock

BUSY_TIMEOUT_MS = 10_000
# A thousand pages is SQLite's own choice; checkpoints run under the host lock only, so the limit is ours to keep.
CHECKPOINT_BYTES = 4 * 1024 * 1024
CLOSE_PATIENCE_SECONDS = 2.0


class SqliteTransaction:
    """Named statements on one connection."""

    def __init__(self, connection: sqlite3.Connection, now: float) -> None:
        self.now = now
        self._connection = connection

    def rows(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        return self._connection.execute(statement("sqlite", name), params or {}).fetchall()

    def change(self, name: str, params: Mapping[str, Any] | None = None, package: str = HOME) -> int:
        return self._connection.execute(statement("sqlite", name, package), params or {}).rowcount


class _Handle:
    """A thread's connection and its hold on the host lock."""

    def __init__(self, connection: sqlite3.Connection, lock: HostLock) -> None:
        self.connection = connection
        self.lock = lock
        self.pid = os.getpid()
        self.data_version = -1
        self.checkpoint_above = CHECKPOINT_BYTES


# Connections carried over a fork are kept, never closed: closing one in the child would drop the parent's locks.
_carried_over_fork: list[_Handle] = []


class SqliteDatabase:
    """The queue's file. Safe to use from many threads and processes of one host."""

    dialect = "sqlite"

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Literal["full", "normal"] = "full",
        allow_network_files: bool = False,
        clock: Clock = time.time,
    ) -> None:
        self.path = path
        self.clock = clock
        self._synchronous = synchronous
        self._local = threading.local()
        self._wake = WakeFolder(path)
        self._wal = path.with_name(path.name + "-wal")
        check_sqlite_version()
        path.parent.mkdir(parents=True, exist_ok=True)
        if not allow_network_files:
            check_place(path.parent)
        with plain_faults(path):
            self._bring_up_to_date()

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        with plain_faults(self.path):
            connection = self._handle().connection
            connection.execute("BEGIN")
            try:
                yield SqliteTransaction(connection, self.clock())
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        with plain_faults(self.path):
            handle = self._handle()
            handle.lock.acquire()
            try:
                connection = handle.connection
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield SqliteTransaction(connection, self.clock())
                    connection.execute("COMMIT")
                except BaseException:
                    # Some errors (a full disk) have rolled back already.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                self._keep_wal_small(handle)
            finally:
                handle.lock.release()

    def changed(self) -> bool:
        handle = self._handle()
        with plain_faults(self.path):
            version = handle.connection.execute("PRAGMA data_version").fetchone()[0]
        before, handle.data_version = handle.data_version, version
        return bool(version != before)

    def announce(self) -> None:
        self._wake.announce()

    def listener(self) -> WakeSocket:
        return self._wake.listen()

    def backup(self, target: Path) -> None:
        """`target` appears only whole."""
        partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with plain_faults(self.path):
            copy = sqlite3.connect(partial)
            try:
                self._handle().connection.backup(copy, pages=1000, sleep=0.001)
                copy.execute("PRAGMA journal_mode=DELETE")
            finally:
                copy.close()
        partial.replace(target)

    def integrity(self) -> list[str]:
        with plain_faults(self.path):
            connection = self._handle().connection
            found = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
            for row in connection.execute("PRAGMA foreign_key_check").fetchall():
                found.append(f"{row[0]} row {row[1]} refers to a missing row of {row[2]}")
            return found

    def wal_bytes(self) -> int:
        """The size of the write-ahead log; large means that some reader holds an old snapshot."""
        try:
            return self._wal.stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Close this thread's connection, under the lock: closing may checkpoint."""
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is None or handle.pid != os.getpid():
            return
        self._local.handle = None
        with contextlib.suppress(StoreBusy):  # left open, it ends with the process and checkpoints nothing
            handle.lock.acquire(patience_seconds=CLOSE_PATIENCE_SECONDS)
            handle.connection.close()
            handle.lock.release()
            handle.lock.close()

    def _handle(self) -> _Handle:
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is not None and handle.pid == os.getpid():
            return handle
        if handle is not None:
            _carried_over_fork.append(handle)
        self._local.handle = handle = self._open()
        return handle

    def _open(self) -> _Handle:
        lock = HostLock(self.path.with_name(self.path.name + ".lock"))
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1000)
        connection.row_factory = sqlite3.Row
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            lock.acquire()
            connection.execute("PRAGMA journal_mode=WAL")
            lock.release()
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute(f"PRAGMA journal_size_limit={CHECKPOINT_BYTES}")
        return _Handle(connection, lock)

    def _bring_up_to_date(self) -> None:
        found = schema_version(self._handle().connection)
        check_version(found, self.path)
        if found < max(migrations()):
            handle = self._handle()
            with self.write() as tx:
                migrate(handle.connection, self.path, tx.now)

    def _keep_wal_small(self, handle: _Handle) -> None:
        """Checkpoint when the log has grown, still under the host lock. Readers in the way are not waited for."""
        size = self.wal_bytes()
        if size < handle.checkpoint_above:
            return
        handle.connection.execute("PRAGMA busy_timeout=0")
        try:
            blocked = handle.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            handle.connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        # A reader with an old snapshot keeps the log: try again when it has grown as much once more.
        handle.checkpoint_above = size + CHECKPOINT_BYTES if blocked else CHECKPOINT_BYTES
