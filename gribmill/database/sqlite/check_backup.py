"""Checks a copy of jobs.db."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gribmill.database.sqlite.error_translation import plain_faults
from gribmill.database.sqlite.migrate import applied_versions
from gribmill.database.sqlite.statements import statement
from gribmill.queue.errors import StoreCorrupt


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
