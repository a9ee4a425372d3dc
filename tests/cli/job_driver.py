"""Steps of jobs between two commands: enqueue, claim, end."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from gribmill.queue.model import Claimed, ClaimRequest, NewJob, Outcome, Report
from gribmill.queue.store import Store


def add(store: Store, **fields: Any) -> int:
    """Enqueue a sleep job; its id."""
    return store.jobs.enqueue(NewJob("sleep", **fields)).id


def take(store: Store, worker: str = "w1") -> Claimed:
    """A worker claims one sleep job."""
    (job,) = store.claim(ClaimRequest(worker, ("sleep",), 60.0, pid=4711))
    return job


def end(store: Store, outcome: Outcome, worker: str = "w1", **facts: Any) -> int:
    """Claim the next job as a worker and report this outcome; returns its id."""
    job = take(store, worker)
    assert store.exchange(worker, [Report(job.ref, outcome, **facts)]).accepted
    return job.id


def rewrite_ended(data: Path, statement: str) -> None:
    """Change finished jobs, bypassing the database's protection, as if they had ended at another time."""
    with closing(sqlite3.connect(data / "jobs.db")) as connection, connection:
        name = "jobs_stay_as_they_ended"
        (trigger,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        for one in (f"DROP TRIGGER {name}", statement, trigger):
            connection.execute(one)


def by_hand(data: Path, statement: str, *params: Any) -> None:
    """Write to the database as another program would."""
    with closing(sqlite3.connect(data / "jobs.db")) as connection, connection:
        connection.execute(statement, params)
