"""Leases, heartbeats, and the sweep that recovers lost jobs."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from gribmill.queue import process_identity
from gribmill.queue.model import NewJob
from gribmill.queue.process_identity import has_died, this_machine, this_process
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, attempts, claim, fail, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_heartbeat_renews_all_leases_of_its_worker_and_no_other(store: Store, clock: FakeClock) -> None:
    mine = [add(store), add(store)]
    theirs = add(store)
    take(store, "w1"), take(store, "w1"), take(store, "w2")
    clock.advance(LEASE / 2)
    held = store.workers.heartbeat("w1", LEASE, types=("plain",))
    assert sorted(one.ref.job_id for one in held) == mine
    assert not any(one.cancel_requested for one in held)
    clock.advance(LEASE / 2)
    assert store.maintenance.recover().requeued == (theirs,)


def test_heartbeat_shows_the_worker(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    take(store)
    store.workers.heartbeat("w1", LEASE, types=("plain", "tile"), state="draining")
    (worker,) = store.workers.list()
    assert (worker.id, worker.current_job_id, worker.running_count) == ("w1", job_id, 1)
    assert (worker.types, worker.state) == (("plain", "tile"), "draining")
    assert worker.last_heartbeat is not None
    assert worker.last_heartbeat.timestamp() == clock()
    store.workers.heartbeat("w2", LEASE)
    assert len(store.workers.list()) == 2


def test_heartbeat_of_a_fenced_worker_returns_no_jobs(store: Store, clock: FakeClock) -> None:
    add(store)
    take(store)
    clock.advance(LEASE)
    store.maintenance.recover()
    assert store.workers.heartbeat("w1", LEASE) == []
    clock.advance(100)
    again = take(store, "w2")
    assert store.workers.heartbeat("w1", LEASE) == []
    assert [held.ref for held in store.workers.heartbeat("w2", LEASE)] == [again.ref]


def test_late_heartbeat_before_the_sweep_still_saves_the_job(store: Store, clock: FakeClock) -> None:
    add(store)
    job = take(store)
    clock.advance(LEASE + 5)
    store.workers.heartbeat("w1", LEASE)
    assert len(store.maintenance.recover()) == 0
    assert succeed(store, job).accepted


def test_report_after_the_lease_but_before_the_sweep_counts(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    job = take(store)
    clock.advance(LEASE * 2)
    assert succeed(store, job).accepted
    assert len(store.maintenance.recover()) == 0
    assert attempts(store, job_id) == ["succeeded"]


def test_lost_attempt_costs_one_retry_and_names_the_silent_worker(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    take(store, "w7")
    clock.advance(LEASE)
    store.maintenance.recover()
    row = store.jobs.get(job_id)
    assert (row.status, row.retry_count, row.attempt_no) == ("pending", 1, 1)
    assert (row.worker_id, row.lease_expires_at) == (None, None)
    assert row.error_message == "the worker w7 went silent during attempt 1"
    assert row.next_run_at is not None
    assert row.next_run_at.timestamp() > clock()
    (attempt,) = store.jobs.history(job_id).attempts
    assert (attempt.status, attempt.error_text) == ("lost", row.error_message)


def test_type_that_must_not_run_twice_fails_when_lost(store: Store, clock: FakeClock) -> None:
    job_id = add(store, "fragile")
    take(store)
    clock.advance(LEASE)
    assert store.maintenance.recover().ended == (job_id,)
    row = store.jobs.get(job_id)
    assert (row.status, row.retry_count) == ("failed", 0)
    assert row.dead_lettered_at is not None


def test_ordinary_failure_of_a_type_that_must_not_run_twice_is_retried(store: Store) -> None:
    job_id = add(store, "fragile")
    fail(store, take(store))
    assert store.jobs.get(job_id).status == "pending"


def test_crash_on_the_last_attempt_is_a_dead_letter(store: Store, clock: FakeClock) -> None:
    job_id = add(store, max_attempts=1)
    take(store)
    clock.advance(LEASE)
    assert store.maintenance.recover().ended == (job_id,)
    assert store.jobs.get(job_id).dead_lettered_at is not None


def test_sweep_recovers_all_jobs_in_steps_of_five_hundred(store: Store, clock: FakeClock) -> None:
    store.jobs.enqueue_many(NewJob("tile", {"hour": 0, "region": str(n)}) for n in range(1100))
    while claim(store):
        pass
    clock.advance(LEASE)
    sizes = []
    while found := store.maintenance.recover():
        sizes.append(len(found))
    assert sizes == [500, 500, 100]


def test_two_sweepers_recover_each_job_once(store: Store, backend: BackendUnderTest, clock: FakeClock) -> None:
    job_id = add(store)
    take(store)
    clock.advance(LEASE)
    other = backend.open()
    assert len(store.maintenance.recover()) + len(other.maintenance.recover()) == 1
    assert store.jobs.get(job_id).retry_count == 1


# Clock jumps


def test_clock_set_forward_costs_attempts_but_no_job(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    zombie = take(store)
    clock.advance(3600)
    assert store.maintenance.recover().requeued == (job_id,)
    assert succeed(store, zombie).fenced
    clock.advance(60)
    succeed(store, take(store))
    assert attempts(store, job_id) == ["lost", "succeeded"]


def test_clock_set_back_keeps_the_job_of_a_live_worker(store: Store, clock: FakeClock) -> None:
    add(store)
    job = take(store)
    clock.advance(-3600)
    store.workers.heartbeat("w1", LEASE)
    assert len(store.maintenance.recover()) == 0
    assert succeed(store, job).accepted


@pytest.mark.parametrize("hours", [3, 24, 24 * 365])
def test_lease_from_before_the_clock_was_set_back_does_not_last_for_hours(
    store: Store, clock: FakeClock, hours: int
) -> None:
    job_id = add(store)
    take(store, "dead")
    clock.advance(-3600.0 * hours)
    assert store.maintenance.recover().requeued == (job_id,)


def test_clock_set_back_an_hour_delays_but_loses_nothing(store: Store, clock: FakeClock) -> None:
    job_id = add(store, delay_seconds=30)
    crashed = add(store)
    take(store, "dead")
    clock.advance(-3600)
    assert claim(store) == ()
    assert len(store.maintenance.recover()) == 0
    fresh = add(store)
    job = take(store)
    assert job.id == fresh
    succeed(store, job)
    clock.advance(3600 + LEASE)
    assert store.maintenance.recover().requeued == (crashed,)
    assert take(store).id == job_id


def test_worker_ids_differ_between_starts_of_the_same_process() -> None:
    assert new_worker_id() != new_worker_id()


def test_worker_row_shows_running_jobs_from_the_claim_on(store: Store) -> None:
    store.workers.heartbeat("w1", LEASE)

    def row() -> tuple[int | None, int]:
        (worker,) = store.workers.list()
        return worker.current_job_id, worker.running_count

    first, _ = add(store), add(store)
    one, two = take(store), take(store)
    assert row() == (first, 2)
    succeed(store, one)
    assert row() == (two.id, 1)
    succeed(store, two)
    assert row() == (None, 0)


def dead_process() -> dict[str, Any]:
    with subprocess.Popen(["true"]) as ended:
        pass
    return {**this_process(), "pid": ended.pid}


@pytest.mark.process
def test_jobs_of_a_dead_local_process_run_again_at_once(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    store.workers.heartbeat("dead", LEASE)
    store.workers.heartbeat("alive", LEASE)
    first, second = add(store), add(store)
    take(store, "dead")
    take(store, "alive")
    process = json.dumps(dead_process())
    backend.by_hand("UPDATE workers SET metadata = ? WHERE id = 'dead'", process)
    assert store.maintenance.recover_dead_processes().requeued == (first,)
    assert attempts(store, first) == ["lost"]
    assert store.jobs.get(first).retry_count == 1
    assert take(store, "alive").id == first
    assert store.jobs.get(second).status == "processing"
    assert store.verify() == []


@pytest.mark.parametrize("machine_id", ["one", None])
def test_local_process_is_recognised_as_alive_or_dead(machine_id: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers have no machine id: then a restart is indistinguishable from another machine."""
    machine = {name: value for name, value in this_machine().items() if name != "machine_id"}
    machine |= {} if machine_id is None else {"machine_id": machine_id}
    monkeypatch.setattr(process_identity, "this_machine", lambda: machine)
    here = {name: value for name, value in this_process().items() if name != "machine_id"} | machine
    assert not has_died(here)
    assert has_died({**here, "started": 1}), "the pid was given to another process"
    assert has_died({**here, "boot_id": "another"}) is (machine_id is not None), "the machine was started again"
    unknown: list[dict[str, Any]] = [
        {}, {**here, "machine_id": "another", "pid": 2**30}, {**here, "pid_namespace": "another", "pid": 2**30},
        {**here, "hostname": "another", "boot_id": "x"}, {**here, "pid": "x"},
    ]  # fmt: skip
    assert not any(has_died(process) for process in unknown)
