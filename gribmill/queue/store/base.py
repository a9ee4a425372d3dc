"""The base of all facets of the store."""

from __future__ import annotations

from gribmill.database.protocol import Database, Snapshot
from gribmill.queue.errors import JobNotFound
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Job
from gribmill.queue.store.known_types import KnownTypes

# Ids are 64-bit signed integers.
ID_LIMIT = 2**63


class Facet:
    """One noun of the store: its database, and the job types in force."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self.database = database
        self.registry = KnownTypes.over(database, registry)


def get_job(tx: Snapshot, job_id: int) -> Job:
    """The job, or JobNotFound."""
    job = tx.first(Job, "jobs/get", {"job_id": job_id}) if 0 < job_id < ID_LIMIT else None
    if job is None:
        raise JobNotFound(f"there is no job {job_id}; it may have been pruned")
    return job
