"""Jobs run in lanes, in batches and within limits, and the worker logs what it does."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from gribmill.logs import JOB_FIELDS, fields_of
from gribmill.queue.job_type import Registry
from gribmill.queue.model import ClaimRequest, NewJob, NewTenant
from gribmill.queue.sleep import SLEEP
from gribmill.queue.store import Store
from gribmill.queue.store.types.definitions import NewDefinition
from gribmill.queue.worker.in_process import Ticker
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from tests.queue.backends import open_address
from tests.queue.worker.sample_types import TYPES_PATH
from tests.queue.worker.worker_driver import SteppedWorker, attempts, enqueue, holding, statuses

pytestmark = pytest.mark.process


def test_each_lane_runs_its_own_types_side_by_side(shared_worker: SteppedWorker, tmp_path: Path) -> None:
    worker, store = shared_worker, shared_worker.store
    path = tmp_path / "go"
    slow = enqueue(store, "hold", path=str(path))
    worker.until(lambda: holding(path), "the slow job")
    quick = [enqueue(store, "nothing", "other_lane") for _ in range(5)]
    assert {job.status for job in worker.finish(*quick)} == {"completed"}
    assert store.jobs.get(slow).status == "processing"
    (row,) = store.workers.list()
    assert row.state == "active"
    assert {"stunt", "other_lane"} <= set(row.types)
    path.touch()
    worker.finish(slow)


def test_a_worker_claims_only_its_configured_types(new_worker: Callable[..., SteppedWorker], store: Store) -> None:
    other = enqueue(store, "nothing", priority=9)
    mine = enqueue(store, "nothing", "limited")
    worker = new_worker(only_types=("limited",), until="drained")
    worker.until(lambda: worker.supervisor.finished, "the drain")
    assert store.jobs.get(mine).status == "completed"
    assert store.jobs.get(other).status == "pending"


def test_a_worker_of_one_type_runs_no_others_after_that_type_was_removed(address: str) -> None:
    store = Store(open_address(address), Registry(SLEEP, command_handler="no_module:no_handler"))
    store.definitions.add(NewDefinition("own", {"argv": ["gribmill", "--version"]}))
    options = WorkerOptions(types_path=TYPES_PATH, lanes={"command": 1, SLEEP.lane: 1}, only_types=("own",))
    supervisor = Supervisor(store, options)
    store.definitions.remove("own")
    supervisor._follow_definitions()
    assert [(lane.name, lane.types) for lane in supervisor.lanes] == [("command", ())]
    supervisor.close()
    store.close()


def test_a_drain_ends_when_no_job_is_ready_without_waiting_for_a_poll(
    new_worker: Callable[..., SteppedWorker], store: Store
) -> None:
    jobs = [enqueue(store, "nothing", kind) for kind in ("stunt", "other_lane") * 3]
    follow = enqueue(store, "then_and_also")
    later = enqueue(store, "nothing", delay_seconds=3600)
    worker = new_worker(lanes={"fetch": 1, "build": 1}, until="drained", poll_seconds=60.0)
    while not worker.supervisor.finished:
        worker.supervisor.run_once(worker.supervisor._wait_seconds())
    assert {store.jobs.get(one).status for one in [*jobs, follow]} == {"completed"}
    assert store.jobs.get(later).status == "pending"
    assert {job.status for job in store.jobs.list().jobs if job.id != later} == {"completed"}


def test_once_runs_one_batch_and_ends(new_worker: Callable[..., SteppedWorker], store: Store) -> None:
    batch = [enqueue(store, "ok", "group", group="g", n=n) for n in range(3)]
    single = enqueue(store, "nothing")
    worker = new_worker(lanes={"fetch": 1, "build": 1}, until="once", only_types=("group", "stunt"))
    worker.until(lambda: worker.supervisor.finished, "one batch")
    ended = {one for one in [*batch, single] if store.jobs.get(one).status == "completed"}
    assert ended in ({*batch}, {single})
    assert worker.supervisor.started_jobs == len(ended)


def test_once_ends_when_no_job_is_ready(new_worker: Callable[..., SteppedWorker]) -> None:
    worker = new_worker(until="once")
    worker.until(lambda: worker.supervisor.finished, "the end")
    assert worker.supervisor.started_jobs == 0


def test_every_job_of_a_batch_ends_on_its_own_as_soon_as_it_is_done(
    shared_worker: SteppedWorker, tmp_path: Path
) -> None:
    worker, store = shared_worker, shared_worker.store
    path = tmp_path / "go"
    doing = ["ok", "fail", "hold", "ok", "silent", "ok"]
    ids = [enqueue(store, do, "group", group="g", n=n, path=str(path), max_attempts=1) for n, do in enumerate(doing)]
    enqueue(store, "ok", "group", group="other", n=9)
    worker.until(lambda: holding(path), "the third to hold")
    worker.until(lambda: store.jobs.get(ids[1]).completed_at, "the second to end")
    assert [store.jobs.get(one).status for one in ids] == ["completed", "failed", *["processing"] * 4]
    assert {store.jobs.get(one).batch_id for one in ids} == {ids[0]}
    path.touch()
    worker.finish(*ids)
    assert [store.jobs.get(one).status for one in ids] == [
        "completed", "failed", "completed", "completed", "failed", "failed",
    ]  # fmt: skip
    assert store.jobs.get(ids[1]).error_message == "this one is bad"
    assert "returned without reporting this job" in (store.jobs.get(ids[4]).error_message or "")
    assert attempts(store, ids[3])[0].stdout_tail == "made 0\nmade 3\n", "siblings share one output"


def test_siblings_that_arrive_meanwhile_join_the_batch(shared_worker: SteppedWorker, tmp_path: Path) -> None:
    worker, store = shared_worker, shared_worker.store
    path = tmp_path / "go"
    head = enqueue(store, "top_up", "group", group="g", n=0, path=str(path))
    worker.until(lambda: holding(path), "the head to run")
    late = [enqueue(store, "ok", "group", group="g", n=n) for n in range(1, 20)]
    stranger = enqueue(store, "ok", "group", group="h", n=0)
    path.touch()
    worker.finish(head, *late, stranger)
    assert attempts(store, head)[0].artifacts == ("12 more",), "no more at once than the type allows"
    topped_up = [one for one in late if attempts(store, one)[0].artifacts == ("topped up",)]
    assert topped_up == late[:12]
    assert {store.jobs.get(one).batch_id for one in topped_up} == {head}


def test_a_limited_type_never_exceeds_its_limit_and_is_not_starved(
    new_worker: Callable[..., SteppedWorker], store: Store, tmp_path: Path
) -> None:
    worker = new_worker(lanes={"fetch": 2}, poll_seconds=60.0)
    path = tmp_path / "go"
    ids = [enqueue(store, "hold", "limited", path=str(path)) for _ in range(4)]
    worker.until(lambda: holding(path), "the first")
    worker.ready()
    assert worker.run("nothing")[0].status == "completed"
    assert [store.jobs.get(one).status for one in ids] == ["processing", "pending", "pending", "pending"]
    path.touch()
    worker.finish(*ids)


def test_rows_inserted_without_validation_are_validated_before_they_run(shared_worker: SteppedWorker) -> None:
    store = shared_worker.store
    connection = sqlite3.connect(store.database.path)  # type: ignore[attr-defined]
    ids = []
    with connection:
        for args in ('{"do": 7}', '{"surprise": 1}', "[]", '{"do": "' + "x" * 20_000_000 + '"}'):
            row = connection.execute("INSERT INTO jobs (type, args) VALUES ('stunt', ?) RETURNING id", (args,))
            ids += row.fetchone()
    connection.close()
    before = shared_worker.supervisor.finished_jobs
    shared_worker.until(lambda: shared_worker.supervisor.finished_jobs == before + 4, "all four to end")
    for job in map(store.jobs.get, ids):
        assert (job.status, job.dead_lettered_at) == ("failed", None)
        assert (job.error_message or "").startswith("stunt: ")


def test_every_line_of_a_job_carries_its_five_fields(
    shared_worker: SteppedWorker, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG, "gribmill")
    worker, store = shared_worker, shared_worker.store
    store.tenants.add(NewTenant("acme"))
    doing = ["nothing", "nonsense", "die", "then_unknown"]
    jobs = [NewJob("stunt", {"do": do}, tenant_id="acme", max_attempts=1) for do in doing]
    worker.finish(*[made.id for made in store.jobs.enqueue_many(jobs)])
    lines = [record for record in caplog.records if record.getMessage().startswith(("job ", "the result of job "))]
    assert len(lines) >= 9
    for record in lines:
        fields = fields_of(record)
        assert set(JOB_FIELDS) <= fields.keys(), record.getMessage()
        assert (fields["type"], fields["tenant_id"]) == ("stunt", "acme")
        assert fields["worker_id"] == worker.supervisor.worker_id


def test_a_tick_runs_at_most_n_jobs_and_reports_each(store: Store) -> None:
    ids = [enqueue(store, "nothing") for _ in range(3)]
    bad = enqueue(store, "then_unknown", priority=5)
    exits = enqueue(store, "exit", "slow_to_retry", priority=4, count=3)
    ran = Ticker(store, 60.0).tick(4)
    assert [one.job.id for one in ran] == [bad, exits, *ids[:2]]
    assert [one.accepted for one in ran] == [True] * 4
    assert (store.jobs.get(bad).status, store.jobs.get(exits).retry_count) == ("failed", 1)
    assert store.jobs.get(ids[2]).status == "pending"
    assert store.workers.list()[0].state == "stopped"
    assert len(Ticker(store, 60.0).tick(100, types=["stunt"])) >= 1


def test_a_tick_that_is_interrupted_gives_its_jobs_back(store: Store) -> None:
    job_id = enqueue(store, "interrupt")
    with pytest.raises(KeyboardInterrupt):
        Ticker(store, 60.0).tick(1)
    assert store.jobs.get(job_id).status == "pending"
    assert statuses(store, job_id) == ["snoozed"]
    assert store.workers.list()[0].state == "stopped"


def test_a_tick_finds_jobs_of_dead_workers(store: Store) -> None:
    job_id = enqueue(store, "nothing", "slow_to_retry", max_attempts=1)
    store.claim(ClaimRequest("gone", ("slow_to_retry",), lease_seconds=-1.0))
    assert Ticker(store, 60.0).tick(1) == []
    assert store.jobs.get(job_id).status == "failed"


def test_a_worker_that_only_drains_finds_jobs_of_dead_workers(
    new_worker: Callable[..., SteppedWorker], store: Store
) -> None:
    job_id = enqueue(store, "nothing")
    store.claim(ClaimRequest("gone", ("stunt",), lease_seconds=-1.0))
    worker = new_worker(until="drained", lease_seconds=3000.0)
    worker.until(lambda: worker.supervisor.finished, "the drain")
    assert store.jobs.get(job_id).status == "completed"
    assert statuses(store, job_id) == ["lost", "succeeded"]
