"""Idle workers cost nothing and start at once: woken by enqueues, with polling as a fallback."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.store import Store
from tests.queue.worker.sample_types import TYPES
from tests.queue.worker.worker_driver import SteppedWorker, enqueue

pytestmark = pytest.mark.process

ENQUEUE = """
import sys
from pathlib import Path
from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.store import Store
from gribmill.queue.model import NewJob
from tests.queue.worker.sample_types import TYPES
print(Store(SqliteDatabase(Path(sys.argv[1])), TYPES).jobs.enqueue(NewJob("stunt", {"do": "nothing"})).id)
"""


class Counting:
    """A database that counts its calls."""

    def __init__(self, real: SqliteDatabase) -> None:
        self._real = real
        self.transactions = 0
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def read(self) -> Any:
        self.transactions += 1
        return self._real.read()

    def write(self) -> Any:
        self.transactions += 1
        return self._real.write()

    def may_have_work(self) -> bool:
        self.looks += 1
        return self._real.may_have_work()


def quiet(worker: SteppedWorker) -> None:
    """Wait until the worker is idle: nothing to read, no lane looking for work."""
    worker.ready()
    worker.until(lambda: not any(lane.wants_work for lane in worker.supervisor.lanes), "the worker to come to rest")
    worker.supervisor.run_once(0.0)


def test_an_enqueue_by_another_process_wakes_the_worker_without_any_poll(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path
) -> None:
    worker = new_worker(poll_seconds=60.0, lease_seconds=3000.0)
    quiet(worker)
    poll_at = worker.supervisor._next_poll
    command = [sys.executable, "-c", ENQUEUE, str(database)]
    job_id = int(subprocess.run(command, capture_output=True, check=True).stdout)
    # Waits exactly as `run` does: without the wake-up it would take until the next poll.
    while store.jobs.get(job_id).status != "completed":
        worker.supervisor.run_once(worker.supervisor._wait_seconds())
    assert worker.supervisor._next_poll == poll_at, "no poll was needed"


def test_manually_written_row_is_found_by_polling(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path
) -> None:
    worker = new_worker(poll_seconds=0.05)
    quiet(worker)
    with sqlite3.connect(database) as connection:
        connection.execute("""INSERT INTO jobs (type, args, priority) VALUES ('stunt', '{"do": "nothing"}', 5)""")
    connection.close()
    assert worker.finish(1)[0].status == "completed"


def test_manually_written_cancel_is_found_by_polling(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path, tmp_path: Path
) -> None:
    worker = new_worker(poll_seconds=0.05, lease_seconds=3000.0)
    job_id = enqueue(store, "hold", path=str(tmp_path / "never"))
    worker.until(lambda: store.jobs.get(job_id).status == "processing", "the job to run")
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE jobs SET cancel_requested_at = '2026-01-01 00:00:00.000'")
    connection.close()
    assert worker.finish(job_id)[0].status == "cancelled"


def test_a_delayed_job_starts_when_it_is_due_and_not_at_the_next_poll(
    new_worker: Callable[..., SteppedWorker], store: Store
) -> None:
    worker = new_worker(poll_seconds=60.0, lease_seconds=3000.0)
    quiet(worker)
    poll_at = worker.supervisor._next_poll
    job_id = enqueue(store, "nothing", delay_seconds=0.3)
    while store.jobs.get(job_id).status != "completed":
        worker.supervisor.run_once(worker.supervisor._wait_seconds())
    assert worker.supervisor._next_poll < poll_at + 60.0, "it looked before the poll was due"


def test_idle_worker_only_reads(database: Path) -> None:
    counting = Counting(SqliteDatabase(database))
    worker = SteppedWorker(Store(counting, TYPES), poll_seconds=0.1, lease_seconds=3000.0)
    quiet(worker)
    counting.transactions = counting.looks = 0
    rounds, begin = 0, time.monotonic()
    while (passed := time.monotonic() - begin) < 1.0:
        worker.supervisor.run_once(worker.supervisor._wait_seconds())
        rounds += 1
    polls = passed / 0.1 + 1
    assert counting.transactions == 0
    assert counting.looks <= polls, "one look per poll"
    assert rounds <= 2 * polls, "it sleeps in between"
    worker.supervisor.close()


def test_job_held_back_by_a_reservation_starts_when_it_expires(
    new_worker: Callable[..., SteppedWorker], store: Store
) -> None:
    worker = new_worker(lease_seconds=1.0, poll_seconds=60.0)
    quiet(worker)
    store.reservations.reserve("me", 0.5)
    job_id = enqueue(store, "nothing")
    assert worker.finish(job_id)[0].status == "completed"


def test_a_resumed_type_starts_at_once(new_worker: Callable[..., SteppedWorker], store: Store) -> None:
    worker = new_worker(lease_seconds=3000.0, poll_seconds=60.0)
    store.types.pause("stunt")
    job_id = enqueue(store, "nothing")
    quiet(worker)
    assert store.jobs.get(job_id).status == "pending"
    store.types.resume("stunt")
    assert worker.finish(job_id)[0].status == "completed"


@pytest.mark.postgres
@pytest.mark.parametrize("address", ["postgres"], indirect=True)
def test_notification_makes_only_an_idle_leader_claim_at_once(
    new_worker: Callable[..., SteppedWorker], store: Store
) -> None:
    """A notification reaches all workers on all hosts, and one of them has usually claimed the job already."""
    worker = new_worker(poll_seconds=60.0, lease_seconds=3000.0)
    quiet(worker)
    supervisor = worker.supervisor
    claims: list[bool] = []
    turn = supervisor.exchange.turn

    def noted(*args: Any, **options: Any) -> Any:
        claims.append(any(lane.wants_work for lane in supervisor.lanes))
        return turn(*args, **options)

    supervisor.exchange.turn = noted  # type: ignore[method-assign]
    supervisor._on_notification()
    supervisor.run_once(0.0)
    assert claims == [True]
    supervisor._triggers.leads = False
    claims.clear()
    supervisor._on_notification()
    assert supervisor._next_poll < time.monotonic() + 1.0
    worker.until(lambda: supervisor._next_poll > time.monotonic() + 1.0, "the look")
    assert not any(claims)
    job_id = enqueue(store, "nothing")
    supervisor._on_notification()
    worker.finish(job_id)
