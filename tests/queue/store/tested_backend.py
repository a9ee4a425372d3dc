"""A store under test on any database: another dialect is added as a class here."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.statements import statement_names
from gribmill.queue.job_type import Registry
from gribmill.queue.model import NewTenant
from gribmill.queue.store import Store
from tests.queue.sample_effects import SampleEffects
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES

# Of the jobs of many tests.
TENANTS = ("a", "acme", "b", "elsewhere", "other", "ours", "t", "theirs")


class BackendUnderTest(Protocol):
    """What the contract suite needs of a backend."""

    clock: FakeClock
    store: Store

    def open(self, types: Registry = TYPES) -> Store:
        """The same queue as another process would open it."""
        ...

    def by_hand(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """One statement on a plain connection, as a person with a shell would run it."""
        ...

    def invariants(self) -> set[str]:
        """The names of the invariants that the backend checks."""
        ...

    def close(self) -> None: ...


class SqliteUnderTest:
    """jobs.db in a folder. `normal` spares the tests a thousand fsyncs; power loss is not what they are about."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.path = folder / "jobs.db"
        self._stores: list[Store] = []
        self.database = SqliteDatabase(self.path, synchronous="normal", clock=self.clock)
        self.store = Store(self.database, TYPES, SampleEffects())
        self._stores.append(self.store)
        for name in {*TENANTS} - {tenant.name for tenant in self.store.tenants.list()}:
            self.store.tenants.add(NewTenant(name))

    def open(self, types: Registry = TYPES) -> Store:
        store = Store(SqliteDatabase(self.path, synchronous="normal", clock=self.clock), types, SampleEffects())
        self._stores.append(store)
        return store

    def by_hand(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(sql, params).fetchall()

    def invariants(self) -> set[str]:
        return set(statement_names("verify"))

    def close(self) -> None:
        for store in self._stores:
            store.close()


BACKENDS: dict[str, Callable[[Path], BackendUnderTest]] = {"sqlite": SqliteUnderTest}
