"""The base of all facets of the store, and the decorator that repeats a transaction after a conflict."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from gribmill.database.protocol import Database, Snapshot
from gribmill.queue.errors import JobNotFound, StoreConflict
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Job
from gribmill.queue.store.known_types import KnownTypes

P = ParamSpec("P")
T = TypeVar("T")

# Ids are 64-bit signed integers.
ID_LIMIT = 2**63
TRIES = 3
LONGEST_WAIT_SECONDS = 0.05


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


def retried(action: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function of one transaction: runs it again if a conflict or deadlock rolled it back."""

    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return action(*args, **kwargs)
            except StoreConflict:
                # Keeps the two from colliding again.
                time.sleep(random.uniform(0, LONGEST_WAIT_SECONDS))  # noqa: S311
        return action(*args, **kwargs)

    return run
