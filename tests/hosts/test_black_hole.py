"""A database or a host that vanishes silently: packets disappear, and the other side is not notified."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from gribmill.queue.model import NewJob
from tests.hosts.cluster import CHECKOUT, LEASE_SECONDS, Cluster, host_environment
from tests.hosts.silent_session import CONNECTED, LOCK, LOST
from tests.hosts.test_cut_off import BACK, REFUSED, STOPPED_ITSELF, attempts_of, wait_for_line
from tests.servers.network import Host
from tests.servers.postgres import PostgresServer
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres]

PATIENT = "?tcp_user_timeout=0&keepalives=0"
"""What libpq does by default: it waits for TCP to give up, which takes a quarter of an hour."""
Session = Callable[[], str]
"""What a session has said."""


@pytest.fixture
def start(hosts: dict[str, Host], database_server: PostgresServer, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Start a session on the first worker host, and wait until it is connected."""
    host = hosts["worker1"]

    def start(act: str, options: str = "") -> Session:
        output = tmp_path / f"{act}{len(options)}.txt"
        words = (database_server.network_url() + options, LEASE_SECONDS, act)
        environment = {**host_environment(), "PYTHONPATH": str(CHECKOUT)}
        host.start(sys.executable, "-m", "tests.hosts.silent_session", *words, output=output, environment=environment)
        wait_until(lambda: CONNECTED in output.read_text(), what=f"the session: {output.read_text()}")
        return output.read_text

    yield start
    host.close()


def test_connection_to_a_vanished_database_times_out_while_the_default_hangs(
    hosts: dict[str, Host], start: Callable[..., Session]
) -> None:
    asking, waiting, patient = start("asks"), start("waits"), start("asks", PATIENT)
    hosts["database"].cut_off()
    try:
        wait_until(lambda: LOST in asking(), what="what was sent and not acknowledged to be given up")
        wait_until(lambda: LOST in waiting(), what="the answer that does not come to be given up")
        assert LOST not in patient()
    finally:
        hosts["database"].reconnect()


def test_server_frees_the_locks_of_a_vanished_host(
    hosts: dict[str, Host], database_server: PostgresServer, start: Callable[..., Session]
) -> None:
    start("holds")
    with psycopg.connect(database_server.url(), autocommit=True) as connection:

        def is_free() -> bool:
            row = connection.execute(f"SELECT pg_try_advisory_lock({LOCK})".encode()).fetchone()
            return row == (True,)

        assert not is_free()
        hosts["worker1"].cut_off()
        try:
            wait_until(is_free, what="the server to end the session")
        finally:
            hosts["worker1"].reconnect()


def test_worker_reports_a_vanished_and_restarted_database_once_and_loses_nothing(cluster: Cluster) -> None:
    """Its connection is half-open: the restarted server does not know it."""
    worker, database = cluster.workers[0], cluster.hosts["database"]
    cluster.start(worker, "work")
    wait_until(cluster.store.workers.list, what="the worker")
    made = cluster.store.jobs.enqueue(NewJob("sleep", {"seconds": LEASE_SECONDS * 2.5}))
    wait_until(lambda: cluster.store.jobs.get(made.id).status == "processing", what="the job to start")

    database.cut_off()
    try:
        cluster.server.stop("immediate")
        cluster.server.start()
        wait_for_line(cluster, worker, STOPPED_ITSELF)
        wait_until(lambda: len(cluster.store.maintenance.recover()), what="the lease to end, for whoever still can see")
    finally:
        database.reconnect()

    wait_for_line(cluster, worker, BACK)
    wait_until(lambda: cluster.store.jobs.get(made.id).status == "completed", 60, "the job to be done again")
    first, *_, last = attempts_of(cluster, made.id)
    assert (first.status, last.status) == ("lost", "succeeded")
    said = cluster.said(worker)
    assert said.count("trying again every") == 1, said
    assert said.count(BACK) == 1 and REFUSED in said
    assert cluster.store.verify() == []
