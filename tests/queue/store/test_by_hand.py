"""The SQL statements of the base specification work in a plain shell, together with the queue."""

from __future__ import annotations

import json
import sqlite3

import pytest

from gribmill.queue.errors import UnknownJobType
from gribmill.queue.store import Store
from gribmill.queue.times import to_text
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, attempts, claim, drain, fail, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest

INSERT = "INSERT INTO jobs (type, args, priority, status, created_at) VALUES (?, ?, ?, 'pending', ?)"
CLAIM = """UPDATE jobs SET status = 'processing', worker_id = 'hand-1', started_at = ?
WHERE id = (SELECT id FROM jobs WHERE status = 'pending' ORDER BY priority DESC, created_at ASC LIMIT 1) RETURNING id"""
COMPLETE = "UPDATE jobs SET status = 'completed', completed_at = ? WHERE id = ?"
FAIL = "UPDATE jobs SET status = 'failed', completed_at = ?, error_message = 'Traceback' WHERE id = ?"
RESET = "UPDATE jobs SET status = 'pending', retry_count = retry_count + 1 WHERE id = ? AND retry_count < 3"


def insert(backend: BackendUnderTest, kind: str = "plain", args: str = "{}", priority: int = 0) -> int:
    backend.by_hand(INSERT, kind, args, priority, to_text(backend.clock()))
    return int(backend.by_hand("SELECT max(id) FROM jobs")[0][0])


def now(backend: BackendUnderTest) -> str:
    return to_text(backend.clock())


def test_the_first_eleven_columns_are_those_of_the_base_specification(backend: BackendUnderTest, store: Store) -> None:
    columns = [row[1] for row in backend.by_hand("PRAGMA table_info(jobs)")]
    assert columns[:11] == [
        "id", "type", "args", "priority", "status", "worker_id", "created_at", "started_at", "completed_at",
        "error_message", "retry_count",
    ]  # fmt: skip
    workers = [row[1] for row in backend.by_hand("PRAGMA table_info(workers)")]
    assert workers[:3] == ["id", "last_heartbeat", "current_job_id"]
    assert backend.by_hand("PRAGMA journal_mode") == [("wal",)]


