"""Job counts: ended jobs from counters, pending and running ones from indexes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.session import statement
from gribmill.queue.store import Store
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, fail, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def counts(store: Store, kind: str = "plain") -> dict[str, int]:
    return next(stats.counts for stats in store.types.stats() if stats.type == kind)


def test_a_job_is_counted_once_however_it_waits(store: Store) -> None:
    parent = add(store)
    add(store, delay_seconds=60)
    add(store, after=(parent,))
    add(store, after=(parent,), delay_seconds=60)
    assert counts(store) == {"pending": 4}
    job = take(store)
    assert counts(store) == {"pending": 3, "processing": 1}
    succeed(store, job)
    assert counts(store) == {"pending": 3, "completed": 1}


def test_counters_follow_every_end_and_every_retry(backend: BackendUnderTest, store: Store) -> None:
    ids = [add(store, max_attempts=1) for _ in range(4)]
    fail(store, take(store))
    store.jobs.cancel(ids[1])
    succeed(store, take(store))
    assert counts(store) == {"failed": 1, "cancelled": 1, "completed": 1, "pending": 1}
    backend.by_hand("UPDATE jobs SET status = 'pending', dead_lettered_at = NULL WHERE id = ?", ids[0])
    backend.by_hand("DELETE FROM jobs WHERE id = ?", ids[1])
    backend.by_hand("INSERT INTO jobs (type, status, completed_at) VALUES ('plain', 'completed', '2026-01-01')")
    assert counts(store) == {"completed": 2, "pending": 2}
    backend.by_hand("UPDATE jobs SET max_attempts = 3, completed_at = NULL WHERE id = ?", ids[0])


def test_counts_are_right_after_upgrading_a_file_of_the_first_version(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(statement("migrations/0001_queue"))
        old.execute("CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)")
        old.execute("INSERT INTO schema_migrations VALUES (1, '2026-01-01')")
        old.execute("INSERT INTO jobs (type) VALUES ('plain'), ('plain'), ('plain')")
        old.execute("UPDATE jobs SET status = 'completed', completed_at = '2026-01-01' WHERE id = 2")
        old.commit()
    database = SqliteDatabase(path)
    store = Store(database, TYPES)
    assert counts(store) == {"pending": 2, "completed": 1}
    succeed(store, take(store))
    assert counts(store) == {"pending": 1, "completed": 2}
    assert database.integrity() == []
    store.close()
