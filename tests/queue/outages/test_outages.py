"""A server is down, read-only or full for a while: one log line reports it, and no job is lost or completed twice."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from gribmill.queue.errors import StoreError, StoreReadOnly
from gribmill.queue.store import Store
from tests.queue.backends import make_tables, open_address
from tests.queue.outages.outage_log import OutageLog
from tests.queue.sample_effects import SampleEffects
from tests.queue.worker.random_kills import OPTIONS, any_left, ended, fill, reckon, wait_for_all
from tests.queue.worker.sample_types import TYPES
from tests.queue.worker.worker_driver import Process, Workers, alive, enqueue, holding, statuses
from tests.servers.own_postgres import own_postgres
from tests.servers.postgres import PostgresServer
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres, pytest.mark.timeout(900)]

CHATTY = {**OPTIONS, "log_level": "info"}


def by_hand(server: PostgresServer, *statements: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def read_only(server: PostgresServer) -> Iterator[None]:
    """Make the server read-only, as when it is demoted to a standby."""
    by_hand(server, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
    try:
        yield
    finally:
        off = ("SET default_transaction_read_only = off", "ALTER SYSTEM RESET default_transaction_read_only")
        by_hand(server, *off, "SELECT pg_reload_conf()")


def wait_for_outage(worker: Process, words: str) -> None:
    wait_until(
        lambda: any(words in text for text in OutageLog.of(worker).of_store()), what=f"{words!r}: {worker.log[-2000:]}"
    )


def wait_for_end_of_outage(worker: Process) -> None:
    wait_until(lambda: OutageLog.of(worker).seconds, what=f"the end of the outage: {worker.log[-2000:]}")


def test_restart_of_the_server_is_reported_once_with_its_length(
    server: PostgresServer, store: Store, workers: Workers, tmp_path: Path
) -> None:
    worker = workers.start(server.url(), **CHATTY)
    ids = fill(store, 600, tmp_path / "marks")
    wait_until(lambda: ended(store) > 50, what="some jobs to end")
    server.stop("fast")
    wait_for_outage(worker, "cannot be reached")
    server.start()
    wait_for_end_of_outage(worker)
    wait_for_all(store, 120)
    figures = reckon(store, ids, tmp_path / "marks")
    log = OutageLog.of(worker)
    assert len(log.of_store()) == 1, log.errors
    assert len(log.seconds) == 1
    print(figures, "outage", log.seconds)


def test_server_read_only_for_longer_than_a_lease_stops_jobs_at_no_cost(
    server: PostgresServer, store: Store, workers: Workers, tmp_path: Path
) -> None:
    worker = workers.start(server.url(), **CHATTY)
    gate = tmp_path / "gate"
    job = enqueue(store, "hold_attempt", path=str(gate), max_attempts=3)
    (first := tmp_path / "gate-2").touch()  # the second attempt need not wait
    pid = wait_until(lambda: holding(tmp_path / "gate-1"), what="the job to start")
    with read_only(server):
        wait_for_outage(worker, "is read-only")
        wait_until(lambda: not alive(pid), what="the worker to stop its own executor")
        with pytest.raises(StoreReadOnly, match="the server is read-only"):
            enqueue(store, "mark", path=str(first))
        assert store.jobs.get(job).status == "processing", "what is there can still be read"
    wait_for_end_of_outage(worker)
    wait_for_all(store, 60)
    assert statuses(store, job)[-1] == "succeeded" and statuses(store, job).count("succeeded") == 1
    log = OutageLog.of(worker)
    assert len([text for text in log.of_store() if "read-only" in text]) == 1, log.errors
    assert any("stopped 1 executors of our own" in text for text in log.errors)


SMALL = {"min_wal_size": "'32MB'", "max_wal_size": "'48MB'", "shared_buffers": "'16MB'"}


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 160 MB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = Path(tempfile.mkdtemp(prefix="gribmill-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(place)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        place.rmdir()
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
    try:
        (place / "home").mkdir()
        yield place / "home"
    finally:
        subprocess.run(["umount", "-l", place], check=True)
        place.rmdir()


def fill_disk(folder: Path) -> Path:
    """Write a file that fills the disk."""
    path = folder.parent / "ballast"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return path


def test_server_without_disk_space_costs_nothing(small_disk: Path, workers: Workers, tmp_path: Path) -> None:
    with own_postgres(small_disk, SMALL) as server:
        make_tables(server.url())
        store = Store(open_address(server.url()), TYPES, SampleEffects())
        worker = workers.start(server.url(), **CHATTY)
        marks = tmp_path / "marks"
        ids = fill(store, 600, marks)
        wait_until(lambda: ended(store) > 50, what="some jobs to end")
        ballast = fill_disk(small_disk)

        def refused() -> bool:
            """Enqueue some more jobs; True once the server refuses them."""
            try:
                ids.extend(fill(store, 300, marks))
            except StoreError:
                return True
            return False

        wait_until(refused, what="the disk to be full")
        wait_until(lambda: OutageLog.of(worker).of_store(), what="the worker to say so")
        ballast.unlink()
        if not server.running:  # it could not even write its WAL
            server.start()
        wait_until(lambda: _answers(server), what="the server")
        wait_for_end_of_outage(worker)
        wait_for_all(store, 180)
        figures = reckon(store, ids, marks)
        assert figures["jobs"] == len(ids) and not any_left(store), "every job that was accepted has ended"
        log = OutageLog.of(worker)
        assert log.of_store() and log.seconds, "the outage and its end are in the log"
        print(figures, log)
        store.close()


def _answers(server: PostgresServer) -> bool:
    try:
        psycopg.connect(server.url(), connect_timeout=5).close()
    except psycopg.Error:
        return False
    return True