def test_manually_inserted_jobs_run_in_queue_order(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
    first = insert(backend)
    clock.advance(1)
    second = add(store)
    clock.advance(1)
    third = insert(backend, priority=0)
    urgent = insert(backend, priority=1)
    backend.by_hand("INSERT INTO jobs (type, args) VALUES ('plain', '{}')")
    backend.by_hand("UPDATE jobs SET created_at = '2020-01-01 00:00:00' WHERE id = ?", urgent + 1)
    expected = [urgent, urgent + 1, first, second, third]
    by_base = "SELECT id FROM jobs WHERE status = 'pending' ORDER BY priority DESC, created_at ASC"
    assert [row[0] for row in backend.by_hand(by_base)] == expected
    assert drain(store) == expected


def test_row_of_an_undeclared_type_is_never_given_to_a_worker(backend: BackendUnderTest, store: Store) -> None:
    insert(backend, "rm_rf", json.dumps({"path": "/"}), priority=99)
    assert claim(store, types=("rm_rf", "plain")) == ()


def test_row_of_an_undeclared_type_is_not_retried(backend: BackendUnderTest, store: Store) -> None:
    job_id = insert(backend, "rm_rf")
    backend.by_hand(COMPLETE, now(backend), job_id)
    with pytest.raises(UnknownJobType, match="rm_rf"):
        store.jobs.retry(job_id)
    assert len(store.jobs.list().jobs) == 1


def test_a_job_can_live_its_whole_life_in_manual_sql(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
    job_id = insert(backend)
    assert backend.by_hand(CLAIM, now(backend)) == [(job_id,)]
    assert claim(store) == (), "the queue leaves it alone"
    backend.by_hand(FAIL, now(backend), job_id)
    assert store.jobs.get(job_id).error_message == "Traceback"
    backend.by_hand(RESET, job_id)
    clock.advance(1)
    assert backend.by_hand(CLAIM, now(backend)) == [(job_id,)]
    backend.by_hand(COMPLETE, now(backend), job_id)
    row = store.jobs.get(job_id)
    assert (row.status, row.retry_count, row.worker_id) == ("completed", 1, "hand-1")
    assert backend.by_hand(CLAIM, now(backend)) == []


def test_jobs_can_pass_between_the_queue_and_manual_sql(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = add(store)
    backend.by_hand(CLAIM, now(backend))
    backend.by_hand(FAIL, now(backend), job_id)
    backend.by_hand(RESET, job_id)
    job = take(store)
    assert (job.id, job.attempt_no, job.retry_count) == (job_id, 1, 1)
    fail(store, job)
    clock.advance(100)
    assert backend.by_hand(CLAIM, now(backend)) == [(job_id,)]
    backend.by_hand(COMPLETE, now(backend), job_id)
    assert store.jobs.get(job_id).status == "completed"
    assert attempts(store, job_id) == ["failed"]


def test_manual_sql_cannot_end_an_attempt_that_a_worker_holds(backend: BackendUnderTest, store: Store) -> None:
    job_id = add(store)
    job = take(store)
    for statement in (COMPLETE, FAIL):
        with pytest.raises(sqlite3.IntegrityError):
            backend.by_hand(statement, now(backend), job_id)
    assert succeed(store, job).accepted


def test_a_manually_claimed_job_comes_back_after_its_types_timeout(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = insert(backend)
    backend.by_hand(CLAIM, now(backend))
    clock.advance(3599)
    assert len(store.maintenance.recover()) == 0
    clock.advance(1.1)
    assert store.maintenance.recover().requeued == (job_id,)
    assert store.jobs.get(job_id).error_message == "the worker hand-1 went silent during attempt 0"
    clock.advance(100)
    succeed(store, take(store))


def test_a_manual_worker_with_a_heartbeat_keeps_its_job(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = insert(backend)
    backend.by_hand(CLAIM, now(backend))
    clock.advance(3000)
    backend.by_hand(
        "INSERT INTO workers (id, last_heartbeat, current_job_id) VALUES ('hand-1', ?, ?)", now(backend), job_id
    )
    clock.advance(3000)
    assert len(store.maintenance.recover()) == 0
    clock.advance(1000)
    assert store.maintenance.recover().requeued == (job_id,)


def test_a_heartbeat_gives_no_lease_to_manually_claimed_jobs(backend: BackendUnderTest, store: Store) -> None:
    job_id = insert(backend)
    backend.by_hand(CLAIM, now(backend))
    assert store.workers.heartbeat("hand-1", LEASE) == []
    assert store.jobs.get(job_id).lease_expires_at is None


def test_a_manually_claimed_job_is_cancelled_at_once(backend: BackendUnderTest, store: Store) -> None:
    job_id = insert(backend)
    child = add(store, after=(job_id,))
    backend.by_hand(CLAIM, now(backend))
    assert store.jobs.cancel(job_id) == "cancelled"
    assert [store.jobs.get(each).status for each in (job_id, child)] == ["cancelled", "cancelled"]


def test_manual_rows_must_have_json_arguments_and_a_known_status(backend: BackendUnderTest, store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        insert(backend, args="{not json")
    job_id = insert(backend)
    with pytest.raises(sqlite3.IntegrityError):
        backend.by_hand("UPDATE jobs SET status = 'done' WHERE id = ?", job_id)


def test_counters_include_changes_by_manual_sql(backend: BackendUnderTest, store: Store) -> None:
    first, second = insert(backend), insert(backend)
    backend.by_hand(CLAIM, now(backend))
    backend.by_hand(COMPLETE, now(backend), first)
    backend.by_hand("DELETE FROM jobs WHERE id = ?", second)
    backend.by_hand("UPDATE jobs SET type = 'tile' WHERE id = ?", first)
    counts = {stats.type: stats.counts for stats in store.types.stats()}
    assert (counts["plain"], counts["tile"]) == ({}, {"completed": 1})
