"""SQLite's errors as errors of the queue."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gribmill.queue.errors import (
    QueueError,
    StatementRefused,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

# Python's message for invalid text in the file, which quotes all of it.
UNREADABLE = "Could not decode to UTF-8"
LONGEST_DETAIL = 200
# Besides SQLite's own: numbers or strings that no column can store.
FAULTS = (sqlite3.Error, OverflowError, UnicodeEncodeError)


@contextmanager
def plain_faults(path: Path) -> Iterator[None]:
    """Translate SQLite's errors about the file into StoreErrors that name it and say what to do."""
    try:
        yield
    except FAULTS as error:
        raise fault_of(error, path) from error


def damaged_file(path: Path, detail: str) -> StoreCorrupt:
    """The error for a damaged file. The detail may quote its contents, so it is made printable."""
    shown = "".join(one if one.isprintable() else "?" for one in detail[:LONGEST_DETAIL])
    return StoreCorrupt(
        f"{path}: the file is damaged, or is not an SQLite database ({shown}); it was left as it is."
        " Restore a backup (`gribmill jobs backup` makes them) or move it away"
    )


def fault_of(error: Exception, path: Path) -> QueueError:
    """A StoreError for problems with the file; StatementRefused for problems with the statement."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    # The first process that opens the queue needs room for jobs.db-shm, even to read.
    if primary == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return StoreFull(f"{path}: no space is left for the queue; nothing was written. Free some space and try again")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"{path}: another program keeps the queue locked; nothing was written")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreReadOnly(f"{path}: the queue cannot be written here; check the file's and its folder's permissions")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged_file(path, str(error))
    if code is None and str(error).startswith(UNREADABLE):
        return damaged_file(path, "a text is not UTF-8")
    if code == sqlite3.SQLITE_IOERR_SHORT_READ:  # only of the log: a short database is damaged
        return StoreError(
            f"{path}: its log {path.name}-wal was removed or cut short while processes use it. Stop them with TERM or"
            " Ctrl-C, and do not kill them: the last one to end writes what the log had into the database"
        )
    if primary in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return StoreError(f"{path}: the queue cannot be opened or read: {error}")
    return StatementRefused(f"{path}: a statement was refused, nothing was written: {error}")
