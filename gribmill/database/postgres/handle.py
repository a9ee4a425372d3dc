"""One thread's connection, opened when needed and reopened after it was lost, and the server's time."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from gribmill.database.postgres.connection import FOR_VALUES, Connection, connect, limits_of_transaction
from gribmill.database.postgres.error_translation import lost_connection
from gribmill.database.postgres.pipelining import Sender, batch
from gribmill.database.postgres.statements import is_planned_each_time
from gribmill.database.postgres.tenant_role import ENTER
from gribmill.database.records import RawRows
from gribmill.database.verbs.session import RawParams

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN"
CLOCK_LOOKS = 5
CLOCK_GOOD_FOR_SECONDS = 60.0
Cursor = psycopg.Cursor[TupleRow]
Calls = Sequence[tuple[str, RawParams]]
"""Statement texts with their parameters."""
NamedCalls = Sequence[tuple[str, Mapping[str, Any]]]


class Handle:
    """The connection of a thread, its cursors and its clock."""

    def __init__(self, dsn: str, lease_seconds: float) -> None:
        self.pid = os.getpid()
        self._dsn = dsn
        self._lease_seconds = lease_seconds
        self._open()

    def _open(self) -> None:
        self.connection: Connection = connect(self._dsn, self._lease_seconds)
        self.clock = _ServerClock(self.connection)
        self._limits = limits_of_transaction(self.connection)
        # Reused, because each new cursor copies psycopg's type registry.
        self._control = self.connection.cursor()
        self._cursors: list[Cursor] = []
        self._plans_for_values = False
        self._sender = Sender(self.connection)
        self._idle = select.poll()
        self._idle.register(self.connection.pgconn.socket, select.POLLIN)

    def now(self) -> float:
        """The server's time."""
        return self.clock.now()

    def keep_time(self) -> None:
        """Synchronize the clock each minute, between transactions."""
        if self.clock.is_old:
            try:
                self.clock.set(self.connection)
            except psycopg.Error as error:
                if not lost_connection(error):
                    raise
                self._open()

    def begin(self, begin: str, calls: Calls, tenant: str | None = None) -> list[Cursor]:
        """Begin a transaction with its first statements; for a tenant, it sees only that tenant's rows. Reopens a
        connection that was lost while idle."""
        try:
            return self._begin(begin, calls, tenant)
        except psycopg.Error as error:
            if not (lost_connection(error) and self.connection.closed):
                raise
            self._open()
            return self._begin(begin, calls, tenant)

    def _begin(self, begin: str, calls: Calls, tenant: str | None) -> list[Cursor]:
        with batch(self.connection):
            self._control.execute(begin)
            if self._limits is not None:
                self._control.execute(self._limits)
            if tenant is not None:
                self._control.execute(ENTER, (tenant,))
            self._plans_for_values = False
            if begin == READ:
                self._plan_for_values()
            return self._send(calls)

    def commit_all(self, calls: NamedCalls) -> list[RawRows]:
        """Run a whole transaction in one round trip. A pipeline is one implicit transaction, so BEGIN and COMMIT are
        not needed."""
        self._replace_if_lost()
        if self._limits is None:
            return self._sender.commit_all(calls)
        with batch(self.connection):
            self._control.execute(self._limits)
            cursors = self._send(calls)
        return [raw_rows(cursor) for cursor in cursors]

    def _replace_if_lost(self) -> None:
        """Reopen the connection if the server has closed it; an idle connection becomes readable then. If the response
        to a whole transaction is lost, its outcome is unknown, so none is sent on a connection known to be lost."""
        if self._idle.poll(0):
            self.connection.close()
            self._open()

    def send(self, calls: Calls) -> list[Cursor]:
        """Run statements within the transaction, in one round trip."""
        if len(calls) == 1:
            return self._send(calls)
        with batch(self.connection):
            return self._send(calls)

    def _send(self, calls: Calls) -> list[Cursor]:
        while len(self._cursors) < len(calls):
            self._cursors.append(self.connection.cursor())
        for cursor, (text, params) in zip(self._cursors, calls, strict=False):
            if is_planned_each_time(text):
                self._plan_for_values()
                cursor.execute(text, params, prepare=False)
            else:
                cursor.execute(text, params)
        return self._cursors[: len(calls)]

    def _plan_for_values(self) -> None:
        """Plan statements for their values until the end of the transaction."""
        if not self._plans_for_values:
            self._control.execute(FOR_VALUES)
            self._plans_for_values = True

    def commit(self, calls: Calls, *, lasting: bool) -> None:
        """Commit after these statements, in one round trip."""
        if lasting and not calls:
            self._control.execute("COMMIT")
            return
        with batch(self.connection):
            if not lasting:
                self._control.execute("SET LOCAL synchronous_commit = off")
            self._send(calls)
            self._control.execute("COMMIT")

    def end_look(self, *, failed: bool) -> None:
        """End a read with COMMIT: after a ROLLBACK, psycopg would deallocate its prepared statements."""
        if failed:
            self.roll_back()
            return
        try:
            self._control.execute("COMMIT")
        except psycopg.Error:
            self.connection.close()

    def roll_back(self) -> None:
        """Roll back. If that fails, the connection is not used again."""
        try:
            if self.connection.info.transaction_status is not TransactionStatus.IDLE:
                self._control.execute("ROLLBACK")
        except psycopg.Error:
            self.connection.close()

    def close(self) -> None:
        self.connection.close()

    def __del__(self) -> None:
        """Close with the thread that used it, unless this process is a fork: the connection is its parent's."""
        with contextlib.suppress(Exception):  # it may never have been opened
            if self.pid == os.getpid():
                self.close()


class _ServerClock:
    """The server's time without a query: this host's monotonic clock plus a measured offset.

    Accurate to half a round trip, independent of this host's wall clock.
    """

    __slots__ = ("_offset", "_set_at")

    def __init__(self, connection: Connection) -> None:
        self._set_at = 0.0
        self._offset = 0.0
        self.set(connection)

    def now(self) -> float:
        return time.monotonic() + self._offset

    @property
    def is_old(self) -> bool:
        return time.monotonic() > self._set_at + CLOCK_GOOD_FOR_SECONDS

    def set(self, connection: Connection) -> None:
        """Measure the offset with the fastest of a few queries, assuming equal latency in both directions."""
        best = float("inf")
        for _ in range(CLOCK_LOOKS):
            asked = time.monotonic()
            row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
            took = time.monotonic() - asked
            if took < best and row is not None:
                best, self._offset = took, row[0] - (asked + took / 2)
        self._set_at = time.monotonic()


def raw_rows(cursor: Cursor) -> RawRows:
    """The rows that a statement returned."""
    result = cursor.pgresult
    assert result is not None  # the statement was executed
    names = [result.fname(at) or b"" for at in range(result.nfields)]
    return RawRows(tuple([name.decode() for name in names]), [*cursor.fetchall()])
