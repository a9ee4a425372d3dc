"""Broken variants of the store, each with one safeguard removed."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import pytest

from gribmill.database.sqlite import session
from gribmill.database.sqlite.host_lock import HostLock
from tests.migrated_database import migrate_new_databases

FENCE = " AND attempt_no = :attempt_no AND worker_id = :worker_id"


@dataclass(frozen=True)
class Mutant:
    """A replacement in a named statement, or in a line that the database class sends."""

    sql: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)
    host_lock: bool = True

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        """Apply it until the patch is undone. Fails if the safeguard to remove no longer exists."""
        if self.sql:
            self._alter_statements(patch)
        if self.sent:
            self._alter_what_is_sent(patch)
        if not self.host_lock:
            patch.setattr(HostLock, "acquire", lambda *_args, **_kw: None)
            patch.setattr(HostLock, "release", lambda *_args: None)

    def _alter_statements(self, patch: pytest.MonkeyPatch) -> None:
        if any(name.startswith("migrations/") for name in self.sql):
            migrate_new_databases(patch)
        original = session.statement
        altered = {name: original(name) for name in self.sql}
        for name, changes in self.sql.items():
            for old, new in changes:
                assert old in altered[name], f"{name} has no {old!r} to take away"
                altered[name] = altered[name].replace(old, new)

        def statement(name: str) -> str:
            return altered[name] if name in altered else original(name)

        for module in list(sys.modules.values()):
            if module.__name__.startswith("gribmill.database") and getattr(module, "statement", None) is original:
                patch.setattr(module, "statement", statement)

    def _alter_what_is_sent(self, patch: pytest.MonkeyPatch) -> None:
        replaced = self.sent

        class Cursor(sqlite3.Cursor):
            def execute(self, sql: str, *args: Any) -> Self:
                return super().execute(replaced.get(sql, sql), *args)

        class Connection(sqlite3.Connection):
            def cursor(self, factory: Any = Cursor) -> Any:  # its own `execute` asks for one too
                return super().cursor(factory)

        connect = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *args, **kw: connect(*args, **{"factory": Connection, **kw}))
