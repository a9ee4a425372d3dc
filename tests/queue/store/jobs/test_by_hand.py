"""The SQL statements of the base specification work in a plain SQL shell beside the queue."""

from __future__ import annotations

import json

import pytest

from gribmill.queue.errors import UnknownJobType
from gribmill.queue.model import Succeeded
from gribmill.queue.store import Store
from gribmill.queue.times import to_text
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, attempts, claim, drain, fail, succeed, take
from tests.queue.store.tested_backend import ONLY_SQLITE, REFUSED, BackendUnderTest

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
    assert backend.columns("jobs")[:11] == [
        "id", "type", "args", "priority", "status", "worker_id", "created_at", "started_at", "completed_at",
        "error_message", "retry_count",
    ]  # fmt: skip
    assert backend.columns("workers")[:3] == ["id", "last_heartbeat", "current_job_id"]


@ONLY_SQLITE
def test_the_file_has_a_write_ahead_log(backend: BackendUnderTest) -> None:
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


def test_row_of_an_undeclared_type_is_never_claimed(backend: BackendUnderTest, store: Store) -> None:
    insert(backend, "rm_rf", json.dumps({"path": "/"}), priority=99)
    assert claim(store, types=("rm_rf", "plain")) == ()


def test_row_of_an_undeclared_type_is_not_retried(backend: BackendUnderTest, store: Store) -> None:
    job_id = insert(backend, "rm_rf")
    backend.by_hand(COMPLETE, now(backend), job_id)
    with pytest.raises(UnknownJobType, match="rm_rf"):
        store.jobs.retry(job_id)
    assert len(store.jobs.list().jobs) == 1


