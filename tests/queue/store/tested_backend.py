"""Backends under test. To test another dialect, add a class."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import psycopg
import pytest

from gribmill.database.postgres import PostgresDatabase
from gribmill.database.postgres.statements import statement_names as postgres_statement_names
from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.session import statement_names
from gribmill.queue.job_type import Registry
from gribmill.queue.model import NewTenant
from gribmill.queue.store import Store
from gribmill.queue.times import to_text
from tests.queue.sample_effects import SampleEffects
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.servers.shared_postgres import fresh_database
from tests.waiting import wait_until

# Tenants used by many tests.
TENANTS = ("a", "acme", "b", "elsewhere", "other", "ours", "t", "theirs")


REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError, psycopg.DataError)
"""How a database refuses manual statements."""
ONLY_SQLITE = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
"""For tests of what only a file has, or what columns with types refuse anyway."""


class BackendUnderTest(Protocol):
    """What the contract suite needs from a backend."""

    clock: FakeClock
    store: Store

    def open(self, types: Registry = TYPES) -> Store:
        """The same queue as another process would open it."""
        ...

    def by_hand(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """One statement on a plain connection, as a person with a shell would run it."""
        ...

    def columns(self, table: str) -> list[str]:
        """The columns of a table in their order."""
        ...

    def drop_trigger(self, name: str) -> None:
        """Remove a safeguard of the database itself."""
        ...

    def drop_references(self, table: str) -> None:
        """Remove the foreign keys of a table."""
        ...

    def miscount(self) -> None:
        """Make one of the job counters wrong."""
        ...

    def wait_for_a_blocked_writer(self, thread: threading.Thread) -> None:
        """Return when a transaction waits for another, or the thread has ended. In SQLite a writer always waits."""
        ...

    def invariants(self) -> set[str]:
        """The names of the invariants that the backend checks."""
        ...

    def close(self) -> None: ...


def _add_tenants(store: Store) -> None:
    for name in {*TENANTS} - {tenant.name for tenant in store.tenants.list()}:
        store.tenants.add(NewTenant(name))


@cache
def _prepared_file() -> bytes:
    """jobs.db with the tables, the types and the tenants."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "jobs.db")
        store = Store(SqliteDatabase(path, synchronous="normal", clock=FakeClock()), TYPES, SampleEffects())
        _add_tenants(store)
        store.close()
        return path.read_bytes()


class SqliteUnderTest:
    """A copy of a prepared jobs.db. `normal` avoids a thousand fsyncs; these tests do not cover power loss."""

    def __init__(self, folder: Path, *, prepared: bool = True) -> None:
        """Unless `prepared`, the tables come from the migrations as they are now: tests break them."""
        self.clock = FakeClock()
        self.path = folder / "jobs.db"
        if prepared and not self.path.exists():
            self.path.write_bytes(_prepared_file())
            self.path.chmod(0o600)
        self._stores: list[Store] = []
        self.database = SqliteDatabase(self.path, synchronous="normal", clock=self.clock)
        self.store = Store(self.database, TYPES, SampleEffects())
        self._stores.append(self.store)
        _add_tenants(self.store)

    def open(self, types: Registry = TYPES) -> Store:
        store = Store(SqliteDatabase(self.path, synchronous="normal", clock=self.clock), types, SampleEffects())
        self._stores.append(store)
        return store

    def by_hand(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(sql, params).fetchall()

    def columns(self, table: str) -> list[str]:
        return [row[1] for row in self.by_hand(f"PRAGMA table_info({table})")]

    def drop_trigger(self, name: str) -> None:
        self.by_hand(f"DROP TRIGGER {name}")

    def drop_references(self, table: str) -> None:
        """A plain connection does not enforce them."""

    def miscount(self) -> None:
        self.by_hand("UPDATE job_counts SET n = n + 1")

    def wait_for_a_blocked_writer(self, thread: threading.Thread) -> None:
        pass

    def invariants(self) -> set[str]:
        return set(statement_names("verify"))

    def close(self) -> None:
        for store in self._stores:
            store.close()


class PostgresUnderTest:
    """A database on the test server, copied from one with the tables and tenants."""

    def __init__(self, _folder: Path | None = None, through: Callable[[str], str] = str) -> None:
        """`through`: another way to reach the same database, such as a pooler."""
        self.clock = FakeClock()
        self._stores: list[Store] = []
        self._resources = ExitStack()
        self._hand: psycopg.Connection | None = None
        self.url = through(self._resources.enter_context(fresh_database("queue", _prepare)))
        self.store = self.open()
        self.database = self.store.database

    def open(self, types: Registry = TYPES) -> Store:
        store = Store(PostgresDatabase(self.url, clock=self.clock), types, SampleEffects())
        self._stores.append(store)
        return store

    def by_hand(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """Takes SQLite's form: `?` for a value, and times are returned as text."""
        if self._hand is None:
            self._hand = self._resources.enter_context(psycopg.connect(self.url, autocommit=True))
            self._hand.execute("SET timezone = 'UTC'")
        cursor = self._hand.execute(sql.replace("%", "%%").replace("?", "%s").encode(), params)
        return [tuple(map(_as_sqlite, row)) for row in cursor.fetchall()] if cursor.description else []

    def columns(self, table: str) -> list[str]:
        names = "SELECT column_name FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position"
        return [name for (name,) in self.by_hand(names, table)]

    def drop_trigger(self, name: str) -> None:
        for (table,) in self.by_hand("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = ?", name):
            self.by_hand(f"DROP TRIGGER {name} ON {table}")

    def drop_references(self, table: str) -> None:
        names = "SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = ?::regclass"
        for (name,) in self.by_hand(names, table):
            self.by_hand(f"ALTER TABLE {table} DROP CONSTRAINT {name}")

    def miscount(self) -> None:
        self.by_hand("INSERT INTO job_count_changes VALUES ('global', 'plain', 'completed', 1)")

    def wait_for_a_blocked_writer(self, thread: threading.Thread) -> None:
        waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        wait_until(lambda: self.by_hand(waiting) or not thread.is_alive(), what="a transaction that waits for a lock")

    def invariants(self) -> set[str]:
        return set(postgres_statement_names("verify"))

    def close(self) -> None:
        for store in self._stores:
            store.close()
        self._resources.close()


def _prepare(url: str) -> None:
    store = Store(PostgresDatabase(url, clock=FakeClock()), TYPES, SampleEffects())
    _add_tenants(store)
    store.close()


def _as_sqlite(value: Any) -> Any:
    return to_text(value.timestamp()) if isinstance(value, datetime) else value


BACKENDS: dict[str, Callable[[Path], BackendUnderTest]] = {"sqlite": SqliteUnderTest, "postgres": PostgresUnderTest}
