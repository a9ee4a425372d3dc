"""Connections to PostgreSQL: timeouts, locks, crashes, reconnection and error messages."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from gribmill.database import postgres as postgres_package
from gribmill.database.postgres import PostgresDatabase
from gribmill.database.postgres.connection import connection_text
from gribmill.database.postgres.handle import Calls, Handle, NamedCalls
from gribmill.database.records import RawRows
from gribmill.queue.errors import StoreError, StoreUnreachable
from gribmill.queue.model import Worker
from gribmill.queue.store import Store
from gribmill.queue.store.base import retried
from tests.queue.store.crew import together
from tests.queue.store.store_driver import add, claim, take
from tests.queue.store.tested_backend import PostgresUnderTest
from tests.waiting import wait_until

pytestmark = pytest.mark.postgres

DIALECT = Path(postgres_package.__file__).parent
ADVISORY = re.compile(r"pg_(?:try_)?advisory_\w+")


@pytest.fixture
def postgres() -> Iterator[PostgresUnderTest]:
    backend = PostgresUnderTest()
    yield backend
    assert backend.store.verify() == []
    backend.close()


@pytest.fixture
def store(postgres: PostgresUnderTest) -> Store:
    return postgres.store


@pytest.mark.parametrize("lease_seconds", [1.0, 4.0, 60.0, 3600.0])
def test_a_dead_connection_is_noticed_within_a_third_of_the_lease(lease_seconds: float) -> None:
    given = psycopg.conninfo.conninfo_to_dict(connection_text("postgresql://db/x", lease_seconds))
    assert 0 < int(str(given["tcp_user_timeout"])) < lease_seconds * 1000 / 3
    assert str(given["keepalives"]) == "1"


def test_network_options_of_the_url_are_used() -> None:
    given = psycopg.conninfo.conninfo_to_dict(
        connection_text("postgresql://db/x?connect_timeout=3&sslmode=require", 60.0)
    )
    assert (given["connect_timeout"], given["sslmode"]) == ("3", "require")


@pytest.mark.parametrize("name", ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"])
def test_every_connection_has_timeouts(postgres: PostgresUnderTest, name: str) -> None:
    with PostgresDatabase(postgres.url).write() as tx:
        connection = tx._handle.connection
        assert connection.execute(f"SHOW {name}").fetchone() != ("0",)


def test_server_ends_the_transaction_of_a_silent_client(postgres: PostgresUnderTest) -> None:
    """The idle timeout applies after every kind of batch: a vanished client would otherwise keep its locks."""
    with pytest.raises(StoreUnreachable):
        with PostgresDatabase(postgres.url).write() as tx:
            connection = tx._handle.connection
            connection.execute("SET idle_in_transaction_session_timeout = '200ms'")
            tx.query(Worker, "workers/list")
            pid = connection.info.backend_pid
            assert connection.info.transaction_status is TransactionStatus.INTRANS
            ended = f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = {pid})"
            wait_until(lambda: postgres.by_hand(ended), 30, "the server to end the session")


def test_a_claim_survives_a_crash_of_the_server(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker continues after a crash or failover; a forgotten claim would be given to a second worker."""
    add(store)
    waited: list[bool] = []
    commit = Handle.commit

    def noted(handle: Handle, calls: Calls, *, lasting: bool) -> None:
        waited.append(lasting)
        commit(handle, calls, lasting=lasting)

    commit_all = Handle.commit_all

    def noted_all(handle: Handle, calls: NamedCalls) -> list[RawRows]:
        waited.append(not any("synchronous_commit" in text for text, _ in calls))
        return commit_all(handle, calls)

    monkeypatch.setattr(Handle, "commit", noted)
    monkeypatch.setattr(Handle, "commit_all", noted_all)
    take(store)
    assert waited == [True], "the commit waits for the disk, and for a synchronous standby"


def test_no_transaction_is_open_while_a_job_runs(postgres: PostgresUnderTest, store: Store) -> None:
    add(store)
    take(store)
    store.workers.heartbeat("w1", 60.0)
    store.jobs.list()
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    assert postgres.by_hand(open_ones) == [(0,)]


def test_claims_skip_rows_that_another_transaction_has_locked(postgres: PostgresUnderTest, store: Store) -> None:
    held, free = add(store), add(store)
    with psycopg.connect(postgres.url) as holder:
        holder.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (held,))
        assert take(store).id == free
        assert claim(store, "w2") == ()
    assert take(store).id == held


def test_advisory_locks_end_with_their_transaction(postgres: PostgresUnderTest, store: Store) -> None:
    """A session lock would stay on a connection that PgBouncer gives to another client."""
    texts = [file.read_text() for file in DIALECT.rglob("*") if file.suffix in (".sql", ".py")]
    found = {call for text in texts for call in ADVISORY.findall(text)}
    assert found and all("_xact_" in call for call in found), found
    add(store)
    take(store)
    store.reservations.reserve("me", 60.0)
    held = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
    assert postgres.by_hand(f"{held} WHERE l.locktype = 'advisory' AND d.datname = current_database()") == [(0,)]


def test_deadlock_ends_with_one_transaction_repeated(postgres: PostgresUnderTest, store: Store) -> None:
    """Only in PostgreSQL: SQLite's single writer cannot deadlock."""
    one, two = add(store, delay_seconds=100), add(store, delay_seconds=100)
    met = threading.Barrier(2)
    tries: list[int] = []

    @retried
    def touch(first: int, second: int) -> None:
        tries.append(first)
        with store.database.write() as tx:
            tx.change("jobs/run_now", {"job_id": first})
            if len(tries) <= 2:
                met.wait(60)
            tx.change("jobs/run_now", {"job_id": second})

    together(partial(touch, one, two), partial(touch, two, one))
    # A repeated transaction can take its first row before the other one wakes up, and deadlock once more.
    assert len(tries) >= 3, "one of them was rolled back by the server and began again"
    assert [store.jobs.get(job).next_run_at for job in (one, two)] == [None, None]


def test_cut_connection_is_reopened(postgres: PostgresUnderTest, store: Store) -> None:
    job = add(store)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    cut = f"SELECT pg_terminate_backend(pid) {others}"
    assert postgres.by_hand(cut)
    wait_until(lambda: postgres.by_hand(f"SELECT count(*) {others}") == [(0,)], 30, "the server to end the session")
    assert take(store).id == job
    postgres.by_hand(cut)
    assert store.jobs.get(job).status == "processing"


def test_unreachable_server_is_reported_without_the_password() -> None:
    with pytest.raises(StoreError) as error:
        PostgresDatabase("postgresql://mill:pa55word@127.0.0.1:1/gribmill")
    assert "cannot be reached" in str(error.value)
    assert "pa55word" not in str(error.value)


def test_a_database_that_does_not_exist_is_named(postgres: PostgresUnderTest) -> None:
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        PostgresDatabase(postgres.url.replace(postgres.url.split("/")[3].split("?")[0], "nowhere"))
