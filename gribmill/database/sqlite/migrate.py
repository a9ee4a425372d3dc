"""Upgrades a database to this version's schema, one numbered file at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gribmill.database.sqlite.session import statement, statement_names
from gribmill.database.statements import Migration, in_order
from gribmill.queue.errors import StoreUnsafe


def migrations() -> list[Migration]:
    """All migrations, ascending."""
    return in_order(statement_names("migrations"))


def applied_versions(connection: sqlite3.Connection) -> set[int]:
    """The applied migrations; empty for a new file."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").fetchone():
        return set()
    return {row[0] for row in connection.execute("SELECT version FROM schema_migrations").fetchall()}


def missing_migrations(connection: sqlite3.Connection, path: Path) -> list[Migration]:
    """The migrations to apply. Refuses a file that a newer gribmill wrote."""
    known = migrations()
    applied = applied_versions(connection)
    strange = applied - {migration.version for migration in known}
    if strange:
        raise StoreUnsafe(
            f"{path} has schema version {max(strange)}, this gribmill knows up to {known[-1].version}:"
            " use the newer gribmill that wrote it"
        )
    return [migration for migration in known if migration.version not in applied]


def migrate(connection: sqlite3.Connection, path: Path, now: str) -> None:
    """Apply missing migrations within the caller's write transaction."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)"
    )
    for migration in missing_migrations(connection, path):
        for text in split_statements(statement(migration.name)):
            connection.execute(text)
        connection.execute("INSERT INTO schema_migrations VALUES (?, ?)", (migration.version, now))


def split_statements(script: str) -> Iterator[str]:
    """Split a script into statements. `executescript` would commit first, and could leave a partial schema."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending
