"""jobs.db: one connection per process and thread, fair writers, and a small, durable write-ahead log."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from gribmill.database.sqlite.error_translation import FAULTS, damaged_file, fault_of, plain_faults
from gribmill.database.sqlite.files import check_place, check_sqlite_version, create_private, make_folder, tighten
from gribmill.database.sqlite.handle import CHECKPOINT_PAGES, SqliteHandle, inode_of, log_bytes_kept, open_handle
from gribmill.database.sqlite.host_lock import lock_holder
from gribmill.database.sqlite.migrate import migrate, missing_migrations
from gribmill.database.sqlite.notifier import WakeFolder, WakeSocket
from gribmill.database.sqlite.session import statement
from gribmill.database.sqlite.transaction import SqliteTransaction, plain_row
from gribmill.queue.errors import StoreBusy, StoreError, StoreReplaced
from gribmill.queue.model import ClaimRequest, Enqueued, Exchange, PreparedJob, Report, Succeeded
from gribmill.queue.times import Clock, to_text

# Ids are reserved in blocks, so that the last id is written once per block. A manual INSERT skips reserved ids.
IDS_AT_ONCE = 50
CLOSE_PATIENCE_SECONDS = 2.0
# Small enough to check in a fraction of a second.
QUICK_CHECK_BYTES = 50_000_000
REPLACED = "{path} was removed or replaced while it was in use: restart the processes that use it"
LOG_REMOVED = (
    "{path} was removed while it was in use: restart the processes that use it. Do not kill them:"
    " the last one to end writes what the log had into the database"
)


# Connections inherited over a fork are kept open: closing one in the child would drop the parent's locks.
_carried_over_fork: list[SqliteHandle] = []


class _Reading:
    """One snapshot, released at the end so that the log can be reused."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def __enter__(self) -> SqliteTransaction:
        database = self._database
        try:
            handle = database._handle()
            self._connection = handle.connection
            handle.cursor.execute("BEGIN")
        except sqlite3.Error as error:
            raise fault_of(error, database.path) from error
        return SqliteTransaction(handle.cursor, database.clock())

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        if isinstance(error, FAULTS):
            raise fault_of(error, self._database.path) from error


class _Writing:
    """One write transaction, under the host lock from before BEGIN until after COMMIT.

    The lock is released before the commit is flushed, so the next process can write while this one waits for the
    disk. A lasting transaction returns only when its changes, and so all earlier ones, are on disk. This is a class
    rather than a generator because it is entered for every job, and generators are slower.
    """

    __slots__ = ("_changes", "_database", "_handle", "_transaction")

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def __enter__(self) -> SqliteTransaction:
        database = self._database
        try:
            self._handle = handle = database._handle()
        except sqlite3.Error as error:
            raise fault_of(error, database.path) from error
        handle.lock.acquire()
        try:
            handle.cursor.execute("BEGIN IMMEDIATE")
            if handle.log is not None and handle.log.wants_room:
                handle.log.make_room(log_bytes_kept(CHECKPOINT_PAGES))
            if handle.room is not None and handle.room.used_up():
                handle.room.extend()
        except sqlite3.Error as error:
            handle.lock.release()
            raise fault_of(error, database.path) from error
        if handle.log is not None:
            self._changes = handle.connection.total_changes
        self._transaction = SqliteTransaction(handle.cursor, database.clock())
        return self._transaction

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        handle = self._handle
        connection, log = handle.connection, handle.log
        try:
            if error is None:
                handle.cursor.execute("COMMIT")
        except sqlite3.Error as failure:
            error = failure
        finally:
            try:
                # Some errors, such as a full disk, have already rolled back.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            finally:
                handle.lock.release()
        if isinstance(error, FAULTS):
            raise fault_of(error, self._database.path) from error
        if log is None or error is not None or not self._transaction.lasting:
            return
        if connection.total_changes != self._changes:
            log.flush()


