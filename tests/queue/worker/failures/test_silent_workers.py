"""Workers that fall silent: others take over, and late reports change nothing."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP
from typing import Any

import pytest

from gribmill.database.sqlite import host_lock
from gribmill.database.sqlite.host_lock import HostLock
from gribmill.queue.errors import StoreBusy, StoreFull
from gribmill.queue.model import ClaimRequest
from gribmill.queue.store import Store
from gribmill.queue.worker import outage as outage_module
from tests.queue.backends import expire_leases
from tests.queue.worker.worker_driver import (
    SteppedWorker,
    Workers,
    alive,
    at_rest,
    attempts,
    enqueue,
    holding,
    is_stopped,
    statuses,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.process


def test_executors_die_with_a_killed_supervisor_and_another_worker_takes_over(
    new_worker: Callable[..., SteppedWorker], store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    doomed = workers.start(database)
    executor = wait_until(lambda: holding(path), what="the job to run")
    doomed.signal(SIGKILL)
    wait_until(lambda: not alive(executor), what="the executor to die with its supervisor")
    path.touch()
    (job,) = new_worker().finish(job_id)
    assert (job.status, job.retry_count) == ("completed", 1)
    assert statuses(store, job_id) == ["lost", "succeeded"]


def test_a_worker_that_was_stopped_past_its_lease_changes_nothing_when_it_wakes(
    new_worker: Callable[..., SteppedWorker], store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "go-1", tmp_path / "go-2"
    job_id = enqueue(store, "hold_attempt", path=str(tmp_path / "go"))
    zombie = workers.start(database)
    executor = wait_until(lambda: holding(first), what="the job to run")
    with locked(database):  # it must not stop in the middle of a write
        zombie.signal(SIGSTOP)
        wait_until(lambda: is_stopped(zombie.pid), what="the worker to stop")
    expire_leases(database)
    assert store.maintenance.recover().requeued == (job_id,)
    other = new_worker(lease_seconds=3000.0)
    other.until(lambda: holding(second), "another worker to run it again")
    before = attempts(store, job_id)
    first.touch()
    wait_until(lambda: at_rest(executor), what="the zombie's executor to have said that it is done")
    zombie.signal(SIGCONT)
    other.until(lambda: "no longer ours" in zombie.log or "taken from us" in zombie.log, "the zombie to notice")
    assert attempts(store, job_id) == before
    assert store.jobs.get(job_id).worker_id == other.supervisor.worker_id
    second.touch()
    assert other.finish(job_id)[0].status == "completed"
    assert statuses(store, job_id) == ["lost", "succeeded"]
    other.supervisor.close()
    next_job = enqueue(store, "nothing")
    wait_until(lambda: store.jobs.get(next_job).status == "completed", what="the former zombie to work again")


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Hold the write lock, like a process stopped in the middle of a write."""
    with database.with_name(database.name + ".lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_worker_that_cannot_write_stops_its_own_jobs_before_their_leases_end(
    store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    worker = workers.start(database, lease_seconds=6.0)
    executor = wait_until(lambda: holding(path), what="the job to run")
    with locked(database):
        wait_until(lambda: not alive(executor), what="the worker to stop its own executor")
        assert store.jobs.get(job_id).status == "processing", "it relied on its own clock alone"
    # The executor dies before its end is logged.
    silence = wait_until(lambda: re.search(r"no heartbeat for ([0-9.]+) s", worker.log), what="the reason in the log")
    assert float(silence[1]) < 6.0, "sooner than the lease ends"
    path.touch()
    wait_until(lambda: store.jobs.get(job_id).status == "completed", what="the job to run again")
    first = attempts(store, job_id)[0]
    assert first.status in ("failed", "lost")


HOLD_THE_LOCK = """
import os, signal, sys
from pathlib import Path
from gribmill.database.sqlite.host_lock import HostLock
lock = HostLock(Path(sys.argv[1]))
lock.acquire()
os.kill(os.getpid(), signal.SIGSTOP)
lock.release()
"""


@contextmanager
def frozen_writer(database: Path) -> Iterator[int]:
    """The pid of a process stopped in the middle of a write; it is continued at the end."""
    lock = str(database.with_name(database.name + ".lock"))
    process = subprocess.Popen([sys.executable, "-c", HOLD_THE_LOCK, lock])
    try:
        os.waitpid(process.pid, os.WUNTRACED)
        yield process.pid
    finally:
        process.send_signal(SIGCONT)
        process.wait(60)


def test_error_of_a_timed_out_writer_names_the_stopped_process(database: Path, store: Store) -> None:
    with frozen_writer(database) as pid:
        lock = HostLock(database.with_name(database.name + ".lock"))
        with pytest.raises(StoreBusy, match=rf"by process {pid} .* is stopped: continue it with `kill -CONT {pid}`"):
            lock.acquire(0.1)
        lock.close()


def test_waiting_writer_names_the_holder(
    database: Path, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(host_lock, "NAME_HOLDER_SECONDS", 0.1)
    lock = HostLock(database.with_name(database.name + ".lock"))
    with frozen_writer(database) as pid:
        with pytest.raises(StoreBusy):
            lock.acquire(0.2)
    lock.close()
    assert f"held by process {pid} " in caplog.text


def test_jobs_continue_while_a_stopped_process_blocks_every_writer(
    store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    """No other worker can take the jobs over, so stopping them would waste an attempt."""
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    healthy = [workers.start(database, lease_seconds=12.0, turn_seconds=60.0) for _ in range(2)]
    executor = wait_until(lambda: holding(path), what="the job to run")
    with frozen_writer(database):
        expired = store.jobs.get(job_id).lease_expires_at
        assert expired is not None
        wait_until(lambda: datetime.now(UTC) > expired + timedelta(seconds=1), what="its lease to be long over")
        assert alive(executor)
    path.touch()
    wait_until(lambda: store.jobs.get(job_id).status == "completed", what="the job to end")
    assert statuses(store, job_id) == ["succeeded"]
    assert not [worker for worker in healthy if "stopped 1 executors" in worker.log]


class Outage:
    """Makes chosen operations of a store fail while it is active."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self.on = False
        self.refused = 0
        for name in names:
            facet = store.workers if name == "heartbeat" else store
            monkeypatch.setattr(facet, name, self._wrap(getattr(facet, name)))

    def _wrap(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if self.on:
                self.refused += 1
                raise StoreFull("no space is left for the queue")
            return real(*args, **options)

        return call


def test_results_are_kept_while_the_store_is_full_and_delivered_once(
    new_worker: Callable[..., SteppedWorker],
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(outage_module, "STORE_RETRY_SECONDS", 0.05)
    outage = Outage(store, monkeypatch, "exchange", "heartbeat", "claim_siblings")
    worker = new_worker(lanes={"fetch": 2}, poll_seconds=60.0)
    paths = [tmp_path / "good", tmp_path / "dies"]
    good, dies = [enqueue(store, "hold", path=str(path)) for path in paths]
    worker.until(lambda: all(holding(path) for path in paths), "both jobs to run")
    outage.on = True
    paths[0].touch()
    worker.until(lambda: worker.supervisor.exchange.unsent, "a result that cannot be stored")
    victims = {holding(path) or 0 for path in paths}
    for pid in victims:
        os.kill(pid, SIGKILL)  # one has reported, the other has not
    worker.until(lambda: outage.refused > 5 and not victims & {*worker.pids}, "refusals, and two burials")
    assert caplog.text.count("no space is left") == 1, "not at every try"
    assert [report.ref.job_id for report in worker.supervisor.exchange.unsent] == [good, dies]
    assert [store.jobs.get(one).status for one in (good, dies)] == ["processing"] * 2
    paths[1].touch()
    outage.on = False
    worker.finish(good, dies)
    assert statuses(store, good) == ["succeeded"]
    assert statuses(store, dies) == ["failed", "succeeded"]
    assert worker.supervisor.pool.ending == {}
    outage.on = True
    enqueue(store, "nothing")
    worker.until(lambda: outage.refused > 8, "refused claims")
    outage.on = False
    worker.finish(3)  # though nothing wakes it


def test_full_store_is_retried_only_after_a_pause(
    new_worker: Callable[..., SteppedWorker], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = new_worker()
    worker.ready()
    outage = Outage(store, monkeypatch, "exchange")
    outage.on = True
    enqueue(store, "nothing")
    worker.until(lambda: outage.refused, "a refusal")
    assert worker.supervisor._wait_seconds() > 0
    for _ in range(20):
        worker.supervisor.run_once(0.0)
    assert outage.refused == 1
    outage.on = False


def test_a_claim_whose_answer_was_lost_is_handed_back(new_worker: Callable[..., SteppedWorker], store: Store) -> None:
    worker = new_worker(lease_seconds=3.0)
    job_id = enqueue(store, "nothing", delay_seconds=0.0)
    store.claim(ClaimRequest(worker.supervisor.worker_id, ("stunt",), lease_seconds=3600.0))
    worker.finish(job_id)
    assert statuses(store, job_id) == ["snoozed", "succeeded"]
    assert store.jobs.get(job_id).retry_count == 0


def test_a_second_signal_ends_a_worker_even_if_the_store_is_locked(
    new_worker: Callable[..., SteppedWorker], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(store, monkeypatch, "exchange", "heartbeat")
    worker = new_worker()
    worker.ready()
    job_id = enqueue(store, "nothing")
    worker.until(
        lambda: any(executor.batch for executor in worker.supervisor.pool.executors), "the job to be handed out"
    )
    outage.on = True
    worker.until(lambda: worker.supervisor.exchange.unsent, "a result that cannot be stored")
    worker.supervisor._signals.count = 1
    worker.supervisor.run_once()
    assert not worker.supervisor.finished
    worker.supervisor._signals.count = 2
    worker.until(lambda: worker.supervisor.finished, "the end", seconds=30.0)
    outage.on = False
    assert store.jobs.get(job_id).status == "processing"


def test_a_stopping_worker_ends_with_its_leases_even_if_the_store_stays_full(
    new_worker: Callable[..., SteppedWorker], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(store, monkeypatch, "exchange", "heartbeat")
    worker = new_worker(lease_seconds=1.0)
    worker.ready()
    job_id = enqueue(store, "nothing")
    worker.until(
        lambda: any(executor.batch for executor in worker.supervisor.pool.executors), "the job to be handed out"
    )
    outage.on = True
    worker.until(lambda: worker.supervisor.exchange.unsent, "a result that cannot be stored")
    worker.supervisor._signals.count = 1
    worker.until(lambda: worker.supervisor.finished, "the end", seconds=30.0)
    outage.on = False
    assert store.jobs.get(job_id).status == "processing"
