"""Brings a database to this version's schema, one numbered file at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gribmill.queue.errors import StoreUnsafe
from gribmill.queue.statements import statement, statement_names
from gribmill.queue.times import to_text


def migrations() -> dict[int, str]:
    """Version to statement name, ascending."""
    return {int(name.split("_")[0]): f"migrations/{name}" for name in statement_names("sqlite", "migrations")}


def schema_version(connection: sqlite3.Connection) -> int:
    """The version that the file is at; 0 for a new one."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").fetchone()
    if not known:
        return 0
    return int(connection.execute("SELECT coalesce(max(version), 0) FROM schema_migrations").fetchone()[0])


def check_version(found: int, path: Path) -> None:
    """Refuse a file that a newer gribmill has written."""
    newest = max(migrations())
    if found > newest:
        raise StoreUnsafe(
            f"{path} has schema version {found}, this gribmill knows up to {newest}:"
            " use the newer gribmill that wrote it"
        )


def migrate(connection: sqlite3.Connection, path: Path, now: float) -> None:
    """Apply what is missing, in the write transaction that the caller holds: all of it or nothing."""
    found = schema_version(connection)
    check_version(found, path)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)"
    )
    for version, name in migrations().items():
        if version > found:
            for text in split_statements(statement("sqlite", name)):
                connection.execute(text)
            connection.execute("INSERT INTO schema_migrations VALUES (?, ?)", (version, to_text(now)))


def split_statements(script: str) -> Iterator[str]:
    """The statements of a script. `executescript` would commit first, and a half-made schema could stay behind."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending
