"""A worker's exchange on PostgreSQL: text is stored unchanged, and a failure leaves a usable connection."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from gribmill.database.postgres import PostgresDatabase
from gribmill.database.postgres import database as database_module
from gribmill.database.postgres.handle import Handle
from gribmill.database.postgres.statements import statement
from gribmill.queue.errors import QueueError
from gribmill.queue.model import ClaimRequest, Report, Succeeded
from gribmill.queue.store import Store
from tests.queue.store.store_driver import add, take
from tests.queue.store.tested_backend import PostgresUnderTest
from tests.waiting import wait_until

pytestmark = pytest.mark.postgres

TEXTS = ['"quoted"', "back\\slash", "{a,b}", "NULL", "", "two\nlines", "% and %(now)s", "größer ☃", "nul\x00"]
PLAIN = ClaimRequest("w1", ("plain",), 60.0)
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def postgres() -> Iterator[PostgresUnderTest]:
    backend = PostgresUnderTest()
    yield backend
    assert backend.store.verify() == []
    backend.close()


@pytest.fixture
def store(postgres: PostgresUnderTest) -> Store:
    return postgres.store


@pytest.mark.parametrize("text", TEXTS)
def test_output_of_an_attempt_is_stored_unchanged(store: Store, text: str) -> None:
    add(store)
    job = take(store)
    outcome = Succeeded(artifacts=(text,))
    done = store.exchange("w1", [Report(job.ref, outcome, stdout_tail=text, stderr_tail=None, log_path="logs/1")])
    assert done.accepted == (job.ref,)
    (attempt,) = store.jobs.history(job.id).attempts
    assert attempt.stdout_tail == text.replace("\x00", "\ufffd")
    assert attempt.stderr_tail is None
    assert attempt.artifacts == (text,)  # JSON writes NUL as an escape
    assert attempt.log_path == "logs/1"


def test_many_exchanges_use_one_connection(store: Store) -> None:
    for _ in range(3):
        add(store)
    job = take(store)
    for _ in range(2):
        done = store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN])
        assert done.accepted == (job.ref,)
        ((job,),) = done.batches
    last = store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN, PLAIN])
    assert (last.accepted, last.batches) == ((job.ref,), ((), ()))


def test_exchange_works_after_a_rollback_that_deallocated_its_statements(store: Store) -> None:
    for _ in range(3):
        add(store)
    job = take(store)
    ((job,),) = store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN]).batches
    with pytest.raises(ZeroDivisionError), store.database.write() as tx:
        tx.claim(PLAIN)
        raise ZeroDivisionError
    ((last,),) = store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN]).batches
    assert store.exchange("w1", [Report(last.ref, Succeeded())], [PLAIN]).accepted == (last.ref,)


def test_older_workers_statements_give_the_same_rows(postgres: PostgresUnderTest, store: Store) -> None:
    """Beside newer workers, they claim and complete without counting steps."""
    old, new = add(store), add(store)
    postgres.by_hand(
        "UPDATE jobs SET status = 'processing', worker_id = 'w1', started_at = created_at, attempt_no = attempt_no + 1,"
        " batch_id = id, lease_expires_at = created_at + interval '1 h' WHERE id = ?",
        old,
    )
    postgres.by_hand(
        "INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at)"
        " SELECT id, attempt_no, worker_id, started_at FROM jobs WHERE id = ?",
        old,
    )
    newer = take(store)
    assert newer.id == new
    postgres.by_hand(
        "WITH done AS (UPDATE jobs SET status = 'completed', completed_at = started_at, lease_expires_at = NULL,"
        " worker_id = NULL WHERE id = ? RETURNING id, completed_at),"
        " counted AS (INSERT INTO job_count_changes VALUES ('global', 'plain', 'completed', 1))"
        " UPDATE job_attempts a SET status = 'succeeded', finished_at = done.completed_at FROM done WHERE job_id = id",
        old,
    )
    store.exchange("w1", [Report(newer.ref, Succeeded())])
    assert postgres.by_hand("SELECT id, steps FROM jobs ORDER BY id") == [(old, 0), (new, 2)]
    rows = [
        (job.status, job.worker_id, job.attempt_no, job.lease_expires_at, [one.status for one in attempts])
        for job in (store.jobs.get(old), store.jobs.get(new))
        for attempts in [store.jobs.history(job.id).attempts]
    ]
    assert rows == [("completed", None, 1, None, ["succeeded"])] * 2


def test_dependent_added_during_a_turn_that_claims_is_released(postgres: PostgresUnderTest, store: Store) -> None:
    """The turn waits for the transaction that adds it."""
    parent = add(store)
    job = take(store)
    with psycopg.connect(postgres.url) as adding, ThreadPoolExecutor() as pool:
        adding.execute("SELECT 1 FROM jobs WHERE id = %s FOR SHARE", (parent,))
        child = adding.execute("INSERT INTO jobs (type, deps_left) VALUES ('plain', 1) RETURNING id").fetchone()
        assert child is not None
        adding.execute("INSERT INTO job_dependencies (parent_id, job_id) VALUES (%s, %s)", (parent, child[0]))
        turn = pool.submit(store.exchange, "w1", [Report(job.ref, Succeeded())], [PLAIN])
        wait_until(lambda: postgres.by_hand(WAITS) == [(1,)], 30, "the turn to wait for the lock")
        adding.commit()
        ((next_job,),) = turn.result(30).batches
    assert next_job.id == child[0]


def test_trigger_of_a_job_follows_its_source(postgres: PostgresUnderTest, store: Store) -> None:
    job = add(store, source="event", source_ref="trigger 7: tiles.published 1")
    assert store.jobs.get(job).trigger_id == 7
    postgres.by_hand("UPDATE jobs SET source_ref = 'trigger 8: tiles.published 1' WHERE id = ?", job)
    assert store.jobs.get(job).trigger_id == 8
    postgres.by_hand("UPDATE jobs SET trigger_id = 9 WHERE id = ?", job)
    assert store.jobs.get(job).trigger_id == 8
    postgres.by_hand("UPDATE jobs SET source = 'manual' WHERE id = ?", job)
    assert store.jobs.get(job).trigger_id is None


def test_read_leaves_statements_prepared(store: Store) -> None:
    add(store)
    job = take(store)
    store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN])
    database = store.database
    assert isinstance(database, PostgresDatabase)
    for _ in range(3):
        assert not database.may_have_work()
    with database.write() as tx:
        prepared = tx._handle.connection.execute("SELECT name FROM pg_prepared_statements").fetchall()
    assert [name for (name,) in prepared if name.startswith("gribmill_")]


@pytest.mark.parametrize("broken", ["claims/prepare", "claims/take_next"])
def test_refused_exchange_changes_nothing_and_the_next_one_works(
    store: Store, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    add(store)
    job = take(store)
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "statement", lambda name: "SELECT 1 / 0" if name == broken else statement(name))
        with pytest.raises(QueueError):
            store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN])
    assert store.jobs.get(job.id).status == "processing"
    assert store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN]).accepted == (job.ref,)


def test_single_round_trips_reconnect_when_the_idle_connection_was_closed(
    postgres: PostgresUnderTest, store: Store
) -> None:
    add(store)
    job = take(store)
    others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"

    def end_connections() -> None:
        postgres.by_hand(f"SELECT pg_terminate_backend(pid) {others}")
        wait_until(lambda: postgres.by_hand(f"SELECT count(*) {others}") == [(0,)], 30, "the server to end them")

    end_connections()
    assert store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN]).accepted == (job.ref,)
    end_connections()
    added = add(store)
    end_connections()
    assert take(store).id == added


def test_exchange_whose_connection_is_closed_fails_and_the_next_one_works(
    postgres: PostgresUnderTest, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store)
    job = take(store)
    with monkeypatch.context() as patch:
        # The lost connection is noticed only when the exchange is sent.
        patch.setattr(Handle, "_replace_if_lost", lambda _: None)
        postgres.by_hand(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND datname = current_database()"
        )
        with pytest.raises(QueueError):
            store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN])
    assert store.exchange("w1", [Report(job.ref, Succeeded())], [PLAIN]).accepted == (job.ref,)
