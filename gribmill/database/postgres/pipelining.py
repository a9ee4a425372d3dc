"""Statements sent together, in one round trip: as a batch within a transaction, or as a whole transaction."""

from __future__ import annotations

import re
import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from gribmill.database.postgres.connection import Connection
from gribmill.database.records import RawRows, storable

INT8, UNKNOWN = 20, 0
_PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%")


@contextmanager
def batch(connection: Connection) -> Iterator[None]:
    """Statements executed in this context are sent together; their results can be read after it."""
    connection._pipeline = _SyncedPipeline(connection)
    with connection.pipeline():
        yield


class _Statement(NamedTuple):
    name: bytes
    query: bytes
    params: tuple[str, ...]


class Sender:
    """The prepared statements of a connection without a pooler, sent through libpq directly: with psycopg's cursors, an
    exchange would take twice the CPU time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._statements: dict[str, _Statement] = {}
        self._made = 0
        self._prepared: set[str] = set()
        self._columns: dict[str, tuple[str, ...]] = {}
        self._reader = Transformer(connection)

    def commit_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[RawRows]:
        """Run statements in one transaction and one round trip, and return their rows. Each sees the effects of those
        before it."""
        try:
            return self._commit_all(calls)
        except InvalidSqlStatementName:
            # psycopg deallocated the prepared statements after a rollback. Nothing was executed.
            self._statements.clear()
            self._prepared.clear()
            return self._commit_all(calls)

    def _commit_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[RawRows]:
        conn = self._connection.pgconn
        try:
            conn.enter_pipeline_mode()
            new = self._send(conn, calls)
            conn.pipeline_sync()
            results = _results(conn)
            conn.exit_pipeline_mode()
        except BaseException:
            self._connection.close()  # a response may be only partly read
            raise
        answers = self._without_preparations(results, new)
        for result in results:
            if result.status == ExecStatus.FATAL_ERROR:
                raise error_from_result(result)
        return [self._read(text, answer) for (text, _), answer in zip(calls, answers, strict=True)]

    def _send(self, conn: PGconn, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[int, str]:
        """Send the calls; returns the statements to be prepared first, by the position of that result."""
        new: dict[int, str] = {}
        for at, (text, params) in enumerate(calls):
            statement = self._statements.get(text) or self._add(text)
            if text not in self._prepared and text not in new.values():
                new[at + len(new)] = text
                kinds = [INT8 if isinstance(params[name], int) else UNKNOWN for name in statement.params]
                conn.send_prepare(statement.name, statement.query, kinds)
            conn.send_query_prepared(statement.name, [_encoded(params[name]) for name in statement.params])
        return new

    def _add(self, text: str) -> _Statement:
        """Translate named placeholders to the server's numbered parameters."""
        names: dict[str, int] = {}

        def number(found: re.Match[str]) -> str:
            return f"${names.setdefault(found[1], len(names) + 1)}" if found[1] else "%"

        query = _PLACEHOLDER.sub(number, text).encode()
        self._made += 1
        statement = _Statement(b"gribmill_%d" % self._made, query, tuple(names))
        self._statements[text] = statement
        return statement

    def _without_preparations(self, results: list[PGresult], new: Mapping[int, str]) -> list[PGresult]:
        """The results of the calls alone. Prepared statements are recorded even if a later statement failed."""
        for at, text in new.items():
            if at < len(results) and results[at].status == ExecStatus.COMMAND_OK:
                self._prepared.add(text)
        return [result for at, result in enumerate(results) if at not in new]

    def _read(self, text: str, result: PGresult) -> RawRows:
        columns = self._columns.get(text)
        if columns is None:
            names = [result.fname(at) or b"" for at in range(result.nfields)]
            columns = self._columns[text] = tuple(name.decode() for name in names)
        self._reader.set_pgresult(result)
        return RawRows(columns, list(self._reader.load_rows(0, result.ntuples, tuple)))


class _SyncedPipeline(psycopg.Pipeline):
    """Ends with a Sync message and no Flush, so that the server's idle-in-transaction timeout applies.

    psycopg's own pipeline sends a Flush after the Sync. The server stops the timer at every message and restarts it
    only after a Sync, so after a Flush a vanished client would keep its locks until TCP times out.
    """

    def _exit_gen(self) -> PQGen[None]:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            yield from self._fetch_gen(flush=False)


def _results(conn: PGconn) -> list[PGresult]:
    """All results up to the pipeline's Sync."""
    waiting = select.poll()
    waiting.register(conn.socket, select.POLLIN | select.POLLOUT)
    while conn.flush():
        waiting.poll()
        conn.consume_input()
    waiting.modify(conn.socket, select.POLLIN)
    found: list[PGresult] = []
    while True:
        while conn.is_busy():
            waiting.poll()
            conn.consume_input()
        result = conn.get_result()
        if result is not None:
            if result.status == ExecStatus.PIPELINE_SYNC:
                return found
            found.append(result)
        elif conn.status == ConnStatus.BAD:
            failed = [one for one in found if one.status == ExecStatus.FATAL_ERROR]
            raise error_from_result(failed[0]) if failed else psycopg.OperationalError("the connection was lost")


def _encoded(value: str | int | None) -> bytes | None:
    if value is None:
        return None
    return storable(value).encode() if isinstance(value, str) else b"%d" % value
