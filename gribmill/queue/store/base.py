"""What every concern of the store stands on."""

from __future__ import annotations

from typing import Any

from gribmill.database.protocol import Database, Row, Transaction
from gribmill.queue.errors import JobNotFound
from gribmill.queue.job_type import JobType, Registry

# What a database integer holds.
ID_LIMIT = 2**63


class StoreBase:
    """A database and the job types declared in it."""

    def __init__(self, database: Database, types: Registry) -> None:
        self.database = database
        self.types = types
        self._declare_types()

    def close(self) -> None:
        self.database.close()

    def _declare_types(self) -> None:
        """Make `job_definitions` say what the code says. Pausing is the operator's and stays."""
        with self.database.read() as tx:
            stored = {row["key"]: row for row in tx.rows("types/list")}
        stale = [kind for kind in self.types if _differs(stored.get(kind.key), _definition(kind))]
        if stale:
            with self.database.write() as tx:
                for kind in stale:
                    tx.change("types/upsert", {**_definition(kind), "now": tx.stamp})


def job_row(tx: Transaction, job_id: int) -> Row:
    """The row of a job, or JobNotFound."""
    rows = tx.rows("jobs/get", {"job_id": job_id}) if 0 < job_id < ID_LIMIT else []
    if not rows:
        raise JobNotFound(f"there is no job {job_id}; it may have been pruned")
    return rows[0]


def _definition(kind: JobType) -> dict[str, Any]:
    return {
        "key": kind.key,
        "description": kind.description,
        "arg_schema": kind.schema_text(),
        "timeout_seconds": kind.timeout_seconds,
        "max_attempts": kind.max_attempts,
        "backoff_base_s": kind.backoff_base_s,
        "backoff_cap_s": kind.backoff_cap_s,
        "batch_max": kind.batch_max,
        "max_running": kind.max_running,
        "on_lost": kind.on_lost,
    }


def _differs(stored: Row | None, wanted: dict[str, Any]) -> bool:
    return stored is None or any(stored[key] != value for key, value in wanted.items())
