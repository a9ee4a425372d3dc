"""jobs.db as source or target of a move."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from gribmill.database.move import IN_USE, PROGRESS, PROGRESS_COLUMNS, RESERVED_BY, Progress, Row, Table
from gribmill.database.sqlite.database import SqliteDatabase
from gribmill.database.sqlite.error_translation import plain_faults
from gribmill.database.sqlite.host_lock import HostLock
from gribmill.queue.times import to_text

RESERVED_SECONDS = 86_400.0


class SqliteSide:
    """jobs.db; opening it upgrades the schema."""

    def __init__(self, path: Path) -> None:
        SqliteDatabase(path).close()
        self.label = str(path)
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA foreign_keys=ON")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._lock = HostLock(path.with_name(path.name + ".lock"))

    def close(self) -> None:
        self._connection.close()
        self._lock.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._writing():
            yield

    def table_names(self) -> set[str]:
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return {name for (name,) in rows.fetchall()}

    def in_use(self) -> bool:
        return any(self._connection.execute(f"SELECT EXISTS (SELECT 1 FROM {name})").fetchone()[0] for name in IN_USE)

    def page(self, table: Table, after: str | None, limit: int) -> list[Row]:
        key, names = ", ".join(table.key), ", ".join(table.columns)
        later = f"WHERE ({key}) > ({', '.join('?' for _ in table.key)})" if after is not None else ""
        with plain_faults(self._path):
            return self._connection.execute(
                f"SELECT {names} FROM {table.name} {later} ORDER BY {key} LIMIT {int(limit)}",
                json.loads(after) if after is not None else (),
            ).fetchall()

    def begin(self, source: str) -> dict[str, Progress] | None:
        if PROGRESS not in self.table_names():
            return {}
        rows = self._connection.execute(f"SELECT table_name, last_key, row_count FROM {PROGRESS}").fetchall()
        known = {name: Progress(key, count) for name, key, count in rows}
        return known if known.pop("", Progress("", 0)).last_key == source else None

    def clear(self, tables: Sequence[Table], source: str) -> None:
        with self._writing(), self._without_triggers():
            for table in reversed(tables):
                self._connection.execute(f"DELETE FROM {table.name}")
            self._connection.execute("DELETE FROM direct_reservations")
            self._connection.execute(f"CREATE TABLE {PROGRESS} ({PROGRESS_COLUMNS})")
            self._connection.execute(f"INSERT INTO {PROGRESS} VALUES ('', ?, 0)", (source,))
            self._connection.execute(
                "INSERT INTO direct_reservations VALUES (?, '*', ?, ?, ?, 'ACTIVE')",
                (PROGRESS, to_text(time.time()), RESERVED_BY, _tomorrow()),
            )

    def add(self, table: Table, rows: Sequence[Row], done: Progress) -> None:
        marks = ", ".join("?" for _ in table.columns)
        with self._writing(), self._without_triggers():
            self._connection.executemany(
                f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})", rows
            )
            self._connection.execute(
                f"INSERT INTO {PROGRESS} VALUES (?, ?, ?) ON CONFLICT (table_name)"
                " DO UPDATE SET last_key = excluded.last_key, row_count = excluded.row_count",
                (table.name, done.last_key, done.rows),
            )
            self._connection.execute(
                "UPDATE direct_reservations SET expires_at = ? WHERE reservation_id = ?", (_tomorrow(), PROGRESS)
            )

    def next_ids(self, tables: Sequence[Table]) -> dict[str, int]:
        names = {table.name for table in tables}
        rows = self._connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        return {name: highest for name, highest in rows if name in names}

    def finish(self, next_ids: Mapping[str, int]) -> None:
        with self._writing():
            for name, highest in next_ids.items():
                self._connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
                self._connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, highest))
            self._connection.execute("DELETE FROM newest_deleted_job")
            self._connection.execute("INSERT INTO newest_deleted_job VALUES (1, ?)", (next_ids.get("jobs", 0),))
            self._connection.execute("DELETE FROM job_counts")
            self._connection.execute(
                "INSERT INTO job_counts SELECT tenant_id, type, status, count(*) FROM jobs"
                " WHERE tenant_id <> 'global' OR status NOT IN ('pending','processing') GROUP BY 1, 2, 3"
            )
            self._connection.execute("DELETE FROM direct_reservations WHERE reservation_id = ?", (PROGRESS,))
            self._connection.execute(f"DROP TABLE {PROGRESS}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with plain_faults(self._path), self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def _without_triggers(self) -> Iterator[None]:
        """Remove triggers within a transaction; they are restored when it ends."""
        triggers = self._connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            self._connection.execute(f"DROP TRIGGER {name}")
        yield
        for _, sql in triggers:
            self._connection.execute(sql)


def _tomorrow() -> str:
    return to_text(time.time() + RESERVED_SECONDS)
