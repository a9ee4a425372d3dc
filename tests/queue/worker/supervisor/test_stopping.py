"""Timeouts, cancellations and drains stop the work and every process that it started."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGHUP, SIGTERM

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.store import Store
from tests.queue.store.sample_types import TYPES
from tests.queue.worker.worker_driver import SteppedWorker, Workers, alive, attempts, enqueue, holding, statuses
from tests.waiting import wait_until

pytestmark = pytest.mark.process

# A worker that is not scheduled for a lease stops its own jobs.
LEASE_SECONDS = 12.0


def written_pid(path: Path) -> int | None:
    return int(path.read_text()) if path.exists() else None


def test_a_job_over_its_timeout_is_killed_with_all_it_started(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker()
    job_id = enqueue(store, "stubborn", "once", path=str(tmp_path / "pid"))
    grandchild = worker.until(lambda: written_pid(tmp_path / "pid"), "the grandchild")
    (executor,) = worker.supervisor.pool.executors
    executor.deadline = time.monotonic()
    worker.until(lambda: executor.stop_reason, "TERM")
    assert worker.supervisor.pool.due() == [executor.kill_at], "the worker would spin until KILL"
    (job,) = worker.finish(job_id)
    (run,) = attempts(store, job_id)
    wait_until(lambda: not alive(grandchild), what="the grandchild that ignores TERM to be gone")
    assert (job.status, run.status, run.exit_code) == ("failed", "timeout", -9)
    assert run.error_text == "took longer than 600 s and was stopped"
    assert worker.run("nothing")[0].status == "completed"


def test_cancel_stops_the_process_at_once_and_not_at_the_next_heartbeat(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker(lease_seconds=3000.0, poll_seconds=60.0)
    job_id = enqueue(store, "stubborn", path=str(tmp_path / "pid"))
    grandchild = worker.until(lambda: written_pid(tmp_path / "pid"), "the grandchild")
    executor = worker.pids[0]
    assert store.jobs.cancel(job_id) == "requested"
    (job,) = worker.finish(job_id)
    assert job.status == "cancelled"
    assert statuses(store, job_id) == ["cancelled"]
    assert not alive(executor)
    wait_until(lambda: not alive(grandchild), what="the grandchild to be gone")


def test_siblings_of_a_cancelled_job_are_requeued_at_no_cost(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker(lanes={"build": 1})
    path = tmp_path / "go"
    done, cancelled, *others = [
        enqueue(store, do, "group", group="g", n=n, path=str(path)) for n, do in enumerate(["ok", "hold", "hold", "ok"])
    ]
    worker.until(lambda: holding(path) and store.jobs.get(done).status == "completed", "the batch to be under way")
    store.jobs.cancel(cancelled)
    worker.until(lambda: store.jobs.get(cancelled).status == "cancelled", "the cancelled one to end")
    path.touch()
    worker.finish(*others)
    for job_id in others:
        assert statuses(store, job_id) == ["snoozed", "succeeded"]
        assert store.jobs.get(job_id).retry_count == 0
    assert statuses(store, done) == ["succeeded"]
    assert statuses(store, cancelled) == ["cancelled"]


def test_a_drain_lets_a_job_end_that_takes_longer_than_the_lease(
    store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "go"
    held, waiting = [enqueue(store, "hold", path=str(path)) for _ in range(2)]
    worker = workers.start(database, lease_seconds=LEASE_SECONDS)
    wait_until(lambda: holding(path), what="the job to run")
    worker.signal(SIGTERM)
    wait_until(lambda: store.workers.list()[0].state == "draining", what="the worker to say that it drains")
    at_drain = store.jobs.get(held).lease_expires_at
    assert at_drain is not None

    def renewed() -> bool:
        lease = store.jobs.get(held).lease_expires_at
        return lease is not None and (lease - at_drain).total_seconds() > LEASE_SECONDS / 4

    wait_until(renewed, what="a heartbeat after the one that announced the drain")
    path.touch()
    assert worker.wait() == 0
    assert statuses(store, held) == ["succeeded"]
    assert statuses(store, waiting) == []
    assert [row.state for row in store.workers.list()] == ["stopped"]


def test_a_drain_that_takes_too_long_hands_running_jobs_back_at_no_cost(
    store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    worker = workers.start(database, drain_seconds=0.5)
    executor = wait_until(lambda: holding(path), what="the job to run")
    worker.signal(SIGTERM)
    assert worker.wait() == 0, "one signal is enough"
    assert not alive(executor)
    job = store.jobs.get(job_id)
    assert (job.status, job.retry_count, job.next_run_at) == ("pending", 0, None)
    assert statuses(store, job_id) == ["snoozed"]


def test_a_second_signal_hands_running_jobs_back_at_no_cost(
    store: Store, workers: Workers, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    worker = workers.start(database)
    executor = wait_until(lambda: holding(path), what="the job to run")
    worker.signal(SIGTERM)
    wait_until(lambda: store.workers.list()[0].state == "draining", what="the first signal to be heard")
    worker.signal(SIGTERM)
    assert worker.wait() == 0
    assert not alive(executor)
    job = store.jobs.get(job_id)
    assert (job.status, job.retry_count, job.next_run_at) == ("pending", 0, None)
    assert statuses(store, job_id) == ["snoozed"]
    assert attempts(store, job_id)[0].error_text == "the worker was stopped at once"


def test_hang_ups_drain_and_count_as_one_signal(store: Store, workers: Workers, database: Path, tmp_path: Path) -> None:
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    worker = workers.start(database, lease_seconds=LEASE_SECONDS)
    wait_until(lambda: holding(path), what="the job to run")
    for _ in range(2):  # one from the kernel, one from the shell
        worker.signal(SIGHUP)
        wait_until(lambda: store.workers.list()[0].state == "draining", what="the first signal to be heard")
    lease = store.jobs.get(job_id).lease_expires_at
    wait_until(lambda: store.jobs.get(job_id).lease_expires_at != lease, what="a heartbeat after the second")
    path.touch()
    assert worker.wait() == 0
    assert statuses(store, job_id) == ["succeeded"]


def test_a_worker_that_is_closed_hands_its_jobs_back(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    worker = new_worker()
    executor = worker.until(lambda: holding(path), "the job to run")
    worker.supervisor.close()
    assert not alive(executor)
    assert store.jobs.get(job_id).status == "pending"
    assert statuses(store, job_id) == ["snoozed"]
    assert store.workers.list()[0].state == "stopped"
    assert store.workers.list()[0].types, "a stopped worker's row still says what it ran"


def test_an_executor_that_does_not_end_when_it_retires_is_killed(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker(max_jobs_per_executor=1)
    pids = tmp_path / "pids"
    for _ in range(2):
        worker.run("never_exit", path=str(pids))
    first, second = [int(line) for line in pids.read_text().split()]
    assert first != second
    worker.until(lambda: not alive(first) and len(worker.pids) <= 2, "the first to be gone, and buried")


def test_a_worker_ends_with_a_sentence_when_its_queue_is_replaced(workers: Workers, tmp_path: Path) -> None:
    data = tmp_path / "weather"
    process = workers.gribmill("--data", str(data), "work")
    wait_until(lambda: "runs" in process.log, what="the worker")
    for file in data.glob("jobs.db*"):
        if file.is_file():
            file.rename(file.with_name(f"old-{file.name}"))
    assert process.wait() == 1
    assert "jobs.db was removed or replaced while it was in use" in process.log
    assert "Traceback" not in process.log


def test_a_worker_whose_log_is_removed_ends_and_writes_what_the_log_had(workers: Workers, tmp_path: Path) -> None:
    data = tmp_path / "weather"
    process = workers.gribmill("--data", str(data), "work")
    wait_until(lambda: "runs" in process.log, what="the worker")
    assert workers.gribmill("--data", str(data), "jobs", "enqueue", "sleep").wait() == 0
    wait_until(lambda: "job 1 succeeded" in process.log, what="the job")
    (data / "jobs.db-wal").unlink()
    assert process.wait() == 1
    assert "jobs.db-wal was removed while it was in use" in process.log
    assert "Traceback" not in process.log
    assert Store(SqliteDatabase(data / "jobs.db"), TYPES).jobs.get(1).status == "completed"
