"""The promises of the queue: every statement in `sql/verify` is an invariant, and finds the rows that break it."""

from __future__ import annotations

from gribmill.database.verbs.session import Session
from gribmill.queue.model import Violation


def violations(tx: Session) -> list[Violation]:
    return [
        Violation(name, row["job_id"], row["detail"])
        for name in tx.names_in("verify")
        for row in tx.rows(f"verify/{name}")
    ]
