"""Executors that die in any way are replaced; each death costs its jobs one attempt."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

import pytest

from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.worker.executor import handle as child_module
from gribmill.queue.worker.executor import lane as lane_module
from gribmill.queue.worker.executor import pool as crew_module
from gribmill.queue.worker.executor.handle import ExecutorHandle
from tests.queue.worker.worker_driver import SteppedWorker, alive, attempts, enqueue, holding, statuses

pytestmark = pytest.mark.process


def open_files() -> int:
    """The open files of this process, after collecting garbage from earlier tests."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_death_of_an_executor_costs_one_attempt_and_the_next_one_succeeds(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker()
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    os.kill(worker.until(lambda: holding(path), "the job to run"), SIGKILL)
    path.touch()
    (job,) = worker.finish(job_id)
    assert (job.status, job.retry_count) == ("completed", 1)
    assert statuses(store, job_id) == ["failed", "succeeded"]
    lost, _ = attempts(store, job_id)
    assert (lost.exit_code, lost.error_text) == (-9, "the executor died during the job: signal 9 (SIGKILL)")


def test_death_is_noticed_though_a_forked_child_keeps_the_channel(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker()
    job, (run,) = worker.run("fork_and_die", path=str(tmp_path / "pid"), max_attempts=1)
    assert (job.status, run.exit_code) == ("failed", -9)
    forked = int((tmp_path / "pid").read_text())
    worker.until(lambda: not alive(forked), "the forked child to be gone")


def test_children_left_by_a_job_do_not_delay_its_end(new_worker: Callable[..., SteppedWorker]) -> None:
    worker = new_worker(max_jobs_per_executor=1)
    assert worker.run("fork_and_go_on")[0].status == "completed"
    assert worker.run("nothing")[0].status == "completed"


def test_executor_that_dies_at_startup_is_replaced_until_one_starts(
    new_worker: Callable[..., SteppedWorker], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(lane_module, "FIRST_RESPAWN_SECONDS", 0.01)
        patch.setattr(child_module, "EXECUTOR", "no.such.module")
        worker = new_worker()
        (lane,) = worker.supervisor.lanes
        worker.until(lambda: lane.deaths >= 4, "deaths")
    assert worker.run("nothing")[0].status == "completed"
    assert lane.deaths == 0, "a job that is done ends the slowness"


def test_the_wait_before_a_replacement_doubles_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    lane = lane_module.Lane("fetch", ("stunt",), 1)
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    waits = []
    for _ in range(12):
        lane.note_death()
        waits.append(round(lane.respawn_at - now, 3))
        assert not lane.may_spawn
    assert waits[:4] == [0.1, 0.2, 0.4, 0.8]
    assert waits[-1] == 30.0
    lane.note_success()
    lane.note_death()
    assert lane.respawn_at - now == pytest.approx(0.1)


def test_worker_waits_while_processes_cannot_be_started(
    new_worker: Callable[..., SteppedWorker],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(lane_module, "FIRST_RESPAWN_SECONDS", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(ExecutorHandle, "spawn", refuse)
        worker = new_worker()
        worker.until(lambda: worker.supervisor.lanes[0].deaths > 1, "failed starts")
    assert "cannot be started" in caplog.text
    assert worker.run("nothing")[0].status == "completed"


def test_executor_that_never_starts_is_replaced(
    new_worker: Callable[..., SteppedWorker], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(child_module, "START_SECONDS", 0.2)
        patch.setattr(child_module, "EXECUTOR", "tests.queue.worker.executor.never_ready")
        worker = new_worker()
    (hanging,) = worker.pids
    worker.until(lambda: worker.pids and hanging not in worker.pids, "another executor")
    assert not alive(hanging)
    assert worker.supervisor.lanes[0].deaths == 1


def test_a_dead_executor_does_not_make_a_draining_worker_spin(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker(lanes={"fetch": 2})
    path = tmp_path / "go"
    job_id = enqueue(store, "hold", path=str(path))
    busy = worker.until(lambda: holding(path), "the job to run")
    worker.ready()
    worker.supervisor.draining = True
    (idle,) = [pid for pid in worker.pids if pid != busy]
    os.kill(idle, SIGKILL)
    worker.until(lambda: worker.pids == [busy], "the idle one to be buried")
    worker.until(lambda: worker.supervisor.lanes[0].may_spawn, "the time when it would be replaced")
    assert worker.supervisor._wait_seconds() > 0
    path.touch()
    worker.finish(job_id)


def test_executor_that_does_not_read_does_not_block_the_worker(
    new_worker: Callable[..., SteppedWorker], store: Store
) -> None:
    worker = new_worker(lanes={"build": 1, "fetch": 1})
    worker.ready()
    build, _ = worker.pids
    os.kill(build, SIGSTOP)
    text = "x" * 60_000
    big = [store.jobs.enqueue(NewJob("group", {"group": "g", "n": n, "text": text})).id for n in range(12)]
    worker.until(lambda: all(worker.job(one).status == "processing" for one in big), "the batch to be handed out")
    assert worker.run("nothing")[0].status == "completed"
    assert worker.supervisor.lanes[0].executors[0].channel.clogged
    os.kill(build, SIGCONT)
    assert {job.status for job in worker.finish(*big)} == {"completed"}


def test_an_executor_is_replaced_after_its_maximum_of_jobs(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker(max_jobs_per_executor=3)
    pids = tmp_path / "pids"
    worker.ready()
    enqueue(store, "nothing", delay_seconds=3600)  # what the first announcement opens stays open
    before = open_files()
    worker.finish(*[enqueue(store, "note", path=str(pids)) for _ in range(6)])
    first, *rest = pids.read_text().split()
    assert rest[:2] == [first] * 2
    assert len(set(rest[2:])) == 1 and rest[2] != first
    assert worker.supervisor.lanes[0].deaths == 0
    worker.until(lambda: len(worker.pids) == 1 and not {int(first), int(rest[2])} & {*worker.pids}, "both to be gone")
    assert open_files() == before
    assert len(worker.supervisor._selector.get_map()) == 5  # wake-ups, signals, and one executor's three


def test_an_executor_that_has_grown_too_large_is_replaced_after_its_job(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "MEMORY_CHECK_SECONDS", 0.0)
    worker = new_worker(max_memory_mb=300)
    pids = tmp_path / "pids"
    for megabytes in (1, 400, 1):
        assert worker.run("eat", count=megabytes, path=str(pids))[0].status == "completed"
    first, second, third = pids.read_text().split()
    assert first == second != third
