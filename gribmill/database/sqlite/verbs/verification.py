"""The promises of the queue: every statement in `sql/verify` is an invariant, and finds the rows that break it."""

from __future__ import annotations

from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.sqlite.statements import statement_names
from gribmill.queue.model import Violation


def violations(tx: SqliteSession) -> list[Violation]:
    return [
        Violation(name, row["job_id"], row["detail"])
        for name in statement_names("verify")
        for row in tx.rows(f"verify/{name}")
    ]
