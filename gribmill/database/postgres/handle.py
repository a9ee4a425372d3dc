"""One thread's connection, opened when needed and reopened after it was lost."""

from __future__ import annotations

import os
from collections.abc import Sequence

import psycopg
from psycopg.rows import TupleRow

from gribmill.database.postgres.connection import Connection, connect, limits_of_transaction
from gribmill.database.postgres.error_translation import lost_connection
from gribmill.database.postgres.server_clock import ServerClock
from gribmill.database.postgres.statements import is_planned_each_time
from gribmill.database.verbs.session import RawParams

Cursor = psycopg.Cursor[TupleRow]
Calls = Sequence[tuple[str, RawParams]]
"""Texts with their parameters."""


class Handle:
    """The connection of a thread, its cursors and its clock."""

    def __init__(self, dsn: str, lease_seconds: float) -> None:
        self.pid = os.getpid()
        self._dsn = dsn
        self._lease_seconds = lease_seconds
        self._open()

    def _open(self) -> None:
        self.connection: Connection = connect(self._dsn, self._lease_seconds)
        self.clock = ServerClock(self.connection)
        self._limits = limits_of_transaction(self.connection)
        # Reused, because each new cursor copies psycopg's type registry.
        self._control = self.connection.cursor()
        self._cursors: list[Cursor] = []

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

    def begin(self, begin: str, calls: Calls) -> list[Cursor]:
        """Begin a transaction with its first statements. Reopens a connection that was lost while idle."""
        try:
            return self._begin(begin, calls)
        except psycopg.Error as error:
            if not (lost_connection(error) and self.connection.closed):
                raise
            self._open()
            return self._begin(begin, calls)

    def _begin(self, begin: str, calls: Calls) -> list[Cursor]:
        with self.connection.pipeline():
            self._control.execute(begin)
            if self._limits is not None:
                self._control.execute(self._limits)
            return self._send(calls)

    def commit_all(self, calls: Calls) -> list[Cursor]:
        """Run a whole transaction in one round trip."""
        with self.connection.pipeline():
            self._control.execute("BEGIN")
            if self._limits is not None:
                self._control.execute(self._limits)
            cursors = self._send(calls)
            self._control.execute("COMMIT")
        return cursors

    def send(self, calls: Calls) -> list[Cursor]:
        """Run statements within the transaction, in one round trip."""
        if len(calls) == 1:
            return self._send(calls)
        with self.connection.pipeline():
            return self._send(calls)

    def _send(self, calls: Calls) -> list[Cursor]:
        while len(self._cursors) < len(calls):
            self._cursors.append(self.connection.cursor())
        for cursor, (text, params) in zip(self._cursors, calls, strict=False):
            cursor.execute(text, params, prepare=False if is_planned_each_time(text) else None)
        return self._cursors[: len(calls)]

    def commit(self, *, lasting: bool) -> None:
        if lasting:
            self._control.execute("COMMIT")
            return
        with self.connection.pipeline():
            self._control.execute("SET LOCAL synchronous_commit = off")
            self._control.execute("COMMIT")

    def roll_back(self) -> None:
        """Roll back. If that fails, the connection is not used again."""
        try:
            self._control.execute("ROLLBACK")
        except psycopg.Error:
            self.connection.close()

    def close(self) -> None:
        self.connection.close()
