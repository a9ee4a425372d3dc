"""A URL with several servers: when the primary fails, workers continue on the promoted standby."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from gribmill.queue.errors import StoreReadOnly
from gribmill.queue.store import Store
from tests.queue.backends import make_tables, open_address
from tests.queue.outages.outage_log import OutageLog
from tests.queue.sample_effects import SampleEffects
from tests.queue.worker.random_kills import OPTIONS, ended, fill, reckon, wait_for_all
from tests.queue.worker.sample_types import TYPES
from tests.queue.worker.worker_driver import Workers, enqueue
from tests.servers.own_postgres import end_server, own_postgres
from tests.servers.postgres import PostgresServer, make_home
from tests.servers.this_run import RUN_PID
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres, pytest.mark.timeout(900)]

SENDING = {"wal_level": "replica", "max_wal_senders": "5"}
IS_IN_STEP = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"


@pytest.fixture
def pair() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A primary and a synchronous standby."""
    with own_postgres(settings=SENDING) as primary:
        make_tables(primary.url())
        standby = PostgresServer(make_home(RUN_PID))
        try:
            standby.copy_from(primary)
            standby.start()
            with psycopg.connect(primary.url(), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                connection.execute("SELECT pg_reload_conf()")
                wait_until(lambda: connection.execute(IS_IN_STEP).fetchone() == (1,), what="the standby to be in step")
            yield primary, standby
        finally:
            end_server(standby)


def test_workers_follow_the_server_that_was_promoted(
    pair: tuple[PostgresServer, PostgresServer], workers: Workers, tmp_path: Path
) -> None:
    primary, standby = pair
    url = f"postgresql://postgres@/postgres?host={primary.home},{standby.home}"
    store = Store(open_address(url), TYPES, SampleEffects())
    team = [workers.start(url, **{**OPTIONS, "log_level": "info"}) for _ in range(2)]
    marks = tmp_path / "marks"
    ids = fill(store, 900, marks)
    wait_until(lambda: ended(store) > 50, what="some jobs to end")
    # A worker that has not registered yet cannot start without its server, and exits with the reason.
    wait_until(lambda: all(" runs " in worker.log for worker in team), what="both workers to run")

    primary.stop("immediate")
    wait_until(lambda: all(OutageLog.of(worker).of_store() for worker in team), what="the outage to be reported")
    with pytest.raises(StoreReadOnly, match="none of the servers can be written"):
        enqueue(store, "mark", path=str(marks))
    standby.promote()

    wait_until(lambda: all(OutageLog.of(worker).seconds for worker in team), what="the end of the outage")
    ids += fill(store, 30, marks)
    wait_for_all(store, 120)
    figures = reckon(store, ids, marks)
    print(figures, "outages", [OutageLog.of(worker).seconds for worker in team])
    for worker in team:
        assert len(OutageLog.of(worker).of_store()) <= 2, "one line for each thing that was wrong"
    store.close()


def test_worker_leaves_a_read_only_server_for_the_writable_one(
    pair: tuple[PostgresServer, PostgresServer],
) -> None:
    """The old primary still answers: an open connection to it must not be kept."""
    primary, standby = pair
    store = Store(
        open_address(f"postgresql://postgres@/postgres?host={primary.home},{standby.home}"), TYPES, SampleEffects()
    )
    with psycopg.connect(primary.url(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: connection.execute("SHOW default_transaction_read_only").fetchone() == ("on",))
    standby.promote()
    with pytest.raises(StoreReadOnly):
        wait_until(lambda: enqueue(store, "mark", path="unused") and None, 10)
    made = enqueue(store, "mark", path="unused")
    with psycopg.connect(standby.url()) as connection:
        assert connection.execute("SELECT count(*) FROM jobs WHERE id = %s", (made,)).fetchone() == (1,)
    store.close()
