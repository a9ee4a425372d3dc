"""What every concern of the store stands on."""

from __future__ import annotations

from gribmill.database.protocol import Database, Row, Transaction
from gribmill.queue.errors import JobNotFound
from gribmill.queue.job_type import Registry

# What a database integer holds.
ID_LIMIT = 2**63


class Facet:
    """One noun of the store: its database, and the job types that are declared."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self.database = database
        self.registry = registry


def job_row(tx: Transaction, job_id: int) -> Row:
    """The row of a job, or JobNotFound."""
    rows = tx.rows("jobs/get", {"job_id": job_id}) if 0 < job_id < ID_LIMIT else []
    if not rows:
        raise JobNotFound(f"there is no job {job_id}; it may have been pruned")
    return rows[0]