class SqliteDatabase:
    """The queue in one file. Safe to use from many threads and processes of one host."""

    workers_outlive_it = False

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
        make_folder(path.parent)
        if not allow_network_files:
            check_place(path.parent)
        tighten(path)
        with plain_faults(path):
            self._bring_up_to_date()

    def for_tenant(self, name: str) -> SqliteDatabase:
        """The same database: SQLite has no row-level security."""
        return self

    def read(self) -> _Reading:
        return _Reading(self)

    def write(self) -> _Writing:
        return _Writing(self)

    def turn(
        self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]], claims: Sequence[ClaimRequest]
    ) -> Exchange | None:
        """Without reports, only the caller knows whether the claims must be durable."""
        if not reports:
            return None
        with self.write() as tx:
            ends = tx.complete(worker_id, reports)
            if not claims:
                tx.settle()
            batches = tuple([tx.claim(claim) for claim in claims])
        if tx.wakes:
            self.announce()
        if None not in ends:
            return Exchange(tuple([report.ref for report, _ in reports]), (), batches)
        accepted = [report.ref for (report, _), end in zip(reports, ends, strict=True) if end is not None]
        fenced = [report.ref for (report, _), end in zip(reports, ends, strict=True) if end is None]
        return Exchange(tuple(accepted), tuple(fenced), batches)

    def insert_job(self, job: PreparedJob) -> Enqueued:
        row = plain_row(job)
        if row is not None:
            return Enqueued(self._insert_plain(row), created=True)
        with self.write() as tx:
            return tx.insert_jobs([job])[0]

    def _insert_plain(self, row: tuple[Any, ...]) -> int:
        """Like `write`, but without the overhead of a multi-statement transaction, because this runs for every job."""
        try:
            handle = self._handle()
        except sqlite3.Error as error:
            raise fault_of(error, self.path) from error
        log, room = handle.log, handle.room
        if log is not None and log.wants_room:
            with self.write():  # extends the log
                pass
        if room is not None and room.used_up():
            with self.write():
                room.extend()
        handle.lock.acquire()
        try:
            values = (to_text(self.clock()), *row)
            made = handle.cursor.execute(statement("jobs/insert_plain"), values).lastrowid or 0
            if made % IDS_AT_ONCE == 0:
                handle.cursor.execute(statement("jobs/reserve_ids"), (made + IDS_AT_ONCE, made + IDS_AT_ONCE))
        except FAULTS as error:
            raise fault_of(error, self.path) from error
        finally:
            handle.lock.release()
        if log is not None:
            log.flush()
        return made

    def may_have_work(self) -> bool:
        """Whether another connection has committed since this thread's last call."""
        with plain_faults(self.path):
            handle = self._handle()
            if inode_of(self.path) != handle.file:
                raise StoreReplaced(REPLACED.format(path=self.path))
            log_file = inode_of(self._wal)
            if handle.log_file is not None and log_file != handle.log_file:
                raise StoreReplaced(LOG_REMOVED.format(path=self._wal))
            handle.log_file = log_file
            version = handle.connection.execute("PRAGMA data_version").fetchone()[0]
        before, handle.data_version = handle.data_version, version
        return bool(version != before)

    def tidy(self) -> None:
        """Nothing to do: counters are always exact, and writers keep the log small."""

    def announce(self) -> None:
        self._wake.announce()

    def listener(self) -> WakeSocket:
        return self._wake.listen()

    def backup(self, target: Path) -> None:
        """Copy to `target`, which appears only when complete."""
        partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with plain_faults(self.path):
            source = self._handle().connection
        try:
            create_private(partial)
            with plain_faults(target), contextlib.closing(sqlite3.connect(partial)) as copy:
                # In one step: a stepwise copy restarts whenever another process writes in between.
                source.backup(copy, pages=-1)
                copy.execute("PRAGMA journal_mode=DELETE")
            partial.replace(target)
        except OSError as error:
            raise StoreError(f"{target}: the copy cannot be written there: {error.strerror}") from None
        finally:
            for leftover in (partial, partial.with_name(f"{partial.name}-journal")):
                leftover.unlink(missing_ok=True)

    def integrity(self) -> list[str]:
        with plain_faults(self.path):
            connection = self._handle().connection
            found = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
            for row in connection.execute("PRAGMA foreign_key_check").fetchall():
                found.append(f"{row[0]} row {row[1]} refers to a missing row of {row[2]}")
            return found

    def blocked(self) -> bool:
        try:
            fd = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            holder = lock_holder(fd)
        finally:
            os.close(fd)
        return holder is not None and holder.stopped and holder.pid != os.getpid()

    def check_sound(self) -> None:
        """Raise StoreCorrupt if a quick check finds damage. Large files are only checked by `integrity`."""
        with plain_faults(self.path):
            if self.path.stat().st_size > QUICK_CHECK_BYTES:
                return
            found = self._handle().connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise damaged_file(self.path, found)

    def close(self) -> None:
        """Close this thread's connection, under the lock: closing may checkpoint."""
        handle: SqliteHandle | None = getattr(self._local, "handle", None)
        if handle is None or handle.pid != os.getpid():
            return
        self._local.handle = None
        with contextlib.suppress(StoreBusy):  # leave it open: it closes with the process, without a checkpoint
            handle.lock.acquire(patience_seconds=CLOSE_PATIENCE_SECONDS)
            handle.connection.close()
            handle.lock.release()
            handle.lock.close()
            if handle.log is not None:
                handle.log.close()
            if handle.room is not None:
                handle.room.close()

    def _handle(self) -> SqliteHandle:
        handle: SqliteHandle | None = getattr(self._local, "handle", None)
        if handle is not None and handle.pid == os.getpid():
            return handle
        if handle is not None:
            _carried_over_fork.append(handle)
        self._local.handle = handle = open_handle(self.path, self._wal, durable=self._synchronous == "full")
        return handle

    def _bring_up_to_date(self) -> None:
        connection = self._handle().connection
        if missing_migrations(connection, self.path):
            with self.write() as tx:
                migrate(connection, self.path, tx.stamp)