def test_job_can_be_run_entirely_by_manual_sql(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
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
    assert (job.id, job.attempt_no, job.retry_count) == (job_id, 2, 1)
    fail(store, job)
    clock.advance(100)
    assert backend.by_hand(CLAIM, now(backend)) == [(job_id,)]
    backend.by_hand(COMPLETE, now(backend), job_id)
    assert store.jobs.get(job_id).status == "completed"
    assert attempts(store, job_id) == ["failed", "failed", "succeeded"]
    assert store.verify() == []


@pytest.mark.parametrize(
    ("statement", "status", "attempt"), [(COMPLETE, "completed", "succeeded"), (FAIL, "failed", "failed")]
)
def test_manual_sql_ends_a_job_that_a_worker_holds_and_its_late_report_is_refused(
    backend: BackendUnderTest, store: Store, statement: str, status: str, attempt: str
) -> None:
    job_id = add(store)
    job = take(store)
    backend.by_hand(statement, now(backend), job_id)
    assert succeed(store, job).fenced == (job.ref,)
    row = store.jobs.get(job_id)
    assert (row.status, row.lease_expires_at) == (status, None)
    assert attempts(store, job_id) == [attempt]
    assert store.verify() == []


def test_manual_reset_takes_a_job_from_its_worker(backend: BackendUnderTest, store: Store) -> None:
    job_id = add(store)
    late = take(store)
    backend.by_hand(RESET, job_id)
    assert succeed(store, late).fenced == (late.ref,)
    again = take(store)
    assert (again.id, again.attempt_no) == (job_id, late.attempt_no + 1)
    assert succeed(store, late).fenced == (late.ref,)
    assert succeed(store, again).accepted
    assert attempts(store, job_id) == ["lost", "succeeded"]
    assert store.verify() == []


def test_manual_reset_revives_a_dead_letter(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
    job_id = add(store, max_attempts=1)
    fail(store, take(store))
    assert store.jobs.get(job_id).dead_lettered_at is not None
    backend.by_hand(RESET, job_id)
    row = store.jobs.get(job_id)
    assert (row.status, row.dead_lettered_at, row.completed_at) == ("pending", None, None)
    succeed(store, take(store))
    assert store.verify() == []


@pytest.mark.parametrize(("statement", "status"), [(COMPLETE, "pending"), (FAIL, "cancelled")])
def test_jobs_that_wait_on_a_manually_ended_job_are_released_or_cancelled(
    backend: BackendUnderTest, store: Store, statement: str, status: str
) -> None:
    parent = insert(backend)
    child = add(store, after=(parent,))
    grandchild = add(store, after=(child,))
    backend.by_hand(CLAIM, now(backend))
    backend.by_hand(statement, now(backend), parent)
    taken = claim(store)
    assert [store.jobs.get(child).status, store.jobs.get(grandchild).status] == (
        ["processing", "pending"] if status == "pending" else ["cancelled", "cancelled"]
    )
    assert [job.id for job in taken] == ([child] if status == "pending" else [])
    assert store.verify() == []


@pytest.mark.parametrize(("on_failure", "status"), [("cancel", "cancelled"), ("ignore", "processing")])
def test_jobs_that_wait_on_a_deleted_job_are_released_or_cancelled(
    backend: BackendUnderTest, store: Store, on_failure: str, status: str
) -> None:
    parent = insert(backend)
    child = add(store, after=(parent,), on_parent_failure=on_failure)
    backend.by_hand("DELETE FROM jobs WHERE id = ?", parent)
    claim(store)
    assert store.jobs.get(child).status == status
    assert store.verify() == []


def test_a_manually_claimed_job_no_longer_waits_for_its_parents(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    parent = add(store, priority=-1)
    child = add(store, after=(parent,))
    assert backend.by_hand(CLAIM, now(backend)) == [(child,)]
    succeed(store, take(store))
    backend.by_hand(RESET, child)
    assert take(store).id == child
    assert store.verify() == []


@ONLY_SQLITE
def test_manual_times_may_be_epoch_seconds_or_iso_8601(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    moment = clock()
    for created in (int(moment) - 10, "2020-01-01T00:00:00Z"):
        backend.by_hand("INSERT INTO jobs (type, args, created_at) VALUES ('plain', '{}', ?)", created)
    rows = [row[0] for row in backend.by_hand("SELECT created_at FROM jobs ORDER BY id")]
    assert rows == [to_text(int(moment) - 10), "2020-01-01 00:00:00.000"]
    taken = backend.by_hand(CLAIM, int(moment))
    assert taken == [(2,)]
    clock.advance(3602)
    assert store.maintenance.recover().requeued == (2,)


def test_manual_insert_may_leave_the_arguments_null(backend: BackendUnderTest, store: Store) -> None:
    backend.by_hand("INSERT INTO jobs (type, args) VALUES ('plain', NULL)")
    assert take(store).args == "{}"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET args = '{\"n\": 9}'",
        "UPDATE jobs SET type = 'tile'",
        "UPDATE jobs SET created_at = '2020-01-01 00:00:00'",
        "UPDATE jobs SET status = 'pending'",
        "UPDATE jobs SET status = 'failed'",
        "UPDATE jobs SET completed_at = '2020-01-01 00:00:00'",
        "UPDATE jobs SET started_at = NULL",
        "UPDATE jobs SET error_message = 'it failed'",
        "UPDATE jobs SET worker_id = 'another'",
        "UPDATE jobs SET retry_count = 2, attempt_no = 3",
        "UPDATE jobs SET created_by = 'somebody else'",
        "UPDATE jobs SET priority = 9",
        "UPDATE jobs SET retry_of = id",
        "UPDATE job_attempts SET status = 'failed'",
        "UPDATE job_attempts SET worker_id = 'another'",
    ],
)
def test_finished_jobs_and_attempts_cannot_be_rewritten(
    backend: BackendUnderTest, store: Store, statement: str
) -> None:
    job_id = add(store)
    succeed(store, take(store))
    before = store.jobs.history(job_id)
    with pytest.raises(REFUSED, match="cannot be changed"):
        backend.by_hand(statement)
    assert store.jobs.history(job_id) == before


def test_a_job_that_runs_without_an_attempt_gets_a_lost_one(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = add(store)
    take(store)
    backend.by_hand("DELETE FROM job_attempts")
    clock.advance(LEASE + 1)
    assert store.maintenance.recover().requeued == (job_id,)
    assert attempts(store, job_id) == ["lost"]
    assert store.verify() == []


def test_a_job_whose_attempt_succeeded_is_only_finished(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = add(store)
    take(store)
    backend.by_hand("UPDATE job_attempts SET status = 'succeeded', finished_at = ?", now(backend))
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    assert store.jobs.get(job_id).status == "completed"
    assert attempts(store, job_id) == ["succeeded"]
    assert store.verify() == []


def test_a_manually_claimed_job_comes_back_after_its_types_timeout(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = insert(backend)
    backend.by_hand(CLAIM, now(backend))
    clock.advance(3599)
    assert len(store.maintenance.recover()) == 0
    clock.advance(1.1)
    assert store.maintenance.recover().requeued == (job_id,)
    assert store.jobs.get(job_id).error_message == "the worker hand-1 went silent during attempt 1"
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


def test_the_queue_ends_manually_claimed_jobs_like_its_own(backend: BackendUnderTest, store: Store) -> None:
    done, broken = insert(backend), insert(backend)
    child = add(store, after=(done,))
    backend.by_hand(CLAIM, now(backend))
    backend.by_hand(CLAIM, now(backend))
    store.complete(done, Succeeded(artifacts=("a.nc",)))
    store.fail(broken, "no input", permanent=True)
    assert [store.jobs.get(each).status for each in (done, broken)] == ["completed", "failed"]
    assert store.jobs.history(done).attempts[0].artifacts == ("a.nc",)
    assert store.jobs.history(broken).attempts[0].error_text == "no input"
    assert [one.id for one in claim(store)] == [child]
    assert store.verify() == []


def test_a_manually_claimed_job_is_cancelled_at_once(backend: BackendUnderTest, store: Store) -> None:
    job_id = insert(backend)
    child = add(store, after=(job_id,))
    backend.by_hand(CLAIM, now(backend))
    assert store.jobs.cancel(job_id) == "cancelled"
    assert [store.jobs.get(each).status for each in (job_id, child)] == ["cancelled", "cancelled"]


def test_manual_rows_must_have_json_arguments_and_a_known_status(backend: BackendUnderTest, store: Store) -> None:
    with pytest.raises(REFUSED):
        insert(backend, args="{not json")
    job_id = insert(backend)
    with pytest.raises(REFUSED):
        backend.by_hand("UPDATE jobs SET status = 'done' WHERE id = ?", job_id)


def test_counters_include_changes_by_manual_sql(backend: BackendUnderTest, store: Store) -> None:
    first, second = insert(backend), insert(backend)
    backend.by_hand(CLAIM, now(backend))
    backend.by_hand(COMPLETE, now(backend), first)
    backend.by_hand("DELETE FROM jobs WHERE id = ?", second)
    third = insert(backend)
    backend.by_hand("UPDATE jobs SET type = 'tile' WHERE id = ?", third)
    counts = {stats.type: stats.counts for stats in store.types.stats()}
    assert (counts["plain"], counts["tile"]) == ({"completed": 1}, {"pending": 1})
