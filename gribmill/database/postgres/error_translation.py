"""PostgreSQL's errors as errors of the queue."""

from __future__ import annotations

import psycopg
from psycopg import errors

from gribmill.queue.errors import (
    QueueError,
    StatementRefused,
    StoreBusy,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)

# Besides psycopg's own: numbers or strings that no column can store.
FAULTS = (psycopg.Error, OverflowError, UnicodeEncodeError)
LONGEST_DETAIL = 300
# libpq's message about a standby if several servers are given.
READ_ONLY_SESSION = "session is read-only"
# SQLSTATE classes: connection, operator intervention (a shutdown), insufficient resources.
CONNECTION_LOST = ("08", "57P", "53300")


def fault_of(error: Exception, name: str) -> QueueError:
    """A StoreError for problems with the server; StatementRefused for problems with the statement."""
    state = getattr(error, "sqlstate", None) or ""
    detail = _detail(error)
    if isinstance(error, errors.SerializationFailure | errors.DeadlockDetected):
        return StoreConflict(f"{name}: two transactions conflicted; nothing was written")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return StoreFull(f"{name}: no space is left for the queue; nothing was written. Free some space and try again")
    if isinstance(error, errors.LockNotAvailable | errors.QueryCanceled):
        return StoreBusy(f"{name}: a statement took too long, or waited too long for a lock; nothing was written")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreReadOnly(f"{name}: the server is read-only (a standby, or in recovery); nothing was written")
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return StoreCorrupt(f"{name}: the server reports damaged data ({detail}): restore a backup")
    if READ_ONLY_SESSION in str(error):
        return StoreReadOnly(f"{name}: none of the servers can be written: {detail}")
    if lost_connection(error):
        return StoreUnreachable(f"{name}: the database cannot be reached: {detail}")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | errors.InsufficientPrivilege):
        return StoreError(f"{name}: the queue cannot be opened or used: {detail}")
    if state.startswith("42"):
        return StoreError(f"{name}: the schema does not fit this gribmill: {detail}")
    return StatementRefused(f"{name}: a statement was refused, nothing was written: {detail}")


def lost_connection(error: Exception) -> bool:
    """Whether the connection was lost, or never established."""
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return True  # this process was suspended until the server ended the session
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(CONNECTION_LOST)


def _detail(error: Exception) -> str:
    """The error in one printable line. (libpq's messages contain hosts and users, never a password.)"""
    # Only the server's first line: further ones quote the row's contents.
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    lines = [" ".join(line.split()) for line in (said or str(error)).splitlines()]
    # A second sentence of libpq begins on a new line, without a full stop before it.
    text = " ".join(f"{line}." if line[-1].isalnum() else line for line in lines if line)
    text = text.removesuffix(".")[:LONGEST_DETAIL]
    return "".join(one if one.isprintable() else "?" for one in text)
