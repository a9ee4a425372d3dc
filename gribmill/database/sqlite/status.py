"""The state of jobs.db, and whether a copy of it is sound."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gribmill.database.sqlite.error_translation import plain_faults
from gribmill.database.sqlite.migrate import applied_versions, migrations
from gribmill.database.sqlite.session import statement
from gribmill.database.status import DatabaseStatus, TableStatus
from gribmill.queue.errors import StoreCorrupt

# VACUUM pays off if more than this fraction and this many bytes of the file are unused.
FREE_PART = 0.5
FREE_BYTES = 100 << 20
# A log of this size is not being checkpointed, because a reader holds a snapshot.
LARGE_LOG_BYTES = 256 << 20


def sqlite_status(path: Path) -> DatabaseStatus:
    """Read the status. SQLite has no statistics about the use of indexes."""
    with plain_faults(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        free = connection.execute("PRAGMA freelist_count").fetchone()[0] * page
        applied = applied_versions(connection)
        tables = _tables(connection)
    missing = tuple(one.version for one in migrations() if one.version not in applied)
    log = path.with_name(path.name + "-wal")
    log_bytes = log.stat().st_size if log.exists() else 0
    return DatabaseStatus(
        engine="SQLite",
        version=sqlite3.sqlite_version,
        place=str(path),
        bytes=pages * page + log_bytes,
        free_bytes=free,
        migrations=tuple(sorted(applied)),
        missing_migrations=missing,
        connections=None,
        max_connections=None,
        oldest_transaction=None,
        tables=tables,
        indexes=(),
        advice=tuple(_advice(missing, pages * page, free, log_bytes)),
    )


def check_copy(path: Path) -> int:
    """The number of jobs in a copy; StoreCorrupt if it does not open or is damaged. Leaves no files next to it."""
    with plain_faults(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        if not applied_versions(connection):
            raise StoreCorrupt(f"{path}: the copy holds no queue")
        wrong = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
        if wrong:
            raise StoreCorrupt(f"{path}: the copy is not sound: {'; '.join(wrong[:3])}")
        return sum(row["n"] for row in connection.execute(statement("listing/counts"), {"tenant_id": None}).fetchall())


def _tables(connection: sqlite3.Connection) -> tuple[TableStatus, ...]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return tuple(
        TableStatus(name, connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0], 0, 0, None, None)  # noqa: S608
        for (name,) in names
        if not name.startswith("sqlite_")
    )


def _advice(missing: tuple[int, ...], size: int, free: int, log_bytes: int) -> list[str]:
    advice = []
    if missing:
        advice.append("its tables are older than this gribmill: run `gribmill db migrate`")
    if free > FREE_BYTES and free > size * FREE_PART:
        advice.append("more than half of the file is unused: stop the workers and run VACUUM with the sqlite3 shell")
    if log_bytes > LARGE_LOG_BYTES:
        advice.append("its log is large: a program has kept a read open for long; find it with `fuser jobs.db-wal`")
    return advice
