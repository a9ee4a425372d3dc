"""Checks the invariants: each statement in `sql/verify` finds the rows that violate one."""

from __future__ import annotations

from gribmill.database.verbs.session import Session
from gribmill.queue.model import Violation


def violations(tx: Session) -> list[Violation]:
    return [
        Violation(name, row["job_id"], row["detail"])
        for name in tx.names_in("verify")
        for row in tx.rows(f"verify/{name}")
    ]
