"""SQLite's own and the common statements, run by name on one connection, at one point in time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from gribmill.database.records import RawRows, bind_all, decoder
from gribmill.database.statements import names_in, statement_text
from gribmill.database.verbs.session import RawParams
from gribmill.queue.times import to_text

HOME = resources.files(__package__).joinpath("sql")
RecordT = TypeVar("RecordT")
_NOTHING = nullcontext()


@cache
def statement(name: str) -> str:
    """The text of the statement `noun/verb`."""
    return statement_text(HOME, name)


@cache
def statement_names(folder: str) -> tuple[str, ...]:
    """The statements of a folder (`verify`, `migrations`), sorted by name."""
    return names_in(HOME, folder)


class SqliteSession:
    """The session that the verbs use. In this folder times are text (`stamp`), above it they are datetimes (`now`)."""

    __slots__ = ("_cursor", "lasting", "seconds", "source_job", "stamp", "wakes")

    def __init__(self, cursor: sqlite3.Cursor, seconds: float) -> None:
        self.seconds = seconds
        self.stamp = to_text(seconds)
        self.lasting = True
        self.wakes = False
        self.source_job: int | None = None
        self._cursor = cursor

    def across_tenants(self) -> AbstractContextManager[None]:
        """SQLite has no row-level security."""
        return _NOTHING

    # SQLite has a single writer, so it needs no further locks.

    def hold_edits(self) -> None:
        pass

    def hold_groups(self, job_ids: Sequence[int]) -> None:
        pass

    # For the store

    @property
    def now(self) -> datetime:
        """The time in whole milliseconds, as stored in the database."""
        return datetime.fromtimestamp(round(self.seconds, 3), UTC)

    def query(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> list[RecordT]:
        return self.records(record, name, {"now": self.stamp, **bind_all(params)})

    def first(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> RecordT | None:
        found = self.query(record, name, params)
        return found[0] if found else None

    def table(self, name: str, params: Mapping[str, Any] = {}) -> RawRows:
        cursor = self.execute(name, {"now": self.stamp, **bind_all(params)})
        columns = tuple([column[0] for column in cursor.description])
        return RawRows(columns, [tuple(row) for row in cursor.fetchall()])

    def change(self, name: str, params: Mapping[str, Any] = {}) -> int:
        return self.execute(name, {"now": self.stamp, **bind_all(params)}).rowcount

    def send(self, name: str, params: RawParams = ()) -> None:
        self.execute(name, {"now": self.stamp, **bind_all(params)} if isinstance(params, Mapping) else params)

    # For the verbs

    def execute(self, name: str, params: RawParams = ()) -> sqlite3.Cursor:
        """Run a statement. All statements share one cursor, so results are valid until the next one."""
        return self._cursor.execute(statement(name), params)

    def execute_many(self, name: str, rows: Iterable[RawParams]) -> int:
        """Run a statement for each row; returns the number of changed rows."""
        return self._cursor.executemany(statement(name), rows).rowcount

    def records(self, record: type[RecordT], name: str, params: RawParams = ()) -> list[RecordT]:
        cursor = self._cursor.execute(statement(name), params)
        decode = decoder(record, tuple([column[0] for column in cursor.description]))
        return [decode(row) for row in cursor.fetchall()]

    def rows(self, name: str, params: RawParams = ()) -> list[sqlite3.Row]:
        return self._cursor.execute(statement(name), params).fetchall()

    def names_in(self, folder: str) -> Sequence[str]:
        return statement_names(folder)

    def after(self, seconds: float) -> str:
        """The time `seconds` from now."""
        return to_text(self.seconds + seconds)
